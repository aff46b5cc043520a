//! The score as a page for a repository's web view.

use crate::engine::score::summary::Summary;
use crate::engine::score::{Outcome, Row, Score};
use crate::report::escape::markdown as escaped;
use crate::report::score::{cell_words, conditions, cost, engine_words, ratio, signatures, verdict_name};
use std::fmt::Write;

/// Signatures shown for a decoder; the rest is in the JSON.
const SIGNATURES: usize = 3;

/// The whole page. No line begins with untrusted text, so none can begin a block.
pub(super) fn page(score: &Score) -> String {
    let summary = Summary::of(score);
    let mut page = String::from("# Score\n\n");
    let caught = summary.decoders - summary.by_none.len();
    line(&mut page, format_args!("{caught} of {} planted decoders are caught. ", summary.decoders));
    line(&mut page, format_args!("Runs that reported what the fault does not imply: {}.\n\n", summary.wrong_runs));
    line(&mut page, format_args!("{}\n\n", escaped(&conditions(score))));
    page.push_str(
        "![Planted decoders caught over executions, one line for each engine](score.svg)\n\n\
         A line ends where the engine's longest run ended.\n\n## Engines\n\n\
         Caught: in more than half of the runs. A run that missed counts as infinitely many executions. The last \
         column is over the decoders that `plain` caught: under 1 is fewer executions than `plain`.\n\n\
         | engine | inputs | caught | wrong law | missed | not run | median executions | median seconds | × plain |\n\
         | --- | --- | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    for of in &summary.engines {
        line(
            &mut page,
            format_args!(
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                of.engine.name(),
                engine_words(of.engine),
                of.caught,
                of.wrong_law,
                of.missed,
                of.not_run,
                cost(of.executions),
                cost(of.seconds),
                ratio(of.against_plain),
            ),
        );
    }
    line(&mut page, format_args!("\nCaught by no engine: {}\n", names(&summary.by_none)));
    line(&mut page, format_args!("\nNever caught by `plain`: {}\n", names(&summary.never_by_plain)));
    decoders(score, &mut page);
    page
}

fn decoders(score: &Score, page: &mut String) {
    page.push_str(
        "\n## Decoders\n\nRuns that caught it, of all; then the median executions until then, or how far an engine \
         went without.\n\n| decoder | fault |",
    );
    for engine in &score.engines {
        line(page, format_args!(" {} |", engine.name()));
    }
    line(page, format_args!(" reported |\n| --- | --- |{} --- |\n", " --- |".repeat(score.engines.len())));
    for row in &score.rows {
        line(page, format_args!("| {} | {} |", escaped(&row.decoder), escaped(&row.fault)));
        for engine in &score.engines {
            let cell = row.cell(*engine);
            let verdict = cell.and_then(|cell| cell.verdict());
            // What needs a look is set in bold.
            let mark = if matches!(verdict, None | Some(Outcome::Caught)) { "" } else { "**" };
            let words = cell.map(cell_words).unwrap_or_default();
            let text = format!("{mark}{}{mark} {words}", verdict_name(verdict));
            line(page, format_args!(" {} |", text.trim_end()));
        }
        line(page, format_args!(" {} |\n", reported(row)));
    }
}

fn reported(row: &Row) -> String {
    let seen = signatures(&row.cells);
    let mut shown: Vec<String> = seen.iter().take(SIGNATURES).map(|signature| escaped(signature)).collect();
    if seen.len() > SIGNATURES {
        shown.push(format!("{} more", seen.len() - SIGNATURES));
    }
    shown.join(", ")
}

fn names(names: &[&str]) -> String {
    if names.is_empty() {
        return String::from("none.");
    }
    names.iter().map(|name| escaped(name)).collect::<Vec<_>>().join(", ") + "."
}

fn line(page: &mut String, arguments: std::fmt::Arguments<'_>) {
    page.write_fmt(arguments).expect("a string takes all");
}
