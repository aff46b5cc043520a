//! The findings for people, in a terminal.

use crate::report::findings::{Cluster, Exporter, Findings, Member};
use crate::text::printable;
use std::io::{self, Write};

/// Some lines for each cluster, and a last one for all.
pub struct Text;

impl Exporter for Text {
    fn export(&self, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
        for cluster in &findings.clusters {
            write_cluster(cluster, out)?;
        }
        for (what, files) in [("unread", &findings.unread), ("slow", &findings.slow), ("fault", &findings.faults)] {
            files.iter().try_for_each(|file| writeln!(out, "{what}: {}", printable(file)))?;
        }
        writeln!(
            out,
            "{} inputs, {} show nothing; {} clusters: {} new, {} regressions, {} known; {:.1} s",
            findings.inputs,
            findings.quiet,
            findings.clusters.len(),
            findings.count("new"),
            findings.count("regression"),
            findings.count("known"),
            findings.seconds
        )
    }
}

fn write_cluster(cluster: &Cluster, out: &mut dyn Write) -> io::Result<()> {
    for (index, member) in cluster.members.iter().enumerate() {
        let signature = printable(&member.signature);
        match index {
            0 => writeln!(out, "{}: {signature}, {} inputs", printable(&cluster.status), cluster.inputs)?,
            _ => writeln!(out, "  and: {signature}, {} inputs", member.inputs)?,
        }
        write_member(member, out)?;
    }
    writeln!(out)
}

fn write_member(member: &Member, out: &mut dyn Write) -> io::Result<()> {
    if !member.others.is_empty() {
        writeln!(out, "    also:    {}", printable(&member.others.join(" ")))?;
    }
    let cuts = member.cuts.as_ref().filter(|cuts| !cuts.is_empty());
    let cuts = cuts.map_or(String::new(), |cuts| format!(", cut at {cuts:?}"));
    writeln!(out, "    witness: {}{cuts}", printable(&member.notation))?;
    if let Some(agreeing) = &member.agreeing {
        writeln!(out, "    agrees:  {}", printable(agreeing))?;
    }
    if let Some(rule) = &member.rule {
        writeln!(out, "    rule:    {} [{}]", printable(&rule.says), printable(&rule.source))?;
    }
    if let Some(known_as) = &member.known_as {
        writeln!(out, "    {}: {}", if member.status == "known" { "ledger" } else { "file" }, printable(known_as))?;
    }
    Ok(())
}
