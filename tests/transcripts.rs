//! What is reported for each planted fault, to the letter: the explanation, and the smallest input.
//!
//! `tests/transcripts.txt` holds, for each planted decoder, inputs that show its fault, and after each of them the report.
//! `UPDATE_TRANSCRIPTS=1 cargo test --release --features planted --test transcripts` looks for inputs where there are none,
//! and writes the reports again; review the difference before you commit it.

mod faulty;

use faulty::Honest;
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use utfuzz::case::{Cuts, Input};
use utfuzz::engine::check;
use utfuzz::judge::silence_panics;
use utfuzz::peers::planted::rows;
use utfuzz::spec::{Contract, Segmentation};
use utfuzz::text::matches_glob;
use utfuzz::triage::ledger::Ledger;
use utfuzz::triage::minimise::minimise;
use utfuzz::triage::session::{Session, Shown};
use utfuzz::{Decoder, Info, peers};

/// Longer inputs are not kept: a transcript is to be read.
const LONGEST: usize = 1200;

/// The most inputs for one decoder.
const MANY: usize = 2;

/// A report takes no longer, so that tests are short.
const LIMIT: Duration = Duration::from_millis(1500);

const SMALLEST: &str = "smallest:";

/// The longest line, in characters; what is longer is cut off.
const WIDTH: usize = 180;

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts.txt")
}

/// The transcripts of each decoder by its name: a line that gives the input, and the report.
type Transcripts = BTreeMap<String, Vec<(String, String)>>;

fn read(text: &str) -> Transcripts {
    let mut all = Transcripts::new();
    for part in text.split("\n=== ").skip(1) {
        let (head, report) = part.split_once('\n').unwrap();
        let (name, input) = head.split_once(' ').unwrap();
        all.entry(name.to_owned()).or_default().push((input.to_owned(), report.to_owned()));
    }
    all
}

/// Bytes in hexadecimal, with a number of repetitions, and the cuts.
fn to_line(input: &Input) -> String {
    let mut line = String::new();
    for run in input.bytes.chunk_by(|one, other| one == other) {
        match run.len() {
            1 => write!(line, "{:02X} ", run[0]).unwrap(),
            len => write!(line, "{:02X}*{len} ", run[0]).unwrap(),
        }
    }
    match input.cuts.map(|cuts| (cuts.step(), cuts)) {
        None => {}
        Some((Some(step), _)) => write!(line, "every {step}").unwrap(),
        Some((None, cuts)) => write!(line, "cut {:?}", cuts.offsets()).unwrap(),
    }
    line
}

fn from_line(line: &str) -> Input {
    let (runs, cuts) = match line.split_once("cut [") {
        Some((runs, cuts)) => (runs, Some(cuts.trim_end_matches(']'))),
        None => (line, None),
    };
    let (runs, step) = runs.split_once("every ").map_or((runs, None), |(runs, step)| (runs, Some(step)));
    let run = |run: &str| {
        let (byte, count) = run.split_once('*').unwrap_or((run, "1"));
        vec![u8::from_str_radix(byte, 16).unwrap(); count.parse().unwrap()]
    };
    let bytes: Vec<u8> = runs.split_whitespace().flat_map(run).collect();
    let offsets = |cuts: &str| {
        let offsets = cuts.split(", ").filter(|cut| !cut.is_empty()).map(|cut| cut.parse::<usize>().unwrap());
        Cuts::new(offsets.collect::<Vec<_>>(), bytes.len())
    };
    let cuts = step.map(|step| Cuts::every(step.parse().unwrap(), bytes.len())).or_else(|| cuts.map(offsets));
    Input { bytes, cuts }
}

/// The report on one input, and the smallest input if that is sought; none if the fault does not show.
fn report(decoder: &dyn Decoder, input: &Input, is_minimised: bool) -> Option<String> {
    let honest = |name, contract| Honest(Info::new(name, "0").contract(contract));
    let standard = honest("honest", Contract::STANDARD);
    let by_byte = honest("byte", Contract { segmentation: Segmentation::Byte, ..Contract::STANDARD });
    let without = honest("without-replacement", Contract { replacement: None, ..Contract::STANDARD });
    let ledger = Ledger::default();
    let mut session = Session::new([decoder, &standard, &by_byte, &without], &ledger);
    let shown = session.judge(&input.case()).into_iter().next()?;
    let Shown::New(divergence) = shown else { return None };
    let mut text = divergence.to_string();
    writeln!(text, "crash state: {}", divergence.signature.spelled()).unwrap();
    if is_minimised {
        let witness = minimise(decoder, &divergence);
        let hex = |bytes: &[u8]| to_line(&Input { bytes: bytes.to_vec(), cuts: None });
        writeln!(text, "{SMALLEST} {}", to_line(&witness.input)).unwrap();
        writeln!(text, "its signature: {}", witness.signature).unwrap();
        writeln!(text, "nearest that agrees: {}", witness.agreeing.as_deref().map_or_else(|| "none".into(), hex))
            .unwrap();
        writeln!(text, "judged: {}", witness.steps).unwrap();
    }
    writeln!(text, "{}", session.finish().statistics).unwrap();
    Some(text.lines().filter(|line| !SAME.iter().any(|same| line.starts_with(same))).map(shortened).collect())
}

/// Lines of the printed test that are the same in all reports.
const SAME: [&str; 6] = ["#[test]", "    // Construct", "    let peers", "    let decoder", "    assert!", "}"];

fn shortened(line: &str) -> String {
    match line.char_indices().nth(WIDTH) {
        None => line.trim_end().to_owned() + "\n",
        Some((end, _)) => format!("{} … {} bytes\n", &line[..end], line.len()),
    }
}

/// Inputs that show the fault.
fn inputs(decoder: &dyn Decoder) -> Vec<Input> {
    let options =
        check::Options { budget: Some(Duration::from_secs(1)), ledger: Ledger::default(), ..check::Options::default() };
    let found = check::check(&[decoder], &options, &|_, _| {}).unwrap().divergences;
    let mut inputs: Vec<Input> = found
        .into_values()
        .map(|finding| {
            let divergence = finding.divergence;
            let len = divergence.bytes.len();
            let cuts = match divergence.step {
                Some(step) => Some(Cuts::every(step, len)),
                None if !divergence.cuts.is_empty() => Some(Cuts::new(divergence.cuts, len)),
                None => None,
            };
            Input { bytes: divergence.bytes, cuts }
        })
        .filter(|input| input.bytes.len() <= LONGEST)
        .collect();
    inputs.sort_by_key(|input| input.bytes.len());
    inputs.truncate(3 * MANY);
    inputs.retain(|input| {
        report(decoder, input, false).is_some_and(|first| report(decoder, input, false) == Some(first))
    });
    inputs.truncate(MANY);
    inputs
}

/// The report, with the smallest input if it takes little time to find.
fn new_report(decoder: &dyn Decoder, input: &Input) -> Option<String> {
    let timed = |is_minimised| {
        let start = Instant::now();
        let report = report(decoder, input, is_minimised);
        report.filter(|_| start.elapsed() < LIMIT)
    };
    timed(true).or_else(|| timed(false))
}

fn decoder(name: &str) -> Box<dyn Decoder> {
    peers::all().into_iter().find(|decoder| decoder.info().name == name).unwrap()
}

/// The decoder that is wrong where a page of memory ends in a character. Now and then that is so in memory that was not placed
/// for it. Then the report is another one, but still about a signature that the fault implies.
const DEPENDS_ON_PAGES: &str = "planted-h14";

fn is_implied(name: &str, report: &str) -> bool {
    let parts: Vec<&str> =
        report.lines().next().and_then(|line| line.strip_prefix("divergence: ")).unwrap_or("").split('/').collect();
    let [law, decoder, subject, shape] = parts[..] else { return false };
    let (_, row) = rows().find(|(row, _)| row == name).unwrap();
    let signature = format!("{law}/{subject}/{shape}");
    decoder == name && row.expected_signatures.iter().any(|expected| matches_glob(expected, &signature))
}

fn check_transcript(name: &str, input: &str, expected: &str) -> Result<(), Failed> {
    let report = || report(&*decoder(name), &from_line(input), expected.contains(SMALLEST)).unwrap_or_default();
    let mut found = report();
    for _ in 0..4 {
        if found == expected || name != DEPENDS_ON_PAGES || !is_implied(name, &found) {
            break;
        }
        found = report();
    }
    let different = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    match different {
        _ if found == expected => Ok(()),
        Some((found, expected)) => Err(format!("{name} {input}\n found: {found}\n where: {expected}").into()),
        None => Err(format!("{name} {input}: {} lines for {}", found.lines().count(), expected.lines().count()).into()),
    }
}

fn main() {
    silence_panics();
    let kept = read(&fs::read_to_string(path()).unwrap_or_default());
    let updated: Arc<Mutex<Transcripts>> = Arc::default();
    let updates = std::env::var_os("UPDATE_TRANSCRIPTS").is_some();
    let mut trials = Vec::new();
    for (name, _) in rows() {
        let kept = kept.get(&name).cloned().unwrap_or_default();
        if updates {
            let (updated, of) = (updated.clone(), name.clone());
            trials.push(Trial::test(name, move || {
                let decoder = decoder(&of);
                let inputs = match &kept[..] {
                    [] => inputs(&*decoder),
                    kept => kept.iter().map(|(input, _)| from_line(input)).collect(),
                };
                let reports =
                    inputs.iter().filter_map(|input| Some((to_line(input), new_report(&*decoder, input)?))).collect();
                updated.lock().unwrap().insert(of, reports);
                Ok(())
            }));
            continue;
        }
        for (index, (input, expected)) in kept.into_iter().enumerate() {
            let of = name.clone();
            trials.push(Trial::test(format!("{name} {index}"), move || check_transcript(&of, &input, &expected)));
        }
    }
    let least = rows().count() * 3 / 4;
    let count = trials.len();
    trials.push(Trial::test("most_faults_have_a_transcript", move || {
        if count >= least { Ok(()) } else { Err(format!("{count} transcripts").into()) }
    }));
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    if updates {
        let all = updated.lock().unwrap();
        let each = all
            .iter()
            .flat_map(|(name, of)| of.iter().map(move |(input, report)| format!("\n=== {name} {input}\n{report}")));
        fs::write(path(), each.collect::<String>().trim_end().to_owned() + "\n").unwrap();
    }
    conclusion.exit();
}
