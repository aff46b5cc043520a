//! A decoder that does not come back cannot be stopped from here. It can be named.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A decoder that has been asked and has not answered.
#[derive(Clone, Debug)]
pub struct Stuck {
    /// Its name.
    pub decoder: &'static str,
    /// The case.
    pub bytes: Vec<u8>,
    /// How long ago it was asked.
    pub waited: Duration,
}

/// What one thread is asking, and since when.
#[derive(Default)]
struct Asked {
    since: Option<Instant>,
    decoder: &'static str,
    bytes: Vec<u8>,
}

type Slot = Arc<Mutex<Asked>>;

static WATCHING: AtomicBool = AtomicBool::new(false);
static THREADS: Mutex<Vec<Slot>> = Mutex::new(Vec::new());

thread_local! {
    static MINE: OnceCell<Slot> = const { OnceCell::new() };
}

/// Calls `tell` whenever a decoder has not answered for so long, in this process, on any case; more than once for one
/// that stays away. For programs: they are the ones that can end the process. Only the first call counts.
pub fn watch(patience: Duration, tell: fn(&Stuck)) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        WATCHING.store(true, Ordering::Relaxed);
        thread::spawn(move || {
            loop {
                thread::sleep(patience / 4);
                stuck(patience).iter().for_each(tell);
            }
        });
    });
}

fn stuck(patience: Duration) -> Vec<Stuck> {
    let threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let waiting = threads.iter().filter_map(|slot| {
        let asked = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = asked.since?.elapsed();
        (waited >= patience).then(|| Stuck { decoder: asked.decoder, bytes: asked.bytes.clone(), waited })
    });
    waiting.collect()
}

/// Runs `ask`, which puts a case to a decoder, where the watch can see it.
pub(super) fn watched<T>(decoder: &'static str, bytes: &[u8], ask: impl FnOnce() -> T) -> T {
    if !WATCHING.load(Ordering::Relaxed) {
        return ask();
    }
    note(|asked| {
        asked.since = Some(Instant::now());
        asked.decoder = decoder;
        asked.bytes.clear();
        asked.bytes.extend_from_slice(bytes);
    });
    let answer = ask();
    note(|asked| asked.since = None);
    answer
}

fn note(change: impl FnOnce(&mut Asked)) {
    MINE.with(|mine| {
        let slot = mine.get_or_init(|| {
            let slot = Slot::default();
            THREADS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&slot));
            slot
        });
        change(&mut slot.lock().unwrap_or_else(PoisonError::into_inner));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_come_back_is_named() {
        static TOLD: Mutex<Vec<Stuck>> = Mutex::new(Vec::new());
        watch(Duration::from_millis(40), |stuck| TOLD.lock().unwrap().push(stuck.clone()));
        watched("quick", b"a", || ());
        watched("slow", b"\xFF\xFE", || thread::sleep(Duration::from_millis(400)));
        let told = TOLD.lock().unwrap();
        assert!(told.iter().any(|stuck| stuck.decoder == "slow" && stuck.bytes == b"\xFF\xFE"), "{told:?}");
        assert!(told.iter().all(|stuck| stuck.decoder != "quick" && stuck.waited >= Duration::from_millis(40)));
    }
}
