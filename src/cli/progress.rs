//! Progress on standard error: a bar on a terminal, otherwise a line every ten seconds.

use crate::cli::terminal::is_quiet;
use crate::judge::isolate::is_child;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the bar is drawn, and how often a line is written.
const DRAWN: Duration = Duration::from_millis(200);
const WRITTEN: Duration = Duration::from_secs(10);

/// Progress on standard error, until it is dropped.
pub(super) struct Bar {
    state: Arc<Mutex<State>>,
    bar: Option<ProgressBar>,
    /// Ends the thread that shows the state when dropped.
    _shown: Option<Sender<()>>,
}

#[derive(Clone)]
struct State {
    stage: &'static str,
    share: f64,
    began: Instant,
    /// When the stage began, and how many cases there had been.
    entered: (Instant, u64),
    cases: Option<Arc<AtomicU64>>,
}

impl Bar {
    const STEPS: u64 = 1000;

    pub(super) fn new() -> Self {
        Self::with(None)
    }

    /// Shows the rate at which this number grows, too.
    pub(super) fn counting(cases: Arc<AtomicU64>) -> Self {
        Self::with(Some(cases))
    }

    fn with(cases: Option<Arc<AtomicU64>>) -> Self {
        let now = Instant::now();
        let state = State { stage: "", share: 0.0, began: now, entered: (now, 0), cases };
        let state = Arc::new(Mutex::new(state));
        if is_quiet() || is_child().is_some() {
            return Self { state, bar: None, _shown: None };
        }
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(Self::STEPS);
            let style = ProgressStyle::with_template("{prefix:15} {wide_bar} {msg}");
            if let Ok(style) = style { bar.with_style(style) } else { bar }
        });
        let (shown, ended) = mpsc::channel();
        let (seen, drawn) = (Arc::clone(&state), bar.clone());
        std::thread::spawn(move || {
            let period = if drawn.is_some() { DRAWN } else { WRITTEN };
            while ended.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
                let state = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
                match &drawn {
                    Some(bar) => {
                        bar.set_prefix(state.stage);
                        bar.set_message(state.says(Instant::now()));
                        bar.set_position((state.share * Self::STEPS as f64) as u64);
                    }
                    None => {
                        let _ = writeln!(io::stderr(), "{}: {}", state.stage, state.says(Instant::now()));
                    }
                }
            }
        });
        Self { state, bar, _shown: Some(shown) }
    }

    pub(super) fn show(&self, stage: &'static str, share: f64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stage != stage {
            state.entered = (Instant::now(), state.count());
            state.stage = stage;
        }
        state.share = share;
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

impl State {
    fn count(&self) -> u64 {
        self.cases.as_ref().map_or(0, |cases| cases.load(Ordering::Relaxed))
    }

    /// The share of the stage that is done, its rate, the time since the start, and the time left in the stage.
    fn says(&self, now: Instant) -> String {
        let spent = (now - self.entered.0).as_secs_f64();
        let mut text = format!("{:3.0} %", self.share * 100.0);
        let cases = self.count() - self.entered.1.min(self.count());
        if cases > 0 && spent > 0.0 {
            text += &format!(", {:.0} cases/s", cases as f64 / spent);
        }
        text += &format!(", {} elapsed", clock((now - self.began).as_secs_f64()));
        // Earlier it would be a guess.
        if self.share >= 0.02 {
            text += &format!(", {} left", clock(spent / self.share * (1.0 - self.share)));
        }
        text
    }
}

/// Seconds as minutes and seconds.
fn clock(seconds: f64) -> String {
    let seconds = seconds as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_says_share_rate_elapsed_and_remaining_time() {
        let began = Instant::now();
        let entered = (began + Duration::from_secs(60), 1000);
        let cases = Some(Arc::new(AtomicU64::new(21_000)));
        let state = State { stage: "class strings", share: 0.25, began, entered, cases };
        let now = began + Duration::from_secs(80);
        assert_eq!(state.says(now), " 25 %, 1000 cases/s, 1:20 elapsed, 1:00 left");
        let start = State { share: 0.0, cases: None, entered: (began, 0), ..state };
        assert_eq!(start.says(now), "  0 %, 1:20 elapsed");
    }
}
