//! The certificate for people.

use crate::report::certificate::coverage::{Part, Row};
use crate::report::certificate::{File, Judged, Proof};
use crate::text::printable;
use std::fmt::{Display, Write};

/// The page; all of it is told from the file.
pub(super) fn render(file: &File) -> String {
    let mut page = format!("# Exhaustive checks: {}\n\n", cell(&file.verdict));
    page += "What was run, on what, and what came of it; rendered from `certificate.json`. Each entry is the latest run\n\
             of its kind. A string is *covered* where every decoder named was asked what is listed, as far as it can\n\
             answer, and each answer was held to the standard under that decoder's contract.\n";
    file.proofs.iter().for_each(|proof| page += &section(proof));
    page
}

fn section(proof: &Proof) -> String {
    let mut text = format!("\n## `{}`: {}\n\n", cell(&proof.command), cell(&proof.verdict));
    let machine = &proof.machine;
    text += &format!(
        "{} cases, {} comparisons, {:.0} seconds on {} threads; {}, rustc {}.\n\n",
        grouped(proof.cases),
        grouped(proof.comparisons),
        proof.seconds,
        machine.threads,
        cell(&machine.arch),
        cell(&machine.rustc),
    );
    text += &match machine.lacks.is_empty() {
        true => format!("CPU features: {}; none that a kernel is chosen by is missing.\n", list(&machine.has)),
        false => format!(
            "CPU features: {}. MISSING: {}; kernels that need one did not run.\n",
            list(&machine.has),
            list(&machine.lacks)
        ),
    };
    text += &covered(&proof.covered);
    text += &decoders(&proof.decoders, &proof.parts);
    text += &findings(proof);
    text
}

fn covered(rows: &[Row]) -> String {
    let heads = ["part", "lengths", "offsets", "before", "behind", "strings x offsets", "cases", "asked"];
    let rows = rows.iter().map(|row| {
        let lengths = stretch((row.lengths.0 as usize, row.lengths.1 as usize));
        let offsets: Vec<_> = row.offsets.iter().map(|&offsets| stretch(offsets)).collect();
        [
            cell(&row.part),
            lengths,
            offsets.join(", "),
            cell(&row.before),
            cell(&row.behind),
            grouped(row.strings),
            grouped(row.cases),
            cell(&row.asked),
        ]
    });
    format!("\n### Covered\n\n{}", table(&heads, rows))
}

fn decoders(decoders: &[Judged], parts: &[Part]) -> String {
    let heads = ["decoder", "version", "whose code runs", "contract"].into_iter();
    let names: Vec<String> = parts.iter().map(|part| cell(&part.name)).collect();
    let heads: Vec<&str> = heads.chain(names.iter().map(String::as_str)).collect();
    let rows = decoders.iter().enumerate().map(|(index, decoder)| {
        let compared = parts.iter().map(|part| part.comparisons.get(index).map_or(0, |(_, count)| *count));
        let lineage = decoder.lineage.iter().map(|(from, name)| match *from {
            0 => cell(name),
            from => format!("from {from} bytes on {}", cell(name)),
        });
        let lineage: Vec<_> = lineage.collect();
        let cells = [cell(&decoder.name), cell(&decoder.version), lineage.join(", "), cell(&decoder.contract)];
        cells.into_iter().chain(compared.map(grouped)).collect::<Vec<_>>()
    });
    let seconds: Vec<_> = parts.iter().map(|part| format!("{} {:.1} s", cell(&part.name), part.seconds)).collect();
    format!(
        "\n### Decoders, and how many answers of each were compared\n\nOf class strings that its grammar does not tell apart, a \
         decoder of another grammar than RFC 3629 was asked one.\n\n{}\nTime: {}.\n",
        table(&heads, rows),
        seconds.join(", ")
    )
}

fn findings(proof: &Proof) -> String {
    let mut text = String::from("\n### Found\n\n");
    for found in &proof.divergences {
        let _ = writeln!(
            text,
            "- NEW: `{}`, seen {} times: `{}` cut at {:?}",
            cell(&found.signature),
            found.hits,
            cell(&found.witness_hex),
            found.cuts
        );
    }
    for known in &proof.known {
        let _ = writeln!(text, "- known: {}, {} hits", cell(&known.id), grouped(known.hits));
    }
    proof.silent.iter().for_each(|name| text += &format!("- SILENT: {} answered nothing\n", cell(name)));
    proof.stale.iter().for_each(|id| text += &format!("- STALE: ledger entry {} matches nothing\n", cell(id)));
    if text.ends_with("\n\n") {
        text += "- nothing: all agree\n";
    }
    text
}

fn table<R: AsRef<[String]>>(heads: &[impl Display], rows: impl Iterator<Item = R>) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut table = line(heads.iter().map(|head| head.to_string()).collect());
    table += &line(heads.iter().map(|_| "---".to_owned()).collect());
    rows.for_each(|row| table += &line(row.as_ref().to_vec()));
    table
}

fn stretch((first, last): (usize, usize)) -> String {
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}

fn list(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| cell(name)).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Text that cannot break out of a table, a code span or a line.
fn cell(text: &str) -> String {
    let escape = |c: char| match c {
        '|' => "\\|".to_owned(),
        '`' => "'".to_owned(),
        '<' => "&lt;".to_owned(),
        _ => c.to_string(),
    };
    printable(text).chars().map(escape).collect()
}

/// A number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_in_its_cell() {
        assert_eq!(cell("a|b`c\n<d>\u{1B}"), "a\\|b'c\\n&lt;d>\\u{1b}");
        assert_eq!([0, 12, 123, 1234, 4_294_967_296].map(grouped), ["0", "12", "123", "1,234", "4,294,967,296"]);
    }
}
