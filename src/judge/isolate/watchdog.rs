//! A decoder that does not come back cannot be stopped from here. It can be named.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A decoder that has been asked and has not answered.
#[derive(Clone, Debug)]
pub struct Stuck {
    /// Its name.
    pub decoder: String,
    /// The case.
    pub bytes: Vec<u8>,
    /// How long ago it was asked, at least.
    pub waited: Duration,
}

/// What one thread is asking; in a cache line of its own, for every thread writes to its own all the time.
#[derive(Default)]
#[repr(align(128))]
struct Asked {
    /// Goes up when a decoder is asked and when it has answered, so it is odd in between.
    turn: AtomicU64,
    what: Mutex<(String, Vec<u8>)>,
}

static WATCHING: AtomicBool = AtomicBool::new(false);
static THREADS: Mutex<Vec<Arc<Asked>>> = Mutex::new(Vec::new());

thread_local! {
    static MINE: OnceCell<Arc<Asked>> = const { OnceCell::new() };
}

/// Calls `tell` whenever a decoder has not answered a [`Judge`](crate::judge::Judge) for so long, in this process; more than once for one
/// that stays away. For programs: they are the ones that can end the process. Only the first call counts.
pub fn watch(patience: Duration, tell: fn(&Stuck)) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        WATCHING.store(true, Ordering::Relaxed);
        thread::spawn(move || {
            // For each thread its turn, and when that was first seen.
            let mut seen: Vec<(u64, Instant)> = Vec::new();
            loop {
                thread::sleep(patience / 4);
                stuck(patience, &mut seen).iter().for_each(tell);
            }
        });
    });
}

fn stuck(patience: Duration, seen: &mut Vec<(u64, Instant)>) -> Vec<Stuck> {
    let threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found = Vec::new();
    for (index, asked) in threads.iter().enumerate() {
        let turn = asked.turn.load(Ordering::Acquire);
        match seen.get_mut(index) {
            None => seen.push((turn, Instant::now())),
            Some(last) if last.0 != turn => *last = (turn, Instant::now()),
            Some((_, since)) if turn % 2 == 1 && since.elapsed() >= patience => {
                let what = asked.what.lock().unwrap_or_else(PoisonError::into_inner);
                // It may have come back just now, and another be asked.
                if asked.turn.load(Ordering::Acquire) != turn {
                    continue;
                }
                found.push(Stuck { decoder: what.0.clone(), bytes: what.1.clone(), waited: since.elapsed() });
            }
            Some(_) => {}
        }
    }
    found
}

/// Runs `ask`, which puts a case to a decoder, where the watch can see it.
pub(crate) fn watched<T>(decoder: &str, bytes: &[u8], ask: impl FnOnce() -> T) -> T {
    if !WATCHING.load(Ordering::Relaxed) {
        return ask();
    }
    MINE.with(|mine| {
        let asked = mine.get_or_init(|| {
            let asked = Arc::<Asked>::default();
            THREADS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&asked));
            asked
        });
        {
            let mut what = asked.what.lock().unwrap_or_else(PoisonError::into_inner);
            what.0.clear();
            what.0.push_str(decoder);
            what.1.clear();
            what.1.extend_from_slice(bytes);
        }
        let turn = asked.turn.load(Ordering::Relaxed);
        asked.turn.store(turn + 1, Ordering::Release);
        let answer = ask();
        asked.turn.store(turn + 2, Ordering::Release);
        answer
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_come_back_is_named() {
        static TOLD: Mutex<Vec<Stuck>> = Mutex::new(Vec::new());
        watch(Duration::from_millis(40), |stuck| TOLD.lock().unwrap().push(stuck.clone()));
        watched("quick", b"a", || ());
        watched("slow", b"\xFF\xFE", || thread::sleep(Duration::from_millis(800)));
        let told = TOLD.lock().unwrap();
        assert!(told.iter().any(|stuck| stuck.decoder == "slow" && stuck.bytes == b"\xFF\xFE"), "{told:?}");
        assert!(told.iter().all(|stuck| stuck.decoder != "quick" && stuck.waited >= Duration::from_millis(40)));
    }
}
