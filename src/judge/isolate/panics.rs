//! A decoder that panics is an observation, not the end of the judge.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `ask`. True where it panicked.
pub(crate) fn panics(ask: impl FnOnce()) -> bool {
    let before = ASKING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(ask));
    ASKING.set(before);
    result.is_err()
}

/// Says nothing on standard error of panics of decoders under judgement, which are reported as broken laws. Other
/// panics go to the hook there was. For programs: the hook is one for the whole process.
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
