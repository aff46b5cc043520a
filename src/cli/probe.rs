//! The commands about what decoders are: `utfuzz list`, which there are; `utfuzz probe`, which contract one keeps; and `utfuzz
//! diff`, what tells two apart.

#[cfg(unix)]
use crate::cli::arguments::Adapters;
use crate::cli::arguments::{Selection, one_by_one};
use crate::cli::output::{Failure, Verdict, note, stop_when_interrupted, width};
use crate::decoder::{Decoder, Promise};
use crate::error::Error;
use crate::judge::isolate::panics;
use crate::judge::{Judge, Law};
use crate::probe::{
    Answer, Asked, Compared, Confirmed, Departure, Difference, Field, Held, Kind, Machine, Offsets, Probe, Rewritten,
    State, confirm, differences, in_words, longest, probe, rust, shown_ranges,
};
use crate::report::write_json;
use crate::spec::{Contract, Detection};
use crate::text::{counted, hex, hex_separated, printable};
use crate::{Case, Cuts};
use clap::{Args, ValueEnum};
use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, ContentArrangement, Width};
use serde::Serialize;
use std::io::{self, Write};
use std::sync::Arc;

/// List the decoders: version, answers, whose code runs, and contract
#[derive(Debug, Args)]
pub(super) struct List {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    selection: Selection,
}

#[derive(serde::Serialize)]
struct Listed<'a> {
    decoders: Vec<Row<'a>>,
}

#[derive(serde::Serialize)]
struct Row<'a> {
    name: &'a str,
    package: &'a str,
    version: &'a str,
    answers: Vec<&'static str>,
    lineage_short: &'a str,
    lineage_long: &'a str,
    contract: String,
}

impl<'a> Row<'a> {
    fn of(decoder: &'a dyn Decoder) -> Self {
        let info = decoder.info();
        // A decoder that panics counts as able to answer.
        let can = |ask: &dyn Fn() -> bool| {
            let mut is_able = true;
            panics(&info.name, b"", || is_able = ask());
            is_able
        };
        let answers = [
            ("validate", can(&|| decoder.validate(b"").is_some())),
            ("lossy", can(&|| decoder.decode_lossy(b"", &mut Vec::new()).is_some())),
            ("stream", can(&|| decoder.stream().is_some())),
        ];
        Self {
            name: &info.name,
            package: &info.package,
            version: &info.version,
            answers: answers.into_iter().filter(|(_, can)| *can).map(|(name, _)| name).collect(),
            lineage_short: info.lineage.at(0),
            lineage_long: info.lineage.at(usize::MAX),
            contract: info.claim(),
        }
    }
}

impl List {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let decoders = self.selection.decoders()?;
        let rows: Vec<Row<'_>> = decoders.iter().map(|decoder| Row::of(&**decoder)).collect();
        if self.json {
            write_json("list", &Listed { decoders: rows }, out)?;
            return Ok(Verdict::Clean);
        }
        let lineage = |row: &Row<'_>| match row.lineage_short == row.lineage_long {
            true => printable(row.lineage_short),
            false => printable(&format!("{} (long input: {})", row.lineage_short, row.lineage_long)),
        };
        /// On a terminal with fewer columns there is no room for the lineage, which `--json` has.
        const NARROW: u16 = 110;
        /// Below this, words would be cut anywhere.
        const LEAST: u16 = 80;
        let width = width().map(|width| width.max(LEAST));
        let is_narrow = width.is_some_and(|width| width < NARROW);
        let lineage_title = if is_narrow { None } else { Some("lineage") };
        let head = ["decoder", "version", "answers"].into_iter().chain(lineage_title).chain(["contract"]);
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING).set_header(head);
        for row in &rows {
            let lineage = lineage_title.map(|_| lineage(row));
            let cells = [row.name.to_owned(), printable(row.version), row.answers.join(" ")];
            table.add_row(cells.into_iter().chain(lineage).chain([row.contract.clone()]));
        }
        table.column_iter_mut().for_each(|column| {
            // No line needs space at its start.
            column.set_padding((0, 2));
        });
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
            // One answer per line; the rest of the terminal is for the last columns.
            let answer = ColumnConstraint::Absolute(Width::Fixed(10));
            let constraints = [ColumnConstraint::ContentWidth, ColumnConstraint::ContentWidth, answer];
            table.column_iter_mut().zip(constraints).for_each(|(column, constraint)| {
                column.set_constraint(constraint);
            });
        }
        writeln!(out, "{}", table.trim_fmt())?;
        Ok(Verdict::Clean)
    }
}

/// Name the contract that a decoder keeps, whatever it claims
///
/// At most eight questions lead to the contract; then the decoder is held to it on about a hundred thousand inputs. If no contract
/// gives all its answers, the nearest is named, with the smallest inputs that show how the decoder departs from it.
///
/// Exit status 1: a decoder keeps no known contract.
#[derive(Debug, Args)]
pub(super) struct ProbeVerb {
    /// Only ask the questions that lead to the contract; do not confirm it
    #[arg(long)]
    quick: bool,
    /// Also find the finite-state machine of its verdicts: as a table, or as a graph for Graphviz
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    machine: Option<Form>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    selection: Selection,
}

/// How a machine is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Table,
    Dot,
}

/// A finite-state machine in JSON.
#[derive(Serialize)]
struct Automaton {
    states: Vec<AutomatonState>,
    /// How many verdicts of the decoder were compared with it.
    cases: usize,
    /// The first input on which the decoder's verdict differs.
    wrong: Option<String>,
    #[serde(skip)]
    machine: Machine,
}

#[derive(Serialize)]
struct AutomatonState {
    after: String,
    accepts: Option<bool>,
    next: Vec<Edge>,
}

#[derive(Serialize)]
struct Edge {
    bytes: String,
    state: usize,
}

impl Automaton {
    fn of(decoder: &dyn Decoder) -> Option<Self> {
        let machine = Machine::of(decoder, longest(decoder))?;
        let edge = |(state, ranges): (usize, Vec<(u8, u8)>)| Edge { bytes: shown_ranges(&ranges), state };
        let state = |state: &State| AutomatonState {
            after: hex(&state.after),
            accepts: state.accepts,
            next: Machine::edges(state).into_iter().map(edge).collect(),
        };
        let states = machine.states.iter().map(state).collect();
        Some(Self { states, cases: machine.cases, wrong: machine.wrong.as_deref().map(hex), machine })
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let states = counted(self.machine.states.len(), "state");
        match &self.wrong {
            None => writeln!(out, "  a machine of {states} gives all {} verdicts that were compared:", self.cases)?,
            Some(wrong) => writeln!(out, "  a machine of {states} gives another verdict on {wrong}:")?,
        }
        self.machine.to_string().lines().try_for_each(|line| writeln!(out, "    {line}"))
    }
}

/// The answer of a decoder in JSON.
#[derive(Serialize)]
struct Answered {
    bytes: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// The answer in words.
    #[serde(skip)]
    says: String,
}

impl Answered {
    fn of(bytes: &[u8], answer: &Answer) -> Self {
        Self {
            bytes: hex(bytes),
            verdict: answer.verdict.map(|verdict| verdict.to_string()),
            output: answer.output.as_deref().map(hex),
            says: answer.to_string(),
        }
    }
}

#[derive(Serialize)]
struct Question {
    #[serde(flatten)]
    answered: Answered,
    /// How many contracts were still possible after it.
    left: usize,
}

#[derive(Serialize)]
struct Departs {
    law: &'static str,
    subject: &'static str,
    bytes: String,
    /// Where the departure shows.
    place: String,
}

/// A field of the contract, and the input that shows it.
#[derive(Serialize)]
struct Claim {
    field: &'static str,
    /// None if it could not be determined.
    value: Option<String>,
    witness: Option<Answered>,
}

#[derive(Default, Serialize)]
struct Probed {
    name: String,
    version: String,
    claimed: String,
    /// Whether its documentation promises anything.
    #[serde(skip)]
    is_documented: bool,
    /// The contract; if `fits` is false, the nearest.
    contract: Option<String>,
    /// Whether the decoder claims what could be determined of its contract.
    agrees: bool,
    fits: bool,
    words: String,
    rust: Option<String>,
    claims: Vec<Claim>,
    offsets: Option<String>,
    questions: Vec<Question>,
    /// On how many inputs the contract was confirmed.
    cases: u64,
    departures: Vec<Departs>,
    /// What the departures have in common, if that can be said.
    rule: Option<String>,
    /// The machine of its verdicts, if that was asked for and there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<Automaton>,
}

#[derive(Serialize)]
struct Probes {
    probes: Vec<Probed>,
}

impl Probed {
    fn of(decoder: &dyn Decoder, is_quick: bool) -> Self {
        let info = decoder.info();
        let named = Self {
            name: info.name.to_string(),
            version: printable(&info.version),
            claimed: info.claim(),
            is_documented: info.promise != Promise::Nothing,
            ..Self::default()
        };
        let Some(mut found) = probe(decoder) else {
            return Self { words: "it answers nothing".to_owned(), ..named };
        };
        // Each failure of a decoder in another process costs a restart.
        let may_ask = !found.is_exact() && !found.asked.iter().any(|asked| asked.answer.panicked);
        let rewritten = if may_ask { Rewritten::of(decoder) } else { None };
        let again = rewritten.as_ref().and_then(|rewritten| probe(rewritten)).filter(|again| again.wrong < found.wrong);
        let fits = found.is_exact();
        let (decoder, written): (&dyn Decoder, _) = match (&again, &rewritten) {
            (Some(again), Some(rewritten)) => {
                found = Probe { contract: again.contract, open: again.open.clone(), ..found };
                (rewritten, Some(rewritten.says()))
            }
            _ => (decoder, None),
        };
        let has_offsets = found.offsets.is_some_and(Offsets::is_plain);
        let mut confirmed = Confirmed::default();
        if !is_quick {
            confirmed = confirm(&Held::to(found.contract, decoder, has_offsets));
            let streams_well = !confirmed.departures.iter().any(|departure| departure.law.is_about_streams());
            if streams_well && decoder.stream().is_some() {
                let prompt = Contract { detection: Detection::Earliest, ..found.contract };
                if detects_at_once(&Held::to(prompt, decoder, has_offsets), &found.asked) {
                    found.contract = prompt;
                }
            }
        }
        let rule = match (written, confirmed.rule(&found.contract)) {
            (None, rule) => rule,
            (Some(written), _) if confirmed.cases == 0 => Some(format!("in that it writes {written}; not confirmed")),
            (Some(written), _) if confirmed.departures.is_empty() => Some(format!("only in that it writes {written}")),
            (Some(written), rule) => rule.map(|rule| format!("in that it writes {written}, and {rule}")),
        };
        let question =
            |asked: &Asked| Question { answered: Answered::of(&asked.bytes, &asked.answer), left: asked.left };
        Self {
            contract: Some(found.contract.to_string()),
            agrees: info.promise == Promise::Everything && found.agrees(&info.contract),
            fits: fits && confirmed.departures.is_empty(),
            words: in_words(&found.contract),
            rust: Some(rust(&found.contract)),
            claims: Field::ALL.into_iter().map(|field| Claim::of(field, &found)).collect(),
            offsets: found.offsets.map(|offsets| match offsets {
                Offsets::Counted(unit, first) => format!("in {}, from {first}", unit.name()),
                Offsets::Other(stated) => format!("{stated} for the error in {}", hex(Offsets::INPUT)),
            }),
            questions: found.asked.iter().map(question).collect(),
            cases: confirmed.cases,
            rule,
            departures: confirmed.departures.iter().map(Departs::of).collect(),
            ..named
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{} {}", self.name, self.version)?;
        let Some(contract) = &self.contract else { return writeln!(out, "  {}", self.words) };
        let claim = match self.agrees {
            true => ", as it claims".to_owned(),
            false if !self.is_documented => "; its documentation promises nothing".to_owned(),
            false => format!("; it claims {}", self.claimed),
        };
        match self.fits {
            true => writeln!(out, "  contract: {contract}{claim}")?,
            false => writeln!(out, "  no known contract fits; the nearest: {contract}{claim}")?,
        }
        if let Some(rule) = &self.rule {
            writeln!(out, "  it differs {rule}")?;
        }
        writeln!(out, "  {}", self.words)?;
        for Claim { field, value, witness } in &self.claims {
            let value = value.as_deref().unwrap_or("not determined");
            let witness =
                witness.as_ref().map(|answered| format!("  {}: {}", answered.bytes, answered.says)).unwrap_or_default();
            writeln!(out, "  {}", format!("  {field:<16} {value:<26}{witness}").trim_end())?;
        }
        if let Some(offsets) = &self.offsets {
            writeln!(out, "    {:<16} {offsets}", "offsets")?;
        }
        match self.cases {
            0 => writeln!(out, "  {}, not confirmed", counted(self.questions.len(), "question"))?,
            cases => writeln!(out, "  {}, then {cases} inputs", counted(self.questions.len(), "question"))?,
        }
        for Departs { law, subject, bytes, place } in &self.departures {
            writeln!(out, "  departs: {law} of {subject}, {place}, for example {bytes}")?;
        }
        self.machine.as_ref().map_or(Ok(()), |machine| machine.write(out))
    }
}

impl Claim {
    fn of(field: Field, found: &Probe) -> Self {
        let is_open = found.open.contains(&field);
        let witness = found.witness(field).filter(|_| found.is_exact() && !is_open);
        Self {
            field: field.name(),
            value: (!is_open).then(|| field.value(&found.contract)),
            witness: witness.map(|asked| Answered::of(&asked.bytes, &asked.answer)),
        }
    }
}

/// Whether streams write at once what is decided, for the inputs of these questions between text, cut at each place in turn.
fn detects_at_once(held: &Held<'_>, asked: &[Asked]) -> bool {
    let mut judge = Judge::new([held as &dyn Decoder]);
    asked.iter().all(|asked| {
        let bytes = [b"text", asked.bytes.as_slice(), b"text"].concat();
        (1..bytes.len()).all(|cut| {
            let broken = judge.judge(&Case::with_cuts(&bytes, Cuts::new([cut], bytes.len())));
            !broken.iter().any(|broken| broken.law == Law::Detection)
        })
    })
}

impl Departs {
    fn of(Departure { law, subject, bytes, place }: &Departure) -> Self {
        Self { law: law.name(), subject: subject.name(), bytes: hex_separated(bytes, " "), place: place.to_string() }
    }
}

impl ProbeVerb {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let boxes = self.selection.decoders()?;
        let decoders: Vec<_> = boxes.iter().map(|decoder| &**decoder).collect();
        let stop = Arc::default();
        stop_when_interrupted(&stop);
        let probed = |decoder: &dyn Decoder| Probed {
            machine: self.machine.and_then(|_| Automaton::of(decoder)),
            ..Probed::of(decoder, self.quick)
        };
        let show = |probed: &Probed| {
            let mut write = || match (&probed.machine, self.machine) {
                (Some(Automaton { machine, .. }), Some(Form::Dot)) => {
                    out.write_all(machine.dot(&probed.name).as_bytes())
                }
                (None, Some(Form::Dot)) => {
                    note(&format!("{}: no machine", probed.name));
                    Ok(())
                }
                _ => probed.write(out),
            };
            if !self.json {
                // Standard output remembers an error; it is reported at the end.
                let _ = write().and_then(|()| out.flush());
            }
        };
        let probes = one_by_one(&decoders, &stop, probed, show)?;
        let (fits, missing) = (probes.iter().all(|probed| probed.fits), decoders.len() - probes.len());
        if self.json {
            write_json("probe", &Probes { probes }, out)?;
        }
        if missing > 0 {
            note(&format!("interrupted; {} not asked", counted(missing, "decoder")));
        }
        Ok(match fits {
            false => Verdict::Diverged,
            true if missing > 0 => Verdict::Interrupted,
            true => Verdict::Clean,
        })
    }
}

/// Find the shortest inputs that tell two decoders apart
///
/// One for each kind of difference: verdict, offset and length of the first error, output, failure.
///
/// Exit status 1: they differ.
#[derive(Debug, Args)]
pub(super) struct Diff {
    /// The name of one decoder
    #[arg(value_name = "DECODER")]
    one: String,
    /// The name of the other
    #[arg(value_name = "DECODER")]
    other: String,
    /// The length in bytes of the longest inputs that are compared
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=6))]
    longest: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[cfg(unix)]
    #[command(flatten)]
    adapters: Adapters,
}

#[derive(Serialize)]
struct Differs {
    kind: &'static str,
    bytes: String,
    answers: [Answered; 2],
}

#[derive(Serialize)]
struct Differences<'a> {
    decoders: [&'a str; 2],
    longest: u32,
    /// On how many inputs both stated a verdict, or both an output.
    comparable: usize,
    differences: Vec<Differs>,
}

impl Diff {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let selection = Selection {
            decoders: format!("{},{}", self.one, self.other),
            #[cfg(unix)]
            adapters: self.adapters,
        };
        let decoders = selection.decoders()?;
        let named = |name: &str| {
            let found = decoders.iter().find(|decoder| decoder.info().name == name);
            found.ok_or_else(|| Error::usage(format!("{name:?} is not the name of one decoder; diff compares two")))
        };
        let (one, other) = (named(&self.one)?, named(&self.other)?);
        let Compared { differences: found, comparable } = differences(&**one, &**other, self.longest);
        let differ = !found.is_empty();
        if comparable == 0 && !differ {
            return Err(Error::usage(format!(
                "{} and {} cannot be compared: there is no input for which both give a verdict, or both an output; \
                 `utfuzz list` shows what each gives",
                self.one, self.other
            ))
            .into());
        }
        if self.json {
            let differs = |Difference { kind, bytes, answers }| Differs {
                kind: Kind::name(kind),
                answers: answers.each_ref().map(|answer| Answered::of(&bytes, answer)),
                bytes: hex(&bytes),
            };
            let differences = found.into_iter().map(differs).collect();
            let decoders = [&*self.one, &*self.other];
            let body = Differences { decoders, longest: self.longest, comparable, differences };
            write_json("diff", &body, out)?;
        } else if !differ {
            writeln!(
                out,
                "{} and {} answer alike to every class string of up to {} bytes",
                self.one, self.other, self.longest
            )?;
        } else {
            for Difference { kind, bytes, answers } in found {
                writeln!(out, "{}: {}", kind.name(), hex_separated(&bytes, " "))?;
                for (name, answer) in [&self.one, &self.other].into_iter().zip(&answers) {
                    writeln!(out, "  {name}: {}", answer)?;
                }
            }
        }
        Ok(if differ { Verdict::Diverged } else { Verdict::Clean })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::Info;
    use crate::utf8::Validity;

    struct Panicking(Info);

    impl Decoder for Panicking {
        fn info(&self) -> &Info {
            &self.0
        }

        fn validate(&self, _: &[u8]) -> Option<Validity> {
            panic!("as it should")
        }
    }

    #[test]
    fn a_decoder_that_panics_is_listed() {
        crate::judge::silence_panics();
        let decoder = Panicking(Info::new("panicking", "1.0"));
        assert_eq!(Row::of(&decoder).answers, ["validate"]);
    }
}
