//! Asking many decoders, some of them in other processes, at the same time.

use crate::cli::output::{Bar, note};
use crate::decoder::{Decoder, Info};
use crate::error::Error;
use crate::text::printable;
use rayon::ThreadPoolBuilder;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

/// What `examine` returns for each decoder, in order, until `stop` is set. `done` is called with each result, in the same
/// order, as soon as all results before it are there. A note says how fast a decoder in another process answered. Each
/// decoder is examined on one thread, so it has one process, which ends afterwards, and no more adapters run at a time
/// than there are processors.
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
            let start = Instant::now();
            let result = examine(*decoder);
            if let Some(batched) = decoder.batched() {
                let Info { name, version, .. } = decoder.info();
                let seconds = start.elapsed().as_secs_f64();
                note(&format!("{name} {}: {}; {seconds:.2} s in all", printable(version), batched.summary()));
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
