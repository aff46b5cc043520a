//! Process-wide state that keeps the harness alive when a decoder misbehaves: panics are caught, hangs are reported,
//! and accesses outside the input are detected. The rest of the judge has no global state.

#[cfg(all(target_os = "linux", feature = "guard-pages"))]
pub mod guard_pages;
pub(crate) mod watchdog;

pub use watchdog::{Timeout, watch};

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether a decoder is being asked on this thread.
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `ask`. True if it panicked.
pub(crate) fn panics(ask: impl FnOnce()) -> bool {
    let before = ASKING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(ask));
    ASKING.set(before);
    result.is_err()
}

/// Installs a panic hook, once for the whole process, that prints nothing when a decoder under judgement panics: that
/// is reported as a broken law. Other panics go to the previous hook. For programs, not libraries.
pub fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if !ASKING.get() {
                others(panic);
            }
        }));
    });
}
