//! The findings as a page for a repository's web view.

use crate::report::escape::{fenced, markdown as escaped};
use crate::report::findings::{Cluster, Exporter, Findings, Member};
use std::fmt::{Display, Write as _};
use std::io::{self, Write};

/// One page. No line begins with untrusted text outside a fence, so none can begin a block.
pub struct Markdown;

impl Exporter for Markdown {
    fn export(&self, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
        let mut page = String::new();
        summary(findings, &mut page);
        findings.clusters.iter().enumerate().for_each(|(index, of)| cluster(index, of, &mut page));
        agreement(findings, &mut page);
        run(findings, &mut page);
        history(findings, &mut page);
        out.write_all(page.as_bytes())
    }
}

fn summary(findings: &Findings, page: &mut String) {
    let (all, quiet) = (findings.inputs, findings.quiet);
    line(page, "# Findings\n");
    line(page, format_args!("{all} inputs, {quiet} show nothing. {} clusters:\n", findings.clusters.len()));
    line(page, "| cluster | status | inputs | signature | witness |\n| --: | --- | --: | --- | --- |");
    for (index, cluster) in findings.clusters.iter().enumerate() {
        let (status, inputs) = (escaped(&cluster.status), cluster.inputs);
        let first = cluster.members.first();
        let signature = first.map_or(String::new(), |member| escaped(&member.signature));
        let witness = first.map_or(String::new(), |member| escaped(&member.notation));
        line(page, format_args!("| {} | {status} | {inputs} | {signature} | {witness} |", index + 1));
    }
    for (what, texts) in [("Fault", &findings.faults), ("Unread", &findings.unread), ("Slow", &findings.slow)] {
        texts.iter().for_each(|text| line(page, format_args!("\n{what}: {}", escaped(text))));
    }
}

fn cluster(index: usize, cluster: &Cluster, page: &mut String) {
    line(page, format_args!("\n## Cluster {}: {}, {} inputs", index + 1, escaped(&cluster.status), cluster.inputs));
    cluster.members.iter().for_each(|of| member(of, page));
}

fn member(member: &Member, page: &mut String) {
    let Member { status, inputs, decoder, version, .. } = member;
    line(page, format_args!("\n### Signature {}\n", escaped(&member.signature)));
    if !member.others.is_empty() {
        let others: Vec<String> = member.others.iter().map(|other| escaped(other)).collect();
        line(page, format_args!("- Also: {}", others.join(", ")));
    }
    let known_as = member.known_as.as_ref().map_or(String::new(), |known_as| format!(" as {}", escaped(known_as)));
    line(page, format_args!("- Blame: {} {}", escaped(decoder), escaped(version)));
    line(page, format_args!("- Status: {}{known_as}; {inputs} inputs", escaped(status)));
    if let Some(rule) = &member.rule {
        line(page, format_args!("- Rule: {} \\[{}\\]", escaped(&rule.says), escaped(&rule.source)));
    }
    let cuts = member.cuts.as_ref().filter(|cuts| !cuts.is_empty());
    let cuts = cuts.map_or(String::new(), |cuts| escaped(&format!(", cut at {cuts:?}")));
    line(page, format_args!("- Witness: {}{cuts}", escaped(&member.notation)));
    if let Some(agreeing) = &member.agreeing {
        line(page, format_args!("- Nearest input without: {}", escaped(agreeing)));
    }
    if let Some(kept) = &member.kept {
        line(page, format_args!("- Kept as: {}", escaped(kept)));
    }
    line(page, format_args!("\n{}", fenced("text", &member.annotated)));
    line(page, "| question | answer | standard | decoders | lineages |\n| --- | --- | --- | --- | --: |");
    for answer in &member.answers {
        let standard = if answer.arbiter {
            "yes"
        } else if answer.breaches.is_empty() {
            "no"
        } else {
            "**no**"
        };
        let names: Vec<String> = answer.decoders.iter().map(|name| escaped(name)).collect();
        let (question, text) = (escaped(&answer.question), escaped(&answer.answer));
        let (names, lineages) = (names.join(", "), answer.lineages.len());
        line(page, format_args!("| {question} | {text} | {standard} | {names} | {lineages} |"));
    }
    line(page, format_args!("\n{}", fenced("rust", &member.test)));
    let files: Vec<String> = member.files.iter().map(|file| escaped(file)).collect();
    line(page, format_args!("Found in: {}", files.join(", ")));
}

fn agreement(findings: &Findings, page: &mut String) {
    let agreement = &findings.agreement;
    line(page, "\n## Agreement\n");
    line(
        page,
        format_args!("On how many of {} inputs each says the same as the one most like it:\n", agreement.inputs),
    );
    line(page, "| decoder | most like | same | of |\n| --- | --- | --: | --: |");
    for (row, name) in agreement.decoders.iter().enumerate() {
        let others = (0..agreement.decoders.len()).filter(|column| *column != row);
        // Shares compared without division; of equals the first.
        let shares = others.map(|column| (agreement.pair(row, column), column)).filter(|((_, asked), _)| *asked > 0);
        let most = shares.reduce(|best, next| if next.0.0 * best.0.1 > best.0.0 * next.0.1 { next } else { best });
        if let Some(((same, asked), column)) = most {
            let (name, other) = (escaped(name), escaped(&agreement.decoders[column]));
            line(page, format_args!("| {name} | {other} | {same} | {asked} |"));
        }
    }
}

fn run(findings: &Findings, page: &mut String) {
    let machine = &findings.machine;
    let list = |names: &[String]| match names {
        [] => String::from("none"),
        names => names.iter().map(|name| escaped(name)).collect::<Vec<_>>().join(", "),
    };
    line(page, "\n## What was run\n");
    line(page, format_args!("- utfuzz {}, {:.1} s", escaped(&findings.version), findings.seconds));
    line(page, format_args!("- Machine: {}, {} threads", escaped(&machine.target), machine.threads));
    line(page, format_args!("- Processor features: {}", list(&machine.features)));
    line(page, format_args!("- Decoders it cannot run: {}", list(&machine.missing)));
    line(page, "\n| decoder | version | contract |\n| --- | --- | --- |");
    for of in &findings.decoders {
        let (name, version, contract) = (escaped(&of.name), escaped(&of.version), escaped(&of.contract));
        line(page, format_args!("| {name} | {version} | {contract} |"));
    }
    if !findings.targets.is_empty() {
        line(page, "\n| target | seconds | executions | corpus |\n| --- | --: | --: | --: |");
    }
    for of in &findings.targets {
        let (name, seconds, executions, corpus) = (escaped(&of.name), of.seconds, of.executions, of.corpus);
        line(page, format_args!("| {name} | {seconds:.0} | {executions} | {corpus} |"));
    }
}

fn history(findings: &Findings, page: &mut String) {
    if findings.history.is_empty() {
        return;
    }
    line(page, "\n## Nights\n");
    line(page, "| night | version | executions | corpus | clusters | new | regressions | known |");
    line(page, "| --- | --- | --: | --: | --: | --: | --: | --: |");
    for of in &findings.history {
        let (date, version) = (crate::report::findings::chart::date(of.started), escaped(&of.version));
        let (executions, corpus, clusters) = (of.executions, of.corpus, of.clusters);
        let found = format!("{} | {} | {}", of.new, of.regression, of.known);
        line(page, format_args!("| {date} | {version} | {executions} | {corpus} | {clusters} | {found} |"));
    }
}

fn line(page: &mut String, text: impl Display) {
    writeln!(page, "{text}").expect("a string takes all");
}
