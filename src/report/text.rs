//! The report for a terminal.

use crate::report::{Exporter, Report};
use std::io::{self, Write};

/// Each new divergence in full, then the known ones, then what was covered.
pub struct Text;

impl Exporter for Text {
    fn export(&self, report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
        let outcome = report.outcome;
        for found in outcome.divergences.values() {
            writeln!(out, "{}seen {} times\n\n{}\n", found.divergence, found.hits, "-".repeat(72))?;
        }
        agreement(report, out)?;
        for (index, hits) in &outcome.known {
            let entry = &report.ledger.entries()[*index];
            writeln!(out, "known: {}, {hits} hits", entry.id)?;
        }
        for id in &outcome.stale {
            writeln!(out, "STALE: ledger entry {id} matches nothing; remove it, or find out why")?;
        }
        for name in outcome.statistics.silent() {
            writeln!(out, "SILENT: {name} answered nothing, so nothing is known of it")?;
        }
        for (stage, cases, seconds) in &outcome.stages {
            writeln!(out, "{:<14} {cases:>10} cases in {seconds:.1} s", stage.name())?;
        }
        writeln!(out, "{}", outcome.statistics.shares())?;
        let rate = outcome.statistics.cases as f64 / report.seconds.max(1e-9);
        let comparisons = outcome.statistics.total_comparisons();
        writeln!(
            out,
            "{} decoders, {} cases, {comparisons} comparisons in {:.1} s ({rate:.0} cases/s)",
            report.decoders.len(),
            outcome.statistics.cases,
            report.seconds,
        )?;
        let (new, known) = (outcome.divergences.len(), outcome.known.len());
        match (new, known) {
            (0, 0) => writeln!(out, "all agree"),
            (0, _) => writeln!(out, "nothing new; {known} known differences"),
            _ => {
                writeln!(out, "{new} NEW divergences, {known} known:")?;
                outcome.divergences.keys().try_for_each(|signature| writeln!(out, "  {signature}"))
            }
        }
    }
}

/// Who agrees with the standard, and how far: one line for each decoder.
fn agreement(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let outcome = report.outcome;
    writeln!(out, "{:<22} {:<15} {:>12} {:>12} {:>12}", "decoder", "version", "comparisons", "known", "new")?;
    for (decoder, (_, comparisons)) in report.decoders.iter().zip(&outcome.statistics.comparisons) {
        let info = decoder.info();
        let entries = report.ledger.entries();
        let known: u64 =
            outcome.known.iter().filter(|(at, _)| entries[**at].decoder == info.name).map(|(_, n)| n).sum();
        let new = outcome.divergences.iter().filter(|(signature, _)| signature.decoder == info.name);
        let new: u64 = new.map(|(_, found)| found.hits).sum();
        writeln!(out, "{:<22} {:<15} {comparisons:>12} {known:>12} {new:>12}", info.name, info.version)?;
    }
    writeln!(out)
}
