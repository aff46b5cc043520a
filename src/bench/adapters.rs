//! What an operation of an adapter costs, in batches of several sizes.

use crate::peers::foreign::Foreign;
use crate::peers::foreign::process::{Process, Trouble};
use crate::peers::foreign::protocol::{Batch, Operation};
use serde::Serialize;
use std::time::{Duration, Instant};

/// The numbers of operations in a batch.
pub const BATCHES: [usize; 4] = [1, 16, 256, 4096];

/// What an operation of one entry point costs.
#[derive(Clone, Debug, Serialize)]
pub struct AdapterCost {
    /// The name of the entry point.
    pub name: String,
    /// The costs in batches of each size.
    pub batches: Vec<BatchCost>,
    /// Why there are none.
    pub trouble: Option<String>,
}

/// What an operation costs in batches of one size.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BatchCost {
    /// The number of operations.
    pub operations: usize,
    /// Nanoseconds for one operation, from request to reply: the median of the batches. None if smaller batches took so
    /// long that there is no time for these.
    pub nanoseconds: Option<f64>,
}

/// Measures an entry point on inputs of 1 to 6 bytes, well-formed and not, for about `time` for each size of batches.
pub fn measure(decoder: &Foreign, time: Duration) -> AdapterCost {
    let name = decoder.entry().name.clone();
    match costs(decoder, time) {
        Ok(batches) => AdapterCost { name, batches, trouble: None },
        Err(trouble) => AdapterCost { name, batches: Vec::new(), trouble: Some(trouble.what) },
    }
}

fn costs(decoder: &Foreign, time: Duration) -> Result<Vec<BatchCost>, Trouble> {
    let program = decoder.program();
    let (mut process, _) = Process::start(program, Some(&decoder.entry().name))?;
    let mut each = Duration::ZERO;
    let mut costs = Vec::new();
    for operations in BATCHES {
        let batch = of_short_inputs(operations);
        let mut samples = Vec::new();
        let is_affordable = each * operations as u32 / 4 < time;
        let start = Instant::now();
        // The first batch warms up.
        while is_affordable && (samples.len() < 3 || start.elapsed() < time) {
            let start = Instant::now();
            process.ask(&batch, program.timeout)?;
            samples.push(start.elapsed().as_nanos() as f64 / operations as f64);
        }
        if is_affordable {
            samples.remove(0);
            samples.sort_by(f64::total_cmp);
        }
        let nanoseconds = samples.get(samples.len() / 2).copied();
        each = nanoseconds.map_or(each, |nanoseconds| Duration::from_nanos(nanoseconds as u64));
        costs.push(BatchCost { operations, nanoseconds });
    }
    Ok(costs)
}

/// Inputs of 1 to 6 bytes: text and what is ill-formed, as a check asks them.
fn of_short_inputs(count: usize) -> Batch {
    let inputs: [&[u8]; 12] = [
        b"a",
        b"\xFF",
        b"ab",
        b"\xC3\xA9",
        b"\xE2\x82\xAC",
        b"a\x80b",
        b"\xF0\x9F\x98\x80",
        b"ab\xC0\xAF",
        b"a\xE2\x82\xACb",
        b"\xED\xA0\x80ab",
        b"abcdef",
        b"\xE2\x82\xAC\xE2\x82\xAC",
    ];
    let mut batch = Batch::default();
    inputs.iter().cycle().take(count).for_each(|input| batch.push(Operation::Decode, input));
    batch
}
