//! Measures `codec::parallel` on one and on two threads: `parallel [MIB [ROUNDS]]`, by default 1024 MiB and seven rounds.
//!
//! UTF-8 is converted to UTF-16, into new memory and into memory that was used before. The limit is a loop that only reads as
//! many bytes and writes as many units, and on several threads reads all but the last thread's share once more, since the place
//! of a unit depends on all bytes before it: if two threads gain little there, they wait for memory. All run in turns, and
//! medians are printed: of the time, and on Linux of the processor time, since on a busy machine the second thread may
//! have no processor to itself.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::hint::black_box;
use std::time::Instant;
use utfuzz::bench::{SCRIPTS, Script};
use utfuzz::codec::{Kernel, parallel};

const SUBJECTS: [&str; 4] = ["limit, new memory", "UTF-16, new memory", "limit, used memory", "UTF-16, used memory"];

fn main() {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse().expect("a number"));
    let len = numbers.next().unwrap_or(1024) << 20;
    let rounds = numbers.next().unwrap_or(7);
    println!("{:32}seconds: one, two threads, ratio    of processors: one, two", "");
    for name in ["ascii", "cyrillic", "chinese"] {
        measure(SCRIPTS.iter().find(|script| script.name == name).expect("a script"), len, rounds);
    }
}

fn measure(script: &Script, len: usize, rounds: usize) {
    let block = script.text(1 << 20, 0);
    let text = block.repeat(len.div_ceil(block.len()));
    let count = Kernel::best().utf16_len(str::from_utf8(&text).expect("text"));
    let pools = [1, 2].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().expect("threads"));
    let mut used = vec![1; count];
    // For each subject the samples on one thread and on two.
    let mut samples: [[Vec<[f64; 2]>; 2]; SUBJECTS.len()] = Default::default();
    for round in 0..=rounds {
        for (threads, pool) in pools.iter().enumerate() {
            for (subject, samples) in samples.iter_mut().enumerate() {
                let is_limit = subject % 2 == 0;
                // Memory that the system gives as zeros is new.
                let mut new = vec![0; if subject == 0 { count } else { 0 }];
                let units = if subject < 2 { &mut new } else { &mut used };
                let time = time(pool, || {
                    if is_limit {
                        return limit(&text, &mut units[..count]);
                    }
                    units.clear();
                    parallel::utf16_lossy_into(&text, units);
                });
                assert!(is_limit || units.len() == count, "as many units as there are");
                // The first round warms up.
                if round > 0 {
                    samples[threads].push(time);
                }
            }
        }
    }
    for (subject, samples) in SUBJECTS.iter().zip(samples) {
        let [one, two] = samples.map(|samples| [0, 1].map(|which| median(samples.iter().map(|sample| sample[which]))));
        let ([one, one_worked], [two, two_worked]) = (one, two);
        let worked = format!("{one_worked:22.3}{two_worked:8.3}");
        println!("{:10}{subject:22}{one:14.3}{two:8.3}{:9.2}{worked}", script.name, one / two);
    }
}

/// Seconds, and seconds for which processors worked.
fn time(pool: &ThreadPool, work: impl FnOnce() + Send) -> [f64; 2] {
    let (start, before) = (Instant::now(), worked());
    pool.install(work);
    [start.elapsed().as_secs_f64(), worked() - before]
}

/// Seconds for which all threads of this process together have worked.
fn worked() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let times = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok());
    let nanoseconds = times.filter_map(|line| line.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.sum::<f64>() / 1e9
}

fn median(samples: impl Iterator<Item = f64>) -> f64 {
    let mut samples: Vec<f64> = samples.collect();
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// Reads all shares but the last, then reads the bytes and writes the units, each thread its share, a few KiB of both in turns.
fn limit(bytes: &[u8], units: &mut [u16]) {
    let threads = rayon::current_num_threads();
    let counted = &bytes[..bytes.len() / threads * (threads - 1)];
    rayon::scope(|scope| {
        for bytes in counted.chunks(counted.len().div_ceil(threads).max(1)) {
            scope.spawn(|_| read(bytes));
        }
    });
    rayon::scope(|scope| {
        let shares = bytes.chunks(bytes.len().div_ceil(threads)).zip(units.chunks_mut(units.len().div_ceil(threads)));
        for (bytes, units) in shares {
            scope.spawn(|_| {
                const STEP: usize = 1 << 14;
                let step = (units.len() * STEP / bytes.len()).max(1);
                for (bytes, units) in bytes.chunks(STEP).zip(units.chunks_mut(step)) {
                    read(bytes);
                    units.fill(0x20);
                }
                black_box(units);
            });
        }
    });
}

fn read(bytes: &[u8]) {
    black_box(bytes.as_chunks().0.iter().fold(0, |all, &word| all | u64::from_ne_bytes(word)));
}
