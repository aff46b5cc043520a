//! The layout of every kind of record as a [`Document`]: its headings, tables and pictures.

use crate::engine::check::headline;
use crate::engine::score::{Behind, Cell as ScoreCell, Comparison, Engine, Outcome, Row as ScoreRow, Score};
use crate::engine::score::{Figures, SignaturesPerFault, Summary};
use crate::report::document::{
    Block, Cell, Document, Row, Table, collected, command, date, duration, grouped, paragraph, plain, run_tiles, short,
    tile,
};
use crate::report::findings;
use crate::report::record::{Check, Coverage, CoveredSet, Record, Section};
use crate::report::svg;
use crate::text::counted;
#[cfg(feature = "cli")]
use serde::Deserialize;
#[cfg(feature = "cli")]
use std::collections::BTreeMap;
use std::io;

/// The document of a record.
///
/// # Errors
/// A picture cannot be drawn.
pub(super) fn document(record: &Record) -> io::Result<Document> {
    let mut document = match &record.section {
        Section::Check(check) => {
            let mut document = Document::new(format!("utfuzz check, {}", date(record.started)));
            document.blocks.extend(check_page(record, check));
            document
        }
        Section::Triage(triage) => findings::findings(record, triage)?,
        Section::Score { score } => score_page(record, score)?,
        Section::Matrix(matrix) => matrix.page(record),
        #[cfg(feature = "cli")]
        Section::Throughput(measured) => throughput::page(record, measured)?,
    };
    document.blocks.extend(run(record));
    Ok(document)
}

/// The result of a run in a few words, and whether it is good.
#[cfg(feature = "cli")]
pub(super) fn answer(record: &Record) -> (String, bool) {
    match &record.section {
        Section::Check(check) => check_answer(check),
        Section::Triage(triage) => findings::answer(triage),
        Section::Score { score } => score_answer(&Summary::of(score)),
        Section::Matrix(matrix) => (matrix.answer(), true),
        Section::Throughput(measured) => (throughput::answer(measured), true),
    }
}

/// Where and how a record was made.
fn run(record: &Record) -> Vec<Block> {
    let machine = &record.machine;
    let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let facts = vec![
        ("command", vec![command(&record.command), plain(format!(", {}", date(record.started)))]),
        ("utfuzz", vec![plain(format!("{}, {}", record.version, duration(record.seconds)))]),
        (
            "machine",
            vec![plain(format!("{}, {}, rustc {}", machine.target, counted(machine.threads, "thread"), machine.rustc))],
        ),
        ("processor", vec![plain(machine.processor.clone().unwrap_or_else(|| "unnamed".into()))]),
        ("processor features", vec![plain(list(&machine.features))]),
        ("decoders it cannot run", vec![plain(list(&machine.missing))]),
    ];
    vec![Block::Heading { level: 2, text: "What was run".into() }, Block::Facts { facts }]
}

/// How many answers of each decoder were compared, and how many of them differed.
pub(super) fn answers_compared(record: &Record, check: &Check) -> Table {
    let mut table = Table::new(["decoder", "version", "#comparisons", "#known", "#new"]);
    for judged in &record.decoders {
        let known = check.known.iter().filter(|known| known.decoder == judged.name).map(|known| known.hits);
        let new = check.divergences.iter().filter(|found| found.decoder == judged.name).map(|found| found.hits);
        let (known, new): (u64, u64) = (known.sum(), new.sum());
        let numbers = [judged.comparisons.unwrap_or(0), known, new].map(grouped);
        table.row([judged.name.clone(), judged.version.clone()].into_iter().chain(numbers));
    }
    table
}

fn check_answer(check: &Check) -> (String, bool) {
    let new = check.divergences.len();
    (
        headline(check.is_clean(), [check.interrupted, check.partial], new, check.cases, check.comparisons),
        check.is_clean(),
    )
}

fn check_page(record: &Record, check: &Check) -> Vec<Block> {
    let (words, is_good) = check_answer(check);
    let mut tiles = vec![
        tile(check.divergences.len(), "new", if is_good { "good" } else { "new" }),
        tile(check.known.len(), "known differences", ""),
        tile(record.decoders.len(), "decoders", ""),
        tile(short(check.cases as f64), "cases", ""),
        tile(short(check.comparisons as f64), "answers compared", ""),
    ];
    tiles.extend(run_tiles(record));
    let answer = Block::Answer { words, is_good };
    let heading = Block::Heading { level: 2, text: "Result".into() };
    [answer, Block::Tiles { tiles }, heading].into_iter().chain(check_blocks(record, check)).collect()
}

/// A check, or one run of a certificate: what was covered, by which decoders, and with which result.
pub(super) fn check_blocks(record: &Record, check: &Check) -> Vec<Block> {
    let heading = |text: &str| Block::Heading { level: 3, text: text.into() };
    let mut blocks = Vec::new();
    match &check.coverage {
        Some(coverage) => {
            blocks.extend([heading("Covered"), Block::Table(covered(&coverage.sets))]);
            blocks.push(heading("Decoders, and how many answers of each were compared"));
            blocks.push(paragraph([plain(
                "Of class strings that its grammar does not distinguish, a decoder of another grammar than RFC 3629 was \
                 asked one.",
            )]));
            blocks.push(Block::Table(compared_by_part(record, coverage)));
            let time: Vec<_> =
                coverage.parts.iter().map(|part| format!("{} {}", part.name, duration(part.seconds))).collect();
            blocks.push(paragraph([plain(format!("Time: {}.", time.join(", ")))]));
        }
        None => blocks.extend([heading("Answers compared"), Block::Table(answers_compared(record, check))]),
    }
    blocks.push(heading("Found"));
    let mut table = Table::new(["status", "signature or ledger entry", "#cases", "witness"]);
    for found in &check.divergences {
        let witness = format!("{} cut at {:?}", found.witness_hex, found.cuts);
        table.row(["NEW".to_owned(), found.signature.clone(), found.hits.to_string(), witness]);
    }
    for known in &check.known {
        table.row(["known".to_owned(), known.id.clone(), grouped(known.hits), String::new()]);
    }
    blocks.extend((!table.rows.is_empty()).then_some(Block::Table(table)));
    let silent = check.silent.iter().map(|name| format!("SILENT: {name} answered nothing"));
    let stale = check.stale.iter().map(|id| format!("STALE: ledger entry {id} matches nothing"));
    let alert = |text: String| Block::Paragraph { spans: vec![plain(text)], alert: true };
    let contradicted = check.contradictions.iter().map(|what| format!("CONTRADICTED by the standard: {what}"));
    let set_aside = check.set_aside.iter();
    let set_aside = set_aside.map(|name| format!("SET ASIDE: {name} failed so often that the rest was not asked"));
    blocks.extend(silent.chain(set_aside).chain(stale).chain(contradicted).map(alert));
    if matches!(blocks.last(), Some(Block::Heading { .. })) {
        blocks.push(paragraph([plain("Nothing: all agree.")]));
    }
    blocks
}

fn range((first, last): (usize, usize)) -> String {
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}

fn covered(sets: &[CoveredSet]) -> Table {
    let mut table =
        Table::new(["part", "lengths", "offsets", "before", "after", "#strings x offsets", "#cases", "asked"]);
    for set in sets {
        let offsets: Vec<_> = set.offsets.iter().map(|&offsets| range(offsets)).collect();
        table.row([
            set.part.clone(),
            range((set.lengths.0 as usize, set.lengths.1 as usize)),
            offsets.join(", "),
            set.before.clone(),
            set.after.clone(),
            grouped(set.strings),
            grouped(set.cases),
            set.asked.clone(),
        ]);
    }
    table
}

fn compared_by_part(record: &Record, coverage: &Coverage) -> Table {
    let heads = ["decoder", "version", "implementation", "contract"].map(str::to_owned).into_iter();
    let mut table = Table::new(heads.chain(coverage.parts.iter().map(|part| format!("#{}", part.name))));
    for (index, judged) in record.decoders.iter().enumerate() {
        let of_part = |part: &crate::report::record::CoveredPart| {
            grouped(part.comparisons.get(index).map_or(0, |(_, count)| *count))
        };
        let cells = [judged.name.clone(), judged.version.clone(), judged.implementation(), judged.contract.clone()];
        table.row(cells.into_iter().chain(coverage.parts.iter().map(of_part)));
    }
    table
}

// A score.

fn engine_words(engine: Engine) -> &'static str {
    match engine {
        Engine::Exhaustive => "inputs that show most faults, then every class string of the plan",
        Engine::Structured => "inputs that show most faults, then structured inputs generated from a seed",
        Engine::Plain => "libFuzzer: its own mutations, code coverage",
        Engine::Mutator => "libFuzzer: our mutator, code coverage",
        Engine::Behaviour => "libFuzzer: our mutator, behaviour features",
        Engine::Proptest => "proptest: a naive property, bytes and changed text",
        Engine::Bolero => "bolero by libFuzzer: the naive property",
        Engine::Afl => "AFL++: the naive property",
    }
}

/// The figures of each engine.
pub(super) fn engines(summary: &Summary<'_>) -> Table {
    let names = ["engine", "inputs", "#caught", "#wrong law", "#missed", "#not run"];
    let mut table = Table::new(names.into_iter().chain(["#median executions", "#median seconds", "#× plain"]));
    for Figures { engine, caught, wrong_law, missed, not_run, executions, seconds, against_plain } in &summary.engines {
        let counts = [caught, wrong_law, missed, not_run].map(ToString::to_string);
        let costs = [cost(*executions), cost(*seconds), ratio(*against_plain)];
        let names = [engine.name(), engine_words(*engine)].map(str::to_owned);
        table.row(names.into_iter().chain(counts).chain(costs));
    }
    table
}

/// Each of our engines against each rival.
pub(super) fn comparisons(score: &Score) -> Table {
    let names = ["engine", "rival", "#decoders", "#of these missed", "#executions", "#seconds", "far behind"];
    let mut table = Table::new(names);
    for comparison in &score.comparisons {
        let behind = |far: &Behind| {
            let costs = format!("{}, {}", ratio(Some(far.executions)), ratio(Some(far.seconds)));
            format!("{} ({})", far.decoder, if far.missed { "missed" } else { &costs })
        };
        let behind: Vec<String> = comparison.behind.iter().map(behind).collect();
        let names = [comparison.engine, comparison.rival].map(|engine| engine.name().to_owned());
        let counts = [comparison.decoders, comparison.missed].map(|count| count.to_string());
        let means = [comparison.executions, comparison.seconds].map(ratio);
        table.row(names.into_iter().chain(counts).chain(means).chain([behind.join(", ")]));
    }
    table
}

/// How many findings were reported for one fault.
pub(super) fn signatures(summary: &Summary<'_>) -> String {
    let SignaturesPerFault { median, most, decoders, unmerged } = &summary.signatures;
    let names = if decoders.is_empty() { String::new() } else { format!(" ({})", decoders.join(", ")) };
    let merged = format!("Findings per fault: median {}, at most {most}{names}", cost(*median));
    format!("{merged}; signatures before triage merges them: median {}, at most {}", cost(unmerged.0), unmerged.1)
}

fn caught(summary: &Summary<'_>) -> String {
    format!("{} of {}", summary.decoders - summary.by_none.len(), summary.decoders)
}

fn score_answer(summary: &Summary<'_>) -> (String, bool) {
    let verdict = if summary.is_clean() { "Clean" } else { "Not clean" };
    (format!("{verdict}: {} planted decoders are caught.", caught(summary)), summary.is_clean())
}

fn score_page(record: &Record, score: &Score) -> io::Result<Document> {
    let summary = Summary::of(score);
    let mut document = Document::new(format!("utfuzz score, {}", date(record.started)));
    let (words, is_good) = score_answer(&summary);
    document.blocks.push(Block::Answer { words, is_good });
    let mut tiles = vec![
        tile(caught(&summary), "planted decoders caught", if is_good { "good" } else { "new" }),
        tile(summary.wrong_runs, "runs with a signature that the fault does not imply", ""),
    ];
    tiles.extend(run_tiles(record));
    document.blocks.push(Block::Tiles { tiles });
    let seeds: Vec<String> = score.seeds.iter().map(u64::to_string).collect();
    let seeds = if seeds.is_empty() { "none".to_owned() } else { seeds.join(", ") };
    document.paragraph(format!(
        "At most {} s for each decoder, engine and seed; seeds {seeds}; {} in parallel. Sanitizer of the fuzz targets: {}.",
        short(score.budget_seconds),
        score.jobs,
        score.sanitizer.name(),
    ));
    document.blocks.push(Block::Figure {
        svg: svg::score(score)?,
        file: Some("score.svg"),
        caption: "Planted decoders caught over executions, one line for each engine. A line ends where the engine's \
                  longest run ended.",
    });
    document.heading(2, "Engines");
    document.paragraph(
        "Caught: in more than half of the runs. A run that missed counts as infinitely many executions. The last column \
         is over the decoders that plain caught: under 1 is fewer executions than plain.",
    );
    document.table(engines(&summary));
    let names = |names: &[&str]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    document.paragraph(format!("Caught by no engine: {}.", names(&summary.by_none)));
    document.paragraph(format!("{}, over all runs of the engines that report signatures.", signatures(&summary)));
    document.paragraph(format!("Never caught by plain: {}.", names(&summary.never_by_plain)));
    for left_out in &score.left_out {
        document.paragraph(format!(
            "Left out: {}, since it cannot be run here: {}",
            left_out.engine.name(),
            left_out.why
        ));
    }
    if !score.comparisons.is_empty() {
        document.heading(2, "Against the rivals");
        document.paragraph(format!(
            "Over the decoders that the rival catches: the geometric means of our executions and seconds, divided by \
             those of the rival; under 1, ours catches it sooner. A decoder that ours misses counts with the full \
             budget. Far behind: more than {} times later, in executions or in seconds.",
            Comparison::FAR,
        ));
        document.table(comparisons(score));
    }
    document.heading(2, "Decoders");
    document.paragraph(
        "For each engine: runs that caught the decoder, of all runs; then the median executions until then, or the most \
         executions of a run that missed it.",
    );
    let names = score.engines.iter().map(|engine| engine.name());
    let mut table = Table::new(["decoder", "fault"].into_iter().chain(names.clone()).chain(["reported"]));
    table.rows = score.rows.iter().map(|row| score_row(row, &score.engines)).collect();
    document.filters = collected(table.rows.iter().map(|row| row.data.clone()), &names.collect::<Vec<_>>());
    document.items = table.rows.len();
    document.blocks.push(Block::Filter);
    document.table(table);
    Ok(document)
}

fn score_row(row: &ScoreRow, engines: &[Engine]) -> Row {
    let mut details: Vec<String> = std::iter::once(&row.citation).chain(&row.signs).cloned().collect();
    for engine in engines {
        let runs = row.cell(*engine).map_or(&[][..], |cell| &cell.runs);
        details.extend(runs.iter().map(|run| format!("{}, {}", engine.name(), run_words(run))));
    }
    let name = Cell { head: true, strong: false, details, ..Cell::from(&*row.decoder) };
    let cells = engines.iter().map(|engine| {
        let cell = row.cell(*engine);
        let verdict = cell.and_then(ScoreCell::verdict);
        let words = format!("{} {}", verdict_name(verdict), cell.map(cell_words).unwrap_or_default());
        Cell {
            strong: !matches!(verdict, None | Some(Outcome::Caught)),
            class: verdict_name(verdict).replace(' ', "-"),
            ..Cell::from(words.trim_end())
        }
    });
    let values = engines.iter().map(|engine| {
        let cell = row.cell(*engine);
        let mut values = vec![verdict_name(cell.and_then(ScoreCell::verdict)).to_owned()];
        // A run with the wrong law should be found by the filter even if the cell is caught.
        let wrong = verdict_name(Some(Outcome::WrongLaw)).to_owned();
        if cell.is_some_and(|cell| cell.count(Outcome::WrongLaw) > 0) && !values.contains(&wrong) {
            values.push(wrong);
        }
        (engine.name(), values)
    });
    let data = values.collect();
    let cells = [name, Cell::from(&*row.fault)].into_iter().chain(cells).chain([Cell::from(reported(row))]);
    Row { data, cells: cells.collect(), ..Row::default() }
}

/// What the runs of a row reported, without duplicates; the details are in the JSON.
fn reported(row: &ScoreRow) -> String {
    const SHOWN: usize = 3;
    let mut seen: Vec<&str> = Vec::new();
    for signature in row.cells.iter().flat_map(|cell| &cell.runs).filter_map(|run| run.signature.as_deref()) {
        if !seen.contains(&signature) {
            seen.push(signature);
        }
    }
    let more = seen.len().saturating_sub(SHOWN);
    let shown = seen.into_iter().take(SHOWN).map(str::to_owned);
    let more = (more > 0).then(|| format!("{more} more"));
    shown.chain(more).collect::<Vec<_>>().join(", ")
}

fn verdict_name(verdict: Option<Outcome>) -> &'static str {
    match verdict {
        Some(Outcome::Caught) => "caught",
        Some(Outcome::WrongLaw) => "wrong law",
        Some(Outcome::Missed) => "missed",
        None => "not run",
    }
}

/// What follows the verdict of a cell: how many of its runs caught the decoder, and after how many executions.
fn cell_words(cell: &ScoreCell) -> String {
    let (caught, wrong) = (cell.count(Outcome::Caught), cell.count(Outcome::WrongLaw));
    let without = cell.runs.iter().filter(|run| run.outcome != Outcome::Caught);
    let most = without.map(|run| run.executions).max().unwrap_or(0) as f64;
    let words = match cell.verdict() {
        None => return String::new(),
        Some(Outcome::Caught) => format!("{caught}/{}, {}", cell.runs.len(), cost(cell.executions())),
        Some(_) => format!("{caught}/{}, up to {}", cell.runs.len(), short(most)),
    };
    if wrong > 0 { format!("{words}; wrong law {wrong}/{}", cell.runs.len()) } else { words }
}

fn run_words(run: &crate::engine::score::Run) -> String {
    let seed = run.seed.map(|seed| format!("seed {seed}: ")).unwrap_or_default();
    let outcome = verdict_name(Some(run.outcome));
    let signature = run.signature.as_deref().map(|text| format!(", {text}")).unwrap_or_default();
    format!("{seed}{outcome}{signature}; {} executions, {:.2} s", run.executions, run.seconds)
}

/// A median: `missed` if it is infinite, a dash if there is none.
fn cost(value: Option<f64>) -> String {
    match value {
        None => "–".into(),
        Some(value) if value == f64::INFINITY => "missed".into(),
        Some(value) => short(value),
    }
}

/// A ratio to another engine.
fn ratio(value: Option<f64>) -> String {
    match value {
        Some(value) if value.is_finite() => format!("× {}", short(value)),
        other => cost(other),
    }
}

// Coverage.

/// What `.ci/coverage` writes as JSON.
#[cfg(feature = "cli")]
#[derive(Deserialize)]
pub(super) struct CorpusCoverage {
    target: String,
    toolchain: Toolchain,
    corpora: Vec<Corpus>,
}

#[cfg(feature = "cli")]
#[derive(Deserialize)]
struct Toolchain {
    rustc: String,
    llvm: String,
}

#[cfg(feature = "cli")]
#[derive(Deserialize)]
struct Corpus {
    name: String,
    files: u64,
    bytes: u64,
    edges: Option<u64>,
    features: Option<u64>,
    directories: BTreeMap<String, Lines<u64>>,
    sources: BTreeMap<String, Lines<Vec<String>>>,
}

/// Lines with code, those that are run, and those in functions that are entered; `missed` are those of the latter that
/// are not run.
#[cfg(feature = "cli")]
#[derive(Deserialize)]
struct Lines<M> {
    lines: u64,
    covered: u64,
    percent: f64,
    entered: u64,
    missed: M,
}

#[cfg(feature = "cli")]
impl CorpusCoverage {
    /// The result in a few words.
    pub(super) fn answer(&self) -> String {
        let of = self.corpora.first().map(|corpus| corpus.directories.values()).into_iter().flatten();
        let (missed, entered) = of.fold((0, 0), |sum, lines| (sum.0 + lines.missed, sum.1 + lines.entered));
        let run = 100.0 * (1.0 - missed as f64 / (entered as f64).max(1.0));
        format!("Of the functions that it enters, the corpus runs {run:.1} % of the lines.")
    }

    pub(super) fn page(&self) -> Document {
        let mut document = Document::new(format!("utfuzz coverage of the target {}", self.target));
        document.blocks.push(Block::Answer { words: self.answer(), is_good: true });
        document.paragraph(
            "Some lines run only once a divergence is found, and some serve other commands. The last two columns are \
             therefore about the functions that are entered.",
        );
        for corpus in &self.corpora {
            document.heading(2, &corpus.name);
            let mut tiles = vec![tile(grouped(corpus.files), "files", ""), tile(grouped(corpus.bytes), "bytes", "")];
            tiles.extend(corpus.edges.map(|edges| tile(grouped(edges), "edges in libFuzzer", "")));
            tiles.extend(corpus.features.map(|features| tile(grouped(features), "features in libFuzzer", "")));
            document.blocks.push(Block::Tiles { tiles });
            let mut table =
                Table::new(["directory", "#lines", "#run", "#percent", "#in entered functions", "#not run"]);
            for (name, of) in &corpus.directories {
                let numbers = [of.lines, of.covered].map(grouped).into_iter();
                let entered = [format!("{:.1}", of.percent), grouped(of.entered), grouped(of.missed)];
                table.row([name.clone()].into_iter().chain(numbers).chain(entered));
            }
            document.table(table);
        }
        if let Some(corpus) = self.corpora.first() {
            document.heading(2, format!("By file: {}", corpus.name));
            let mut table = Table::new(["file", "#lines", "#run", "#percent", "lines not run, of entered functions"]);
            for (name, of) in &corpus.sources {
                let numbers = [grouped(of.lines), grouped(of.covered), format!("{:.1}", of.percent)];
                table.row([name.clone()].into_iter().chain(numbers).chain([of.missed.join(", ")]));
            }
            document.table(table);
        }
        document.heading(2, "What was run");
        document.paragraph(format!("{}, {}, with AddressSanitizer.", self.toolchain.rustc, self.toolchain.llvm));
        document
    }
}

// Throughput.

/// A picture of the main operations, then the figures of every subject on every text.
#[cfg(feature = "cli")]
pub(super) mod throughput {
    use super::*;
    use crate::bench::{Kind, Measured, Operation, Row as SpeedRow};
    use crate::report::document::three;
    use crate::text::printable;

    /// The operations in the picture.
    const OVERVIEW: [Operation; 6] = [
        Operation::Validate,
        Operation::Lossy,
        Operation::Utf16,
        Operation::FromUtf16,
        Operation::Utf32,
        Operation::FromUtf32,
    ];

    /// Texts of up to this many bytes have a table of their own.
    const SHORT: usize = 128;

    /// A line for each row: ours, the fastest peer, and how many times as fast ours is.
    pub(crate) fn own_and_best_peer(measured: &Measured) -> Table {
        let mut table = Table::new(["class", "operation", "text", "#bytes", "#own GB/s", "best peer", "#ratio"]);
        for row in &measured.rows {
            let speed = |time| row.throughput(time).map_or_else(dash, three);
            let own = row.cells.iter().find(|cell| cell.kind == Kind::Own);
            let ours = own.map_or_else(dash, |own| {
                own.time.map_or_else(|| if own.wrong { "wrong".into() } else { dash() }, speed)
            });
            let best = row.best_peer().map_or_else(dash, |(name, time)| format!("{name} {}", speed(time)));
            let ratio = own.and_then(|own| row.ratio(&own.name)).map_or_else(dash, three);
            table.row([
                row.class.clone(),
                row.operation.name().to_owned(),
                row.text.clone(),
                row.bytes.to_string(),
                ours,
                best,
                ratio,
            ]);
        }
        table
    }

    fn dash() -> String {
        "–".into()
    }

    /// The rows of each class of machines that was measured.
    fn classes(measured: &Measured) -> Vec<(&str, Vec<&SpeedRow>)> {
        let mut classes: Vec<(&str, Vec<&SpeedRow>)> = Vec::new();
        for row in &measured.rows {
            match classes.iter_mut().find(|(class, _)| *class == row.class) {
                Some((_, rows)) => rows.push(row),
                None => classes.push((&row.class, vec![row])),
            }
        }
        classes
    }

    /// Of the texts longer than [`SHORT`]: on how many ours is at least as fast as the fastest peer, and how many there are.
    fn wins(rows: &[&SpeedRow]) -> (usize, usize) {
        let long = rows.iter().filter(|row| row.bytes > SHORT);
        let ratios: Vec<f64> = long.filter_map(|row| row.ratio("own")).collect();
        (ratios.iter().filter(|ratio| **ratio >= 1.0).count(), ratios.len())
    }

    /// The result in a few words, for only the classes that were measured.
    pub(crate) fn answer(measured: &Measured) -> String {
        let classes = classes(measured).into_iter().map(|(class, rows)| {
            let (wins, of) = wins(&rows);
            format!("{wins} of {of} ({})", printable(class))
        });
        let classes: Vec<String> = classes.collect();
        format!("Ours is at least as fast as the fastest peer in {} measurements on long texts.", classes.join(", "))
    }

    /// The bars of the class that was measured first.
    pub(crate) fn picture(record: &Record, measured: &Measured) -> io::Result<String> {
        let classes = classes(measured);
        let (class, rows) = classes.first().map_or(("nothing", &[][..]), |(class, rows)| (*class, &rows[..]));
        svg::speeds(&OVERVIEW, rows, &source(record, class))
    }

    /// Where and when it was measured.
    fn source(record: &Record, class: &str) -> String {
        let machine = &record.machine;
        let processor = machine.processor.as_deref().unwrap_or(&machine.target);
        let (class, processor, version) = (printable(class), printable(processor), printable(&record.version));
        format!("{class}: one core of {processor}, utfuzz {version}, {}", date(record.started))
    }

    pub(crate) fn page(record: &Record, measured: &Measured) -> io::Result<Document> {
        let mut document = Document::new(format!("utfuzz throughput, {}", date(record.started)));
        document.blocks.push(Block::Answer { words: answer(measured), is_good: true });
        let classes = classes(measured);
        let mut tiles = Vec::new();
        for (class, rows) in &classes {
            let (wins, of) = wins(rows);
            tiles.push(tile(
                format!("{wins} of {of}, {}", printable(class)),
                "times ours is fastest, on long texts",
                "",
            ));
        }
        tiles.extend(run_tiles(record));
        document.blocks.push(Block::Tiles { tiles });
        document.paragraph(
            "Gigabytes (10⁹ bytes) of input in a second on one core, the median of the rounds. A dash: it cannot do this. \
             Wrong: its answer was not that of the standard, so it was not timed. Ratio: the time of the fastest peer divided \
             by ours. Before each pass over a text of 16 to 128 KiB, one of eight texts of the same kind is chosen, \
             and errors move; intact ASCII stays the same. The quartiles are \
             in throughput.json.",
        );
        if classes.len() > 1 {
            document.paragraph(
                "Each class of machines is measured in a process of its own, in which our decoder, simdutf and simdutf8 use no \
                 instructions beyond those of the class. std and encoding_rs are compiled for the plainest processor of the \
                 target, and are the same in every class.",
            );
        }
        for (at, (class, rows)) in classes.iter().enumerate() {
            document.heading(2, *class);
            document.blocks.push(Block::Figure {
                svg: svg::speeds(&OVERVIEW, rows, &source(record, class))?,
                file: (at == 0).then_some("throughput.svg"),
                caption: "Throughput by script; the tables have all operations and texts.",
            });
            for operation in Operation::ALL {
                let rows: Vec<&SpeedRow> = rows.iter().copied().filter(|row| row.operation == operation).collect();
                let (short, long): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.bytes <= SHORT);
                if long.is_empty() && short.is_empty() {
                    continue;
                }
                document.heading(3, operation.name());
                if !long.is_empty() {
                    document.table(long_texts(&long));
                }
                short_texts(&short, &mut document);
            }
        }
        Ok(document)
    }

    fn long_texts(rows: &[&SpeedRow]) -> Table {
        let names = rows.iter().take(1).flat_map(|row| &row.cells).map(|cell| format!("#{}", cell.name));
        let heads = ["text".to_owned(), "#bytes".to_owned()].into_iter().chain(names).chain(["#ratio".to_owned()]);
        let mut table = Table::new(heads);
        for row in rows {
            let cells = row.cells.iter().map(|cell| match cell.time {
                Some(time) => Cell::from(row.throughput(time).map_or_else(dash, three)),
                None if cell.wrong => Cell { strong: true, ..Cell::from("wrong") },
                None => Cell::from(dash()),
            });
            let heads = [row.text.clone(), grouped(row.bytes as u64)].map(Cell::from);
            let ratio = Cell::from(row.ratio("own").map_or_else(dash, three));
            table.row(heads.into_iter().chain(cells).chain([ratio]));
        }
        table
    }

    fn short_texts(rows: &[&SpeedRow], document: &mut Document) {
        let Some(first) = rows.first() else { return };
        let ratio = |row: &SpeedRow| row.ratio("own").map_or_else(dash, three);
        let slower = rows.iter().filter(|row| row.ratio("own").is_some_and(|ratio| ratio < 1.0));
        let slower: Vec<String> = slower.map(|row| format!("{} ({})", row.text, ratio(row))).collect();
        document.heading(4, "Short texts, nanoseconds");
        document.paragraph(format!(
            "Of {} texts of up to {SHORT} bytes ours is slower than the fastest peer on {}: {}.",
            rows.len(),
            slower.len(),
            if slower.is_empty() { "none".into() } else { slower.join(", ") },
        ));
        let names = first.cells.iter().filter(|cell| cell.kind != Kind::Kernel).map(|cell| format!("#{}", cell.name));
        let mut table = Table::new(["text".to_owned()].into_iter().chain(names).chain(["#ratio".to_owned()]));
        for row in rows.iter().filter(|row| row.bytes % 16 == 0 || row.bytes < 4) {
            let cells = row.cells.iter().filter(|cell| cell.kind != Kind::Kernel);
            let times = cells.map(|cell| cell.time.map_or_else(dash, |time| three(time.median)));
            table.row([row.text.clone()].into_iter().chain(times).chain([ratio(row)]));
        }
        document.table(table);
    }
}
