//! Process-wide state that keeps the harness alive when a decoder misbehaves: panics are caught, hangs and crashes are
//! reported, and accesses outside the input are detected (`guard_pages`). The rest of the judge has no global state.
//!
//! What ends the process, and not only the thread, cannot be caught: `Child` runs a decoder in a process of its own.

#[cfg(all(unix, feature = "check"))]
mod child;
#[cfg(all(target_os = "linux", feature = "guard-pages"))]
pub mod guard_pages;
mod watchdog;

#[cfg(all(unix, feature = "check"))]
pub(crate) use child::keep_finding;
#[cfg(all(unix, feature = "check"))]
pub use child::{Child, Crash, Ended, ExitGuard, exit, is_child, name_crashes, note_questions};
pub use watchdog::{Timeout, watch};

use crate::decoder::{Ending, NoAnswer};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use watchdog::{asking, current, watched};

/// Runs `ask`, which calls a decoder with `bytes`. True if it panicked.
pub fn panics(decoder: &str, bytes: &[u8], ask: impl FnOnce()) -> bool {
    panicked(decoder, bytes, ask).is_some()
}

/// Like [`panics`]. If it panicked and the decoder runs in another process, how that process ended.
pub(crate) fn panicked(decoder: &str, bytes: &[u8], ask: impl FnOnce()) -> Option<Option<Ending>> {
    #[cfg(all(unix, feature = "check"))]
    let _note = child::note(decoder, bytes);
    let panicked = || {
        let payload = catch_unwind(AssertUnwindSafe(ask)).err()?;
        let ending = payload.downcast_ref().and_then(|thrown: &NoAnswer| thrown.ending);
        // The destructor of what was thrown is also code of the decoder.
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            core::mem::forget(again);
        }
        Some(ending)
    };
    asking(decoder, bytes, || watched(decoder, bytes, panicked))
}

/// The name of the decoder that this thread is asking, and the input.
#[cfg(feature = "fuzz")]
#[allow(unsafe_code, reason = "a question is noted as pointers")]
pub fn asked() -> Option<(String, Vec<u8>)> {
    let asked = current()?;
    // SAFETY: this thread is asking, so it is inside the call of `asking` that noted both pointers, and what they point
    // to was borrowed for that call.
    let (decoder, bytes) = unsafe { (&*asked.decoder, &*asked.bytes) };
    Some((decoder.to_owned(), bytes.to_vec()))
}

/// Installs a panic hook, once for the whole process, that prints nothing when a decoder under judgement panics: that
/// is reported as a broken law. Other panics go to the previous hook. For programs, not libraries.
pub fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if current().is_none() {
                others(panic);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any(Bomb);
        }
    }

    #[test]
    fn a_panic_is_caught_whatever_it_throws() {
        silence_panics();
        assert!(!panics("d", b"", || ()));
        assert!(panics("d", b"", || panic!("as usual")));
        assert!(panics("d", b"", || std::panic::panic_any(Bomb)));
        assert!(panics("d", b"", || drop(Bomb)));
        assert!(current().is_none());
    }

    #[test]
    #[cfg(feature = "fuzz")]
    fn a_question_is_known_while_it_is_asked() {
        assert_eq!(asked(), None);
        asking("d", b"bytes", || assert_eq!(asked(), Some(("d".to_owned(), b"bytes".to_vec()))));
        assert_eq!(asked(), None);
    }
}
