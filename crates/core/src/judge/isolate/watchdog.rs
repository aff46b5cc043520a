//! Which question each thread is asking, so that whatever happens in the meantime can be attributed to a decoder; and
//! reports of decoders that hang. Such decoders cannot be stopped from inside the process, but they can be identified.

use std::cell::{Cell, OnceCell};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, compiler_fence};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A question: the name of the decoder, and the input. Both exist while it is asked.
#[derive(Clone, Copy)]
#[cfg_attr(not(all(unix, feature = "check")), allow(dead_code, reason = "only the handlers of crashes read it"))]
pub(super) struct Asked {
    pub(super) decoder: *const str,
    pub(super) bytes: *const [u8],
}

thread_local! {
    /// What is being asked on this thread.
    static ASKED: Cell<Option<Asked>> = const { Cell::new(None) };
}

/// What this thread is asking. This allocates nothing and locks nothing, so a signal handler may call it.
pub(super) fn current() -> Option<Asked> {
    ASKED.try_with(Cell::get).ok().flatten()
}

/// Runs `ask`, which must not panic, as this question.
pub(super) fn asking<T>(decoder: &str, bytes: &[u8], ask: impl FnOnce() -> T) -> T {
    let before = ASKED.replace(Some(Asked { decoder, bytes }));
    // A signal handler on this thread reads it.
    compiler_fence(Ordering::SeqCst);
    let answer = ask();
    compiler_fence(Ordering::SeqCst);
    ASKED.set(before);
    answer
}

/// A decoder that has not answered within the timeout.
#[derive(Clone, Debug)]
pub struct Timeout {
    /// Its name.
    pub decoder: String,
    /// The input it was given.
    pub bytes: Vec<u8>,
    /// The minimum time it has been running.
    pub waited: Duration,
}

/// The question that one thread is asking. Each has a cache line of its own, because its thread writes to it at every
/// question.
#[derive(Default)]
#[repr(align(128))]
struct Watched {
    /// Incremented when a decoder is asked and again when it has answered, so it is odd in between.
    epoch: AtomicU64,
    what: Mutex<(String, Vec<u8>)>,
}

static WATCHING: AtomicBool = AtomicBool::new(false);
static THREADS: Mutex<Vec<Arc<Watched>>> = Mutex::new(Vec::new());

thread_local! {
    static MINE: OnceCell<Arc<Watched>> = const { OnceCell::new() };
}

/// Calls `on_timeout` whenever a decoder has not answered a [`Judge`](crate::judge::Judge) of this process within
/// `timeout`, repeatedly while it does not. Only the first call has an effect. For programs, not libraries, since
/// `on_timeout` may end the process.
pub fn watch(timeout: Duration, on_timeout: fn(&Timeout)) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        WATCHING.store(true, Ordering::Relaxed);
        thread::spawn(move || {
            // The epoch of each thread, and when it was first seen.
            let mut seen: Vec<(u64, Instant)> = Vec::new();
            loop {
                thread::sleep(timeout / 4);
                timeouts(timeout, &mut seen).iter().for_each(on_timeout);
            }
        });
    });
}

fn timeouts(timeout: Duration, seen: &mut Vec<(u64, Instant)>) -> Vec<Timeout> {
    let threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found = Vec::new();
    for (index, asked) in threads.iter().enumerate() {
        let epoch = asked.epoch.load(Ordering::Acquire);
        match seen.get_mut(index) {
            None => seen.push((epoch, Instant::now())),
            Some(last) if last.0 != epoch => *last = (epoch, Instant::now()),
            Some((_, since)) if epoch % 2 == 1 && since.elapsed() >= timeout => {
                let what = asked.what.lock().unwrap_or_else(PoisonError::into_inner);
                // It may just have answered, and another decoder may have been asked.
                if asked.epoch.load(Ordering::Acquire) != epoch {
                    continue;
                }
                found.push(Timeout { decoder: what.0.clone(), bytes: what.1.clone(), waited: since.elapsed() });
            }
            Some(_) => {}
        }
    }
    found
}

/// Runs `ask`, which calls a decoder with `bytes`, under the watchdog.
pub(super) fn watched<T>(decoder: &str, bytes: &[u8], ask: impl FnOnce() -> T) -> T {
    if !WATCHING.load(Ordering::Relaxed) {
        return ask();
    }
    MINE.with(|mine| {
        let asked = mine.get_or_init(|| {
            let asked = Arc::<Watched>::default();
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
        let epoch = asked.epoch.load(Ordering::Relaxed);
        asked.epoch.store(epoch + 1, Ordering::Release);
        let answer = ask();
        asked.epoch.store(epoch + 2, Ordering::Release);
        answer
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoder_that_hangs_is_reported() {
        static REPORTED: Mutex<Vec<Timeout>> = Mutex::new(Vec::new());
        watch(Duration::from_millis(20), |timeout| REPORTED.lock().unwrap().push(timeout.clone()));
        watched("quick", b"a", || ());
        watched("slow", b"\xFF\xFE", || thread::sleep(Duration::from_millis(200)));
        let mut reported = REPORTED.lock().unwrap();
        // Other tests ask too.
        reported.retain(|timeout| ["quick", "slow"].contains(&&*timeout.decoder));
        assert!(
            reported.iter().all(|timeout| timeout.decoder == "slow" && timeout.bytes == b"\xFF\xFE"),
            "{reported:?}"
        );
        assert!(reported.iter().all(|timeout| timeout.waited >= Duration::from_millis(20)), "{reported:?}");
        // The watchdog looks every 5 ms, so on an idle machine there would be about 36.
        assert!(reported.len() >= 6, "{reported:?}");
    }

    #[test]
    fn a_question_is_reported_if_it_is_still_asked_when_the_time_is_up() {
        WATCHING.store(true, Ordering::Relaxed);
        let late = |seen: &mut Vec<(u64, Instant)>, names: &[&str]| {
            let late = timeouts(Duration::ZERO, seen).into_iter().map(|timeout| timeout.decoder);
            late.filter(|late| names.contains(&&**late)).collect::<Vec<_>>()
        };
        let names = ["first", "second", "third"];
        let mut seen = Vec::new();
        for name in names {
            watched(name, b"bytes", || {
                assert!(late(&mut seen, &names).is_empty(), "it has just been asked");
                assert_eq!(late(&mut seen, &names), [name]);
            });
            assert!(late(&mut seen, &names).is_empty() && late(&mut seen, &names).is_empty(), "it has answered");
        }
        // Each is looked at once, so none is taken for the one before it.
        let mut seen = Vec::new();
        for name in names {
            watched(name, b"bytes", || assert!(late(&mut seen, &names).is_empty(), "{name}"));
        }
    }
}
