//! Asking many decoders, some of them in other processes, at the same time.

use crate::cli::output::Bar;
use crate::decoder::Decoder;
use crate::error::Error;
use rayon::ThreadPoolBuilder;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// What `examine` returns for each decoder, in their order; until `stop` is set. `done` has each of them in the same order,
/// as soon as all before it are there. Each decoder is examined on one thread, so it has one process, which ends
/// afterwards, and no more adapters run at a time than there are processors.
///
/// # Errors
/// A thread cannot be started.
pub(super) fn one_by_one<R: Send>(
    decoders: &[&dyn Decoder],
    stop: &AtomicBool,
    examine: impl Fn(&dyn Decoder) -> R + Sync,
    mut done: impl FnMut(&R),
) -> Result<Vec<R>, Error> {
    let (bar, next) = (Bar::new(), AtomicUsize::new(0));
    let (sender, results) = mpsc::channel();
    let some = |sender: mpsc::Sender<(usize, R)>| {
        while !stop.load(Ordering::Relaxed)
            && let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some(decoder) = decoders.get(index)
        {
            bar.show("decoders", index as f64 / decoders.len() as f64);
            let result = examine(*decoder);
            if let Some(batched) = decoder.batched() {
                batched.stop();
            }
            // The receiver is there until all senders are gone.
            let _ = sender.send((index, result));
        }
    };
    let threads = rayon::current_num_threads().min(decoders.len());
    let pools = (0..threads).map(|_| ThreadPoolBuilder::new().num_threads(1).build());
    let pools: Vec<_> = pools.collect::<Result<_, _>>().map_err(|error| {
        Error::parse(format!("cannot start a thread: {error}; set RAYON_NUM_THREADS to a lower number"))
    })?;
    let mut all: Vec<Option<R>> = decoders.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for pool in &pools {
            let sender = sender.clone();
            scope.spawn(|| pool.install(|| some(sender)));
        }
        drop(sender);
        let mut first = 0;
        for (index, result) in results {
            all[index] = Some(result);
            while let Some(Some(result)) = all.get(first) {
                done(result);
                first += 1;
            }
        }
    });
    bar.finish();
    Ok(all.into_iter().flatten().collect())
}
