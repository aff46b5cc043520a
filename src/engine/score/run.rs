//! Every engine against every planted decoder.

use crate::decoder::Decoder;
use crate::engine::score::embedded::Ended;
use crate::engine::score::libfuzzer::Engines;
use crate::engine::score::{Cell, Engine, Outcome, Row, Run, Score, embedded};
use crate::error::Error;
use crate::peers::planted;
use rayon::prelude::*;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The engines.
    pub engines: Vec<Engine>,
    /// The most time for one engine, decoder and seed.
    pub budget: Duration,
    /// How many seeds the random engines are run with: 1 to this.
    pub seeds: u64,
    /// How many runs at a time; each takes a core.
    pub jobs: usize,
    /// The root of the repository, for the fuzz targets.
    pub root: PathBuf,
}

/// One run to be made.
struct Job<'d> {
    row: usize,
    cell: usize,
    decoder: &'d dyn Decoder,
    engine: Engine,
    seed: u64,
}

/// Scores the engines on these decoders; those not planted are left out. `progress` is told the share that is done.
///
/// # Errors
/// The fuzz targets cannot be built.
pub fn run(decoders: &[&dyn Decoder], options: &Options, progress: &(dyn Fn(f64) + Sync)) -> Result<Score, Error> {
    let start = Instant::now();
    crate::judge::silence_panics();
    let targets = match options.engines.iter().any(|engine| engine.is_target()) {
        true => Some(Engines::build(&options.root)?),
        false => None,
    };
    let mut rows: Vec<Row> = Vec::new();
    let mut jobs = Vec::new();
    for &decoder in decoders {
        let Some((_, fault)) = planted::rows().find(|(name, _)| *name == decoder.info().name) else { continue };
        for (cell, &engine) in options.engines.iter().enumerate() {
            let seeds = if engine.draws() { 1..=options.seeds } else { 0..=0 };
            jobs.extend(seeds.map(|seed| Job { row: rows.len(), cell, decoder, engine, seed }));
        }
        let cells = options.engines.iter().map(|&engine| Cell { engine, runs: Vec::new() }).collect();
        rows.push(Row {
            decoder: decoder.info().name.clone().into_owned(),
            id: fault.id.into(),
            fault: fault.fault.into(),
            citation: fault.citation.into(),
            signs: fault.expected_signatures.iter().map(|sign| (*sign).into()).collect(),
            cells,
        });
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build().map_err(Error::usage)?;
    let done = std::sync::atomic::AtomicUsize::new(0);
    let work = |job: &Job<'_>| {
        let ended = match &targets {
            Some(targets) if job.engine.is_target() => {
                targets.run(&job.decoder.info().name, job.engine, job.seed, options.budget)
            }
            _ => embedded::run(job.decoder, job.engine, job.seed, options.budget),
        };
        let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        progress(done as f64 / jobs.len() as f64);
        run_of(&rows[job.row], job, ended)
    };
    let runs: Vec<Run> = pool.install(|| jobs.par_iter().with_max_len(1).map(work).collect());
    for (job, run) in jobs.iter().zip(runs) {
        rows[job.row].cells[job.cell].runs.push(run);
    }
    Ok(Score {
        schema: 1,
        version: env!("CARGO_PKG_VERSION").into(),
        jobs: options.jobs,
        budget_seconds: options.budget.as_secs_f64(),
        seeds: (1..=options.seeds).collect(),
        seconds: start.elapsed().as_secs_f64(),
        engines: options.engines.clone(),
        rows,
    })
}

fn run_of(row: &Row, job: &Job<'_>, ended: Ended) -> Run {
    let outcome = match &ended.find {
        None => Outcome::Missed,
        Some(find) if find.is_implied_by(&row.signs) => Outcome::Caught,
        Some(_) => Outcome::WrongLaw,
    };
    Run {
        seed: job.engine.draws().then_some(job.seed),
        outcome,
        signature: ended.find.map(|find| find.to_string()),
        executions: ended.executions,
        seconds: ended.seconds,
    }
}
