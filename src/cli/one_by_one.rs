//! Asking many decoders, some of them in other processes, at the same time.

use crate::cli::output::Bar;
use crate::decoder::Decoder;
use crate::error::Error;
use rayon::ThreadPoolBuilder;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What `examine` returns for each decoder, in their order. Each decoder is examined on one thread, so it has one process,
/// which ends afterwards, and no more adapters run at a time than there are processors.
///
/// # Errors
/// A thread cannot be started.
pub(super) fn one_by_one<R: Send>(
    decoders: &[&dyn Decoder],
    examine: impl Fn(&dyn Decoder) -> R + Sync,
) -> Result<Vec<R>, Error> {
    let (bar, next) = (Bar::new(), AtomicUsize::new(0));
    let some = || {
        let mut results = Vec::new();
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some(decoder) = decoders.get(index)
        {
            bar.show("decoders", index as f64 / decoders.len() as f64);
            results.push((index, examine(*decoder)));
            if let Some(batched) = decoder.batched() {
                batched.stop();
            }
        }
        results
    };
    let threads = rayon::current_num_threads().min(decoders.len());
    let pools = (0..threads).map(|_| ThreadPoolBuilder::new().num_threads(1).build());
    let pools: Vec<_> = pools.collect::<Result<_, _>>().map_err(|error| {
        Error::parse(format!("cannot start a thread: {error}; set RAYON_NUM_THREADS to a lower number"))
    })?;
    let mut results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = pools.iter().map(|pool| scope.spawn(|| pool.install(some))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    bar.finish();
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
