//! Which question each thread is asking, so that whatever happens in between can be attributed to a decoder.

use std::cell::Cell;
use std::sync::atomic::{Ordering, compiler_fence};

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
