//! The layout of every kind of record as a [`Document`]: its headings, tables and pictures.

#[cfg(feature = "cli")]
use crate::bench::{Kind, Measured, Operation};
use crate::engine::score::{Cell as ScoreCell, Engine, Outcome, Row as ScoreRow, Score};
use crate::engine::score::{Figures, Summary};
use crate::judge::Law;
#[cfg(feature = "cli")]
use crate::report::document::three;
use crate::report::document::{
    Block, Cell, CodeLine, Data, Document, Filter, Row, Table, code, command, date, fixed, grouped, paragraph, plain,
    short, strong,
};
use crate::report::record::{Agreement, Check, Cluster, Coverage, CoveredSet, Member, Record, Section, Triage};
use crate::report::svg;
use crate::text::{counted, printable};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// The document of a record.
///
/// # Errors
/// A picture cannot be drawn.
pub(super) fn document(record: &Record) -> io::Result<Document> {
    let mut document = match &record.section {
        Section::Check(check) => {
            let mut document = Document::new("Check");
            document.blocks.extend(check_blocks(record, check));
            document
        }
        Section::Triage(triage) => findings(record, triage)?,
        Section::Score { score } => score_page(record, score)?,
        #[cfg(feature = "cli")]
        Section::Throughput(measured) => throughput(record, measured)?,
    };
    document.blocks.extend(run(record));
    Ok(document)
}

/// Where and how a record was made.
fn run(record: &Record) -> Vec<Block> {
    let machine = &record.machine;
    let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let facts = vec![
        ("command", vec![command(&record.command), plain(format!(", {}", date(record.started)))]),
        ("utfuzz", vec![plain(format!("{}, {:.1} s", record.version, record.seconds))]),
        ("machine", vec![plain(format!("{}, {} threads, rustc {}", machine.target, machine.threads, machine.rustc))]),
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
        let numbers = [judged.comparisons.unwrap_or(0), known, new].map(|number| number.to_string());
        table.row([judged.name.clone(), judged.version.clone()].into_iter().chain(numbers));
    }
    table
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
                coverage.parts.iter().map(|part| format!("{} {:.1} s", part.name, part.seconds)).collect();
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
    blocks.extend(silent.chain(stale).map(alert));
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
        let lineage = judged.lineage.iter().map(|(from, name)| match from {
            0 => name.clone(),
            from => format!("from {from} bytes on {name}"),
        });
        let lineage: Vec<_> = lineage.collect();
        let of_part = |part: &crate::report::record::CoveredPart| {
            grouped(part.comparisons.get(index).map_or(0, |(_, count)| *count))
        };
        let cells = [judged.name.clone(), judged.version.clone(), lineage.join(", "), judged.contract.clone()];
        table.row(cells.into_iter().chain(coverage.parts.iter().map(of_part)));
    }
    table
}

// A triage.

/// Where a witness is cut, to be appended to it.
pub(super) fn cut_at(member: &Member) -> String {
    let cuts = member.cuts.as_ref().filter(|cuts| !cuts.is_empty());
    cuts.map_or(String::new(), |cuts| format!(", cut at {cuts:?}"))
}

/// How many inputs and clusters a triage has, by status.
pub(super) fn totals(triage: &Triage) -> String {
    let of = |status| triage.count(status);
    let shows = if triage.quiet == 1 { "shows" } else { "show" };
    format!(
        "{}, {} {shows} nothing; {}: {} new, {}, {} known",
        counted(triage.inputs as usize, "input"),
        triage.quiet,
        counted(triage.clusters.len(), "cluster"),
        of("new"),
        counted(of("regression"), "regression"),
        of("known"),
    )
}

fn findings(record: &Record, triage: &Triage) -> io::Result<Document> {
    let mut document = Document::new("Findings");
    document.filters = filters(triage);
    document.items = triage.members().count();
    document.paragraph(format!("{}. Begun {}.", totals(triage), date(record.started)));
    let mut clusters = Table::new(["#cluster", "status", "#inputs", "signature", "witness"]);
    for (index, cluster) in triage.clusters.iter().enumerate() {
        let first = cluster.members.first();
        clusters.row([
            (index + 1).to_string(),
            cluster.status.clone(),
            cluster.inputs.to_string(),
            first.map_or(String::new(), |member| member.signature.clone()),
            first.map_or(String::new(), |member| member.notation.clone()),
        ]);
    }
    document.table(clusters);
    let alert = |text: String, alert| Block::Paragraph { spans: vec![plain(text)], alert };
    document.blocks.extend(triage.faults.iter().map(|text| alert(format!("Fault: {text}"), true)));
    document.blocks.extend(triage.unread.iter().map(|text| alert(format!("Unread: {text}"), false)));
    document.blocks.extend(triage.slow.iter().map(|text| alert(format!("Slow: {text}"), false)));
    document.blocks.push(Block::Filter);
    for (index, of) in triage.clusters.iter().enumerate() {
        document.blocks.push(cluster(index, of));
    }
    agreement(&triage.agreement, &mut document);
    document.heading(2, "Decoders");
    let mut table = Table::new(["decoder", "version", "contract"]);
    record.decoders.iter().for_each(|of| table.row([&*of.name, &*of.version, &*of.contract]));
    document.table(table);
    if !triage.targets.is_empty() {
        document.heading(2, "Targets");
        let mut table = Table::new(["target", "#seconds", "#executions", "#corpus"]);
        for of in &triage.targets {
            let seconds = format!("{:.0}", of.seconds);
            table.row([of.name.clone(), seconds, of.executions.to_string(), of.corpus.to_string()]);
        }
        document.table(table);
    }
    if !triage.history.is_empty() {
        nights(triage, &mut document)?;
    }
    Ok(document)
}

/// The subjects of this signature and of the others with the same cause.
fn kinds(member: &Member) -> Vec<String> {
    let others = member.others.iter().filter_map(|signature| signature.split('/').nth(2));
    std::iter::once(&*member.subject).chain(others).map(printable).collect()
}

fn data(member: &Member) -> Data {
    vec![
        ("decoder", vec![printable(&member.decoder)]),
        ("law", vec![printable(&member.law)]),
        ("kind", kinds(member)),
        ("status", vec![printable(&member.status)]),
    ]
}

fn filters(triage: &Triage) -> Vec<Filter> {
    collected(triage.members().map(data), &["decoder", "law", "kind", "status"])
}

fn collected(data: impl Iterator<Item = Data>, names: &[&'static str]) -> Vec<Filter> {
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, of) in data.flatten() {
        values.entry(name).or_default().extend(of);
    }
    let filter =
        |name: &&'static str| Filter { name, values: values.remove(*name).unwrap_or_default().into_iter().collect() };
    names.iter().map(filter).collect()
}

fn cluster(index: usize, cluster: &Cluster) -> Block {
    let text = format!("Cluster {}: {}, {}", index + 1, cluster.status, counted(cluster.inputs as usize, "input"));
    let heading = Block::Heading { level: 2, text };
    Block::Group { blocks: [heading].into_iter().chain(cluster.members.iter().map(member)).collect() }
}

fn member(member: &Member) -> Block {
    let known_as = member.known_as.as_ref().map_or(String::new(), |known_as| format!(" as {known_as}"));
    let law = Law::ALL.iter().find(|law| law.name() == member.law).map_or("", |law| law.sentence());
    let mut facts = vec![
        ("decoder", vec![plain(format!("{} {}", member.decoder, member.version))]),
        ("status", vec![plain(format!("{}{known_as}; {}", member.status, counted(member.inputs as usize, "input")))]),
        ("law", vec![plain(format!("{}: {law}", member.law))]),
    ];
    if !member.others.is_empty() {
        facts.push(("also", vec![plain(member.others.join(", "))]));
    }
    if let Some(rule) = &member.rule {
        facts.push(("rule", vec![plain(format!("{} [{}]", rule.says, rule.source))]));
    }
    facts.push(("witness", vec![fixed(&member.notation), plain(cut_at(member))]));
    facts.push(("in hexadecimal", vec![fixed(&member.witness_hex)]));
    if let Some(agreeing) = &member.agreeing {
        facts.push(("nearest input without", vec![fixed(agreeing)]));
    }
    if let Some(kept) = &member.kept {
        facts.push(("kept as", vec![plain(kept)]));
    }
    facts.push(("found in", vec![plain(member.files.join(", "))]));
    let lines = member.annotated.lines();
    let annotated = lines.map(|line| CodeLine { text: line.to_owned(), alert: line.starts_with('!') }).collect();
    let mut answers = Table::new(["question", "answer", "standard", "decoders", "implementations"]);
    for answer in &member.answers {
        let is_breach = !answer.breaches.is_empty();
        let standard = Cell { strong: is_breach, ..Cell::from(if answer.arbiter { "yes" } else { "no" }) };
        let [question, text] = [&answer.question, &answer.answer].map(|text| Cell::from(&**text));
        let [decoders, lineages] = [&answer.decoders, &answer.lineages].map(|names| Cell::from(names.join(", ")));
        let class = if is_breach { "fault" } else { "" };
        let cells = vec![question, text, standard, decoders, lineages];
        answers.rows.push(Row { class, cells, ..Row::default() });
    }
    Block::Item {
        level: 3,
        title: vec![strong(&member.signature), plain(format!(" {}: ", member.status)), fixed(&member.notation)],
        class: ["new", "regression"].into_iter().find(|status| *status == member.status).unwrap_or("known"),
        open: member.status == "new",
        data: data(member),
        blocks: vec![
            Block::Facts { facts },
            Block::Code { language: "text", lines: annotated },
            Block::Table(answers),
            Block::Fold {
                title: "A test that fails until the decoder is fixed",
                blocks: vec![code("rust", &member.test)],
            },
        ],
    }
}

fn agreement(agreement: &Agreement, document: &mut Document) {
    document.heading(2, "Agreement");
    document.paragraph(format!(
        "On how many of {} inputs each gives the same verdict and output as the one most like it. Decoders under \
         different contracts differ.",
        agreement.inputs
    ));
    let count = agreement.decoders.len();
    let mut table = Table::new(["decoder", "most like", "#same", "#of"]);
    for (row, name) in agreement.decoders.iter().enumerate() {
        let others = (0..count).filter(|column| *column != row);
        // Ratios are compared without division; the first of equal ones is taken.
        let shares = others.map(|column| (agreement.pair(row, column), column)).filter(|((_, asked), _)| *asked > 0);
        let most = shares.reduce(|best, next| if next.0.0 * best.0.1 > best.0.0 * next.0.1 { next } else { best });
        if let Some(((same, asked), column)) = most {
            table.row([name.clone(), agreement.decoders[column].clone(), same.to_string(), asked.to_string()]);
        }
    }
    document.table(table);
    let mut grid = Table::new([""].into_iter().chain(agreement.decoders.iter().map(|name| &**name)));
    (grid.class, grid.caption) = ("grid", "In percent, rounded down.");
    for (row, name) in agreement.decoders.iter().enumerate() {
        let head = Cell { head: true, ..Cell::from(&**name) };
        let cells = (0..count).map(|column| {
            let (same, asked) = agreement.pair(row, column);
            let pair = format!("{name} and {}", agreement.decoders[column]);
            // Rounded down, so that only decoders that always agree show 100.
            match (u128::from(same) * 100).checked_div(u128::from(asked)) {
                None => {
                    Cell {
                        class: "none".into(), title: format!("{pair} have no answer in common"), ..Cell::from("–")
                    }
                }
                Some(share) => Cell {
                    class: format!("a{}", share / 10),
                    title: format!("{pair} agree on {same} of {asked}"),
                    ..Cell::from(share.to_string())
                },
            }
        });
        grid.rows.push(Row { cells: [head].into_iter().chain(cells).collect(), ..Row::default() });
    }
    document.blocks.push(Block::Page { blocks: vec![Block::Table(grid)] });
}

fn nights(triage: &Triage, document: &mut Document) -> io::Result<()> {
    document.heading(2, "Nights");
    let names = ["night", "version", "#executions", "#corpus", "#clusters", "#new", "#regressions", "#known"];
    let mut table = Table::new(names);
    for of in &triage.history {
        let numbers = [of.executions, of.corpus, of.clusters, of.new, of.regression, of.known];
        let texts = [date(of.started), of.version.clone()];
        table.row(texts.into_iter().chain(numbers.map(|number| number.to_string())));
    }
    document.table(table);
    let charts: [(_, &[svg::Line]); 3] = [
        (
            "Clusters by night",
            &[("new", |night| night.new), ("regression", |night| night.regression), ("known", |night| night.known)],
        ),
        ("Executions by night", &[("executions", |night| night.executions)]),
        ("Files of the corpora by night", &[("files", |night| night.corpus)]),
    ];
    for (caption, lines) in charts {
        document.blocks.push(Block::Figure { svg: svg::nights(caption, lines, &triage.history)?, file: None, caption });
    }
    Ok(())
}

// A score.

fn engine_words(engine: Engine) -> &'static str {
    match engine {
        Engine::Exhaustive => "every class string of the plan, in order",
        Engine::Structured => "structured inputs generated from a seed",
        Engine::Plain => "libFuzzer: its own mutations, code coverage",
        Engine::Mutator => "libFuzzer: our mutator, code coverage",
        Engine::Behaviour => "libFuzzer: our mutator, behaviour features",
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

fn score_page(record: &Record, score: &Score) -> io::Result<Document> {
    let summary = Summary::of(score);
    let mut document = Document::new("Score");
    let verdict = if summary.is_clean() { "Clean:" } else { "Not clean:" };
    let caught = summary.decoders - summary.by_none.len();
    document.blocks.push(paragraph([
        strong(verdict),
        plain(format!(
            " {caught} of {} planted decoders are caught. Runs that reported a signature the fault does not imply: {}.",
            summary.decoders, summary.wrong_runs
        )),
    ]));
    let seeds: Vec<String> = score.seeds.iter().map(u64::to_string).collect();
    let seeds = if seeds.is_empty() { "none".to_owned() } else { seeds.join(", ") };
    document.paragraph(format!(
        "At most {} s for each decoder, engine and seed; seeds {seeds}; {} in parallel; {:.0} s in total.",
        short(score.budget_seconds),
        score.jobs,
        record.seconds,
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
    document.paragraph(format!("Never caught by plain: {}.", names(&summary.never_by_plain)));
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
    let details = std::iter::once(&row.citation).chain(&row.signs).cloned().collect();
    let name = Cell { head: true, strong: false, details, ..Cell::from(&*row.decoder) };
    let cells = engines.iter().map(|engine| {
        let cell = row.cell(*engine);
        let verdict = cell.and_then(ScoreCell::verdict);
        let words = format!("{} {}", verdict_name(verdict), cell.map(cell_words).unwrap_or_default());
        Cell {
            strong: !matches!(verdict, None | Some(Outcome::Caught)),
            class: verdict_name(verdict).replace(' ', "-"),
            details: cell.map_or(&[][..], |cell| &cell.runs).iter().map(run_words).collect(),
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

/// A ratio to the executions of `Plain`.
fn ratio(value: Option<f64>) -> String {
    match value {
        Some(value) if value.is_finite() => format!("× {}", short(value)),
        other => cost(other),
    }
}

// Throughput.

/// Texts of up to this many bytes have a table of their own.
#[cfg(feature = "cli")]
const SHORT: usize = 128;

/// A line for each row: ours, the fastest peer, and how many times as fast ours is.
#[cfg(feature = "cli")]
pub(super) fn own_and_best_peer(measured: &Measured) -> Table {
    let mut table = Table::new(["operation", "text", "#bytes", "#own GB/s", "best peer", "#ratio"]);
    for row in &measured.rows {
        let speed = |time| row.throughput(time).map_or_else(dash, three);
        let own = row.cells.iter().find(|cell| cell.kind == Kind::Own);
        let ours = own
            .map_or_else(dash, |own| own.time.map_or_else(|| if own.wrong { "wrong".into() } else { dash() }, speed));
        let best = row.best_peer().map_or_else(dash, |(name, time)| format!("{name} {}", speed(time)));
        let ratio = own.and_then(|own| row.ratio(&own.name)).map_or_else(dash, three);
        table.row([row.operation.name().to_owned(), row.text.clone(), row.bytes.to_string(), ours, best, ratio]);
    }
    table
}

#[cfg(feature = "cli")]
fn dash() -> String {
    "–".into()
}

#[cfg(feature = "cli")]
fn throughput(record: &Record, measured: &Measured) -> io::Result<Document> {
    let mut document = Document::new("Throughput");
    let processor = record.machine.processor.clone().unwrap_or_else(|| "an unnamed processor".into());
    document.paragraph(format!(
        "Gigabytes of input in a second, one core of {processor}, the median of the rounds; a dash: it cannot do this; \
         wrong: its answer was not that of the standard, so it was not timed. The last column is the time of the fastest \
         peer divided by ours. The quartiles are in throughput.json."
    ));
    document.blocks.push(Block::Figure {
        svg: svg::throughput(measured)?,
        file: Some("throughput.svg"),
        caption: "Times as fast as the fastest peer, for each operation and text",
    });
    for operation in Operation::ALL {
        let rows: Vec<_> = measured.rows.iter().filter(|row| row.operation == operation).collect();
        let (short, long): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.bytes <= SHORT);
        if let Some(first) = long.first() {
            document.heading(2, operation.name());
            let names = first.cells.iter().map(|cell| format!("#{}", cell.name));
            let heads = ["text".to_owned(), "#bytes".to_owned()].into_iter().chain(names).chain(["#ratio".to_owned()]);
            let mut table = Table::new(heads);
            for row in long {
                let cells = row.cells.iter().map(|cell| match cell.time {
                    Some(time) => Cell::from(row.throughput(time).map_or_else(dash, three)),
                    None if cell.wrong => Cell { strong: true, ..Cell::from("wrong") },
                    None => Cell::from(dash()),
                });
                let heads = [&*row.text, &*row.bytes.to_string()].map(Cell::from);
                let ratio = Cell::from(row.ratio("own").map_or_else(dash, three));
                table.row(heads.into_iter().chain(cells).chain([ratio]));
            }
            document.table(table);
        }
        short_texts(&short, &mut document);
    }
    Ok(document)
}

#[cfg(feature = "cli")]
fn short_texts(rows: &[&crate::bench::Row], document: &mut Document) {
    let Some(first) = rows.first() else { return };
    let ratio = |row: &crate::bench::Row| row.ratio("own").map_or_else(dash, three);
    let slower = rows.iter().filter(|row| row.ratio("own").is_some_and(|ratio| ratio < 1.0));
    let slower: Vec<String> = slower.map(|row| format!("{} ({})", row.text, ratio(row))).collect();
    document.heading(3, "Short texts, nanoseconds");
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
