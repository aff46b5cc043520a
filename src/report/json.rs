//! The report for programs: one object.
//!
//! `schema` (1), `decoders[]`, `cases`, `comparisons`, `seconds`, `stages[] {name, cases, seconds}`,
//! `divergences[] {signature, law, decoder, subject, shape, hits, witness_hex, cuts[]}`,
//! `known[] {id, decoder, hits}`, `stale[]`, `silent[]`.

use crate::report::{Exporter, Report};
use serde::Serialize;
use std::io::{self, Write};

/// One JSON object, and a line feed.
pub struct Json;

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    decoders: Vec<Named<'a>>,
    cases: u64,
    comparisons: u64,
    seconds: f64,
    stages: Vec<Stage>,
    divergences: Vec<Divergence<'a>>,
    known: Vec<Known<'a>>,
    stale: &'a [String],
    silent: Vec<&'a str>,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    version: &'a str,
    contract: String,
    comparisons: u64,
}

#[derive(Serialize)]
struct Stage {
    name: &'static str,
    cases: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct Divergence<'a> {
    signature: String,
    law: &'static str,
    decoder: &'a str,
    subject: &'static str,
    shape: String,
    hits: u64,
    witness_hex: String,
    cuts: &'a [usize],
}

#[derive(Serialize)]
struct Known<'a> {
    id: &'a str,
    decoder: &'a str,
    hits: u64,
}

impl Exporter for Json {
    fn export(&self, report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
        let outcome = report.outcome;
        let comparisons = &outcome.statistics.comparisons;
        let object = Object {
            schema: 1,
            decoders: report
                .decoders
                .iter()
                .enumerate()
                .map(|(index, decoder)| Named {
                    name: &decoder.info().name,
                    version: &decoder.info().version,
                    contract: decoder.info().contract.to_string(),
                    comparisons: comparisons.get(index).map_or(0, |(_, count)| *count),
                })
                .collect(),
            cases: outcome.statistics.cases,
            comparisons: outcome.statistics.total_comparisons(),
            seconds: report.seconds,
            stages: outcome
                .stages
                .iter()
                .map(|&(stage, cases, seconds)| Stage { name: stage.name(), cases, seconds })
                .collect(),
            divergences: outcome
                .divergences
                .iter()
                .map(|(signature, found)| Divergence {
                    signature: signature.to_string(),
                    law: signature.law.name(),
                    decoder: &signature.decoder,
                    subject: signature.subject.name(),
                    shape: signature.shape.to_string(),
                    hits: found.hits,
                    witness_hex: found.divergence.bytes.iter().map(|byte| format!("{byte:02X}")).collect(),
                    cuts: &found.divergence.cuts,
                })
                .collect(),
            known: outcome
                .known
                .iter()
                .map(|(index, hits)| {
                    let entry = &report.ledger.entries()[*index];
                    Known { id: &entry.id, decoder: &entry.decoder, hits: *hits }
                })
                .collect(),
            stale: &outcome.stale,
            silent: outcome.statistics.silent().collect(),
        };
        serde_json::to_writer(&mut *out, &object)?;
        writeln!(out)
    }
}
