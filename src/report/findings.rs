//! The layout of a triage: what was found, the answer first, then each signature by decoder.

use crate::judge::Law;
use crate::report::document::{
    Block, BytesLine, Cell, Data, Document, Row, Span, Table, cited, code, collected, date, duration, fixed, grouped,
    plain, run_tiles, strong, tile,
};
use crate::report::record::{Agreement, Cluster, Judged, Member, Record, Triage};
use crate::report::svg;
use crate::text::{counted, printable};
use std::collections::BTreeMap;
use std::io;

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

/// The result in a few words, and whether it is good.
pub(super) fn answer(triage: &Triage) -> (String, bool) {
    match (triage.count("new"), triage.faults.len()) {
        (0, 0) => ("Clean: nothing new.".into(), true),
        (0, faults) => (format!("Nothing new, but {}: the run is not complete.", counted(faults, "fault")), false),
        (new, _) => (format!("Not clean: {}.", counted(new, "new cause")), false),
    }
}

pub(super) fn findings(record: &Record, triage: &Triage) -> io::Result<Document> {
    let name = if triage.targets.is_empty() { "findings" } else { "night" };
    let mut document = Document::new(format!("utfuzz {name}, {}", date(record.started)));
    document.filters = collected(triage.members().map(data), &["decoder", "law", "kind", "status"]);
    document.items = triage.members().count();
    let (words, is_good) = answer(triage);
    document.blocks.push(Block::Answer { words, is_good });
    let of = |status, class| tile(triage.count(status), status, if triage.count(status) > 0 { class } else { "" });
    let mut tiles = vec![of("new", "new"), of("regression", "regression"), of("known", "known")];
    tiles.push(tile(grouped(triage.inputs), "inputs judged", ""));
    tiles.extend(run_tiles(record));
    document.blocks.push(Block::Tiles { tiles });
    let judged = counted(triage.inputs as usize, "input");
    let causes = match triage.clusters.len() {
        0 => String::new(),
        count => format!(" The others have {}, listed below with the smallest input of each.", counted(count, "cause")),
    };
    document.paragraph(format!("{judged} judged, {} of them without a divergence.{causes}", grouped(triage.quiet)));
    let alert = |text: String, alert| Block::Paragraph { spans: vec![plain(text)], alert };
    document.blocks.extend(triage.faults.iter().map(|text| alert(format!("Fault: {text}"), true)));
    document.blocks.extend(triage.unread.iter().map(|text| alert(format!("Unread: {text}"), false)));
    document.blocks.extend(triage.slow.iter().map(|text| alert(format!("Slow: {text}"), false)));
    let mut causes = Table::new(["status", "signature", "#inputs", "smallest input"]);
    for (index, cluster) in triage.clusters.iter().enumerate() {
        let Some(first) = cluster.members.first() else { continue };
        causes.row([
            Cell { strong: cluster.status == "new", ..Cell::from(&*cluster.status) },
            Cell { href: format!("#{}", id(index, 0)), ..Cell::from(&*first.signature) },
            Cell::from(grouped(cluster.inputs)),
            Cell { code: true, ..Cell::from(witness(first)) },
        ]);
    }
    if !causes.rows.is_empty() {
        document.table(causes);
        document.blocks.push(Block::Filter);
    }
    let mut decoders: Vec<&str> = Vec::new();
    for first in triage.clusters.iter().filter_map(|cluster| cluster.members.first()) {
        if !decoders.contains(&&*first.decoder) {
            decoders.push(&first.decoder);
        }
    }
    for decoder in decoders {
        let of_decoder = |cluster: &&Cluster| cluster.members.first().is_some_and(|first| first.decoder == decoder);
        let clusters = triage.clusters.iter().enumerate().filter(|(_, cluster)| of_decoder(cluster));
        let heading = Block::Heading { level: 2, text: decoder.to_owned() };
        let blocks = [heading].into_iter().chain(clusters.map(|(index, of)| cluster(index, of))).collect();
        document.blocks.push(Block::Group { blocks });
    }
    agreement(&triage.agreement, &record.decoders, &mut document);
    document.heading(2, "Decoders");
    let mut table = Table::new(["decoder", "version", "contract"]);
    record.decoders.iter().for_each(|of| table.row([&*of.name, &*of.version, &*of.contract]));
    document.table(table);
    if !triage.targets.is_empty() {
        document.heading(2, "Targets");
        let mut table = Table::new(["target", "#time", "#executions", "#corpus"]);
        for of in &triage.targets {
            table.row([of.name.clone(), duration(of.seconds), grouped(of.executions), grouped(of.corpus)]);
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

fn id(cluster: usize, member: usize) -> String {
    format!("cause-{}-{}", cluster + 1, member + 1)
}

/// A cause: its signatures, with a heading if there are several.
fn cluster(index: usize, cluster: &Cluster) -> Block {
    let count = cluster.members.len();
    let text = format!("{} with the same cause, {}", counted(count, "signature"), cluster.status);
    let heading = (count > 1).then_some(Block::Heading { level: 3, text });
    let members = cluster.members.iter().enumerate().map(|(place, of)| member(id(index, place), of));
    Block::Group { blocks: heading.into_iter().chain(members).collect() }
}

/// The bytes of hexadecimal digits; of a long input, its length and its short notation.
fn spaced(hex: &str, notation: &str) -> String {
    const SHOWN: usize = 24;
    let digits: Vec<char> = hex.chars().collect();
    match digits.len().div_ceil(2) {
        0 => "no bytes".into(),
        len if len > SHOWN => format!("{len} bytes: {notation}"),
        _ => digits.chunks(2).map(|pair| pair.iter().collect::<String>()).collect::<Vec<_>>().join(" "),
    }
}

fn witness(member: &Member) -> String {
    spaced(&member.witness_hex, &member.notation)
}

fn member(id: String, member: &Member) -> Block {
    let known_as = member.known_as.as_ref().map_or(String::new(), |known_as| format!(" as {known_as}"));
    let law = Law::ALL.iter().find(|law| law.name() == member.law).map_or("", |law| law.sentence());
    let mut facts = vec![
        ("decoder", vec![plain(format!("{} {}", member.decoder, member.version))]),
        ("status", vec![plain(format!("{}{known_as}; {}", member.status, counted(member.inputs as usize, "input")))]),
        ("law", vec![plain(format!("{}: {law}", member.law))]),
    ];
    if let Some(rule) = &member.rule {
        let says = [plain(format!("{} [", rule.says))].into_iter();
        facts.push(("rule", says.chain(cited(&rule.source)).chain([plain("]")]).collect()));
    }
    if let Some(agreeing) = &member.agreeing {
        let bytes = spaced(member.agreeing_hex.as_deref().unwrap_or_default(), agreeing);
        facts.push(("right about", vec![fixed(bytes), plain(", the nearest input found")]));
    }
    if !member.others.is_empty() {
        facts.push(("also", vec![plain(member.others.join(", "))]));
    }
    if let Some(kept) = &member.kept {
        facts.push(("kept as", vec![plain(kept)]));
    }
    let mut answers = Table::new(["question", "answer", "as the contract", "decoders", "implementations"]);
    for answer in &member.answers {
        let is_breach = !answer.breaches.is_empty();
        let standard = Cell { strong: is_breach, ..Cell::from(if answer.arbiter { "yes" } else { "no" }) };
        let [question, text] = [&answer.question, &answer.answer].map(|text| Cell::from(&**text));
        let [decoders, lineages] = [&answer.decoders, &answer.lineages].map(|names| Cell::from(names.join(", ")));
        let class = if is_breach { "fault" } else { "" };
        let cells = vec![question, text, standard, decoders, lineages];
        answers.rows.push(Row { class, cells, ..Row::default() });
    }
    let cut = cut_at(member);
    let files = member.files.iter().enumerate();
    let files = files.flat_map(|(index, file)| [plain(if index > 0 { ", " } else { "Found in " }), plain(file)]);
    Block::Item {
        level: 3,
        id,
        title: vec![
            strong(&member.signature),
            plain(format!(", {}: ", member.status)),
            fixed(witness(member)),
            plain(cut),
        ],
        class: ["new", "regression"].into_iter().find(|status| *status == member.status).unwrap_or("known"),
        open: member.status == "new",
        data: data(member),
        blocks: vec![
            Block::Bytes { lines: member.annotated.lines().map(bytes_line).collect() },
            Block::Facts { facts },
            Block::Table(answers),
            Block::Fold {
                title: "Files that show it",
                blocks: vec![Block::Paragraph { spans: files.collect(), alert: false }],
            },
            Block::Fold {
                title: "A test that fails until the decoder is fixed",
                blocks: vec![code("rust", &member.test)],
            },
        ],
    }
}

/// A line of [`crate::explain::annotate`]: a mark, the offset, the bytes, the reading with the clause in brackets. A line
/// of another form is shown as it is.
fn bytes_line(text: &str) -> BytesLine {
    let line = |offset: &str, bytes: &str, reading: Vec<Span>| BytesLine {
        text: text.to_owned(),
        offset: offset.to_owned(),
        bytes: bytes.to_owned(),
        reading,
        alert: text.starts_with('!'),
    };
    let parts = text.get(2..).and_then(|rest| {
        let (offset, rest) = rest.trim_start().split_once("  ")?;
        let (bytes, reading) = rest.split_once("  ")?;
        offset.parse::<usize>().ok().map(|_| (offset, bytes, reading.trim_start()))
    });
    let Some((offset, bytes, reading)) = parts else { return line("", "", vec![plain(text.trim_start())]) };
    let clause = reading.strip_suffix(']').and_then(|reading| reading.rsplit_once(" ["));
    match clause.filter(|_| text.starts_with('!')) {
        Some((says, source)) => {
            let says = [plain(format!("{says} ["))].into_iter();
            line(offset, bytes, says.chain(cited(source)).chain([plain("]")]).collect())
        }
        None => line(offset, bytes, vec![plain(reading)]),
    }
}

/// The decoders of each grammar, those with the same implementation next to each other.
fn families(agreement: &Agreement, judged: &[Judged]) -> BTreeMap<String, Vec<usize>> {
    let mut families: BTreeMap<String, Vec<(String, usize)>> = BTreeMap::new();
    for (index, name) in agreement.decoders.iter().enumerate() {
        let of = judged.iter().find(|judged| judged.name == *name);
        let runs = of.and_then(|of| of.lineage.last()).map_or("", |(_, name)| name);
        let grammar = of.map_or("", Judged::grammar);
        families.entry(grammar.to_owned()).or_default().push((runs.to_owned(), index));
    }
    let sorted = |mut of: Vec<(String, usize)>| {
        of.sort();
        of.into_iter().map(|(_, index)| index).collect()
    };
    families.into_iter().map(|(grammar, of)| (grammar, sorted(of))).collect()
}

fn agreement(agreement: &Agreement, judged: &[Judged], document: &mut Document) {
    document.heading(2, "Agreement");
    document.paragraph(format!(
        "On how many of {} two decoders of the same grammar give the same verdict and output: the seeds, and the smallest \
         inputs above.",
        counted(agreement.inputs as usize, "input")
    ));
    let mut table = Table::new(["grammar", "decoder", "most like", "#same", "#of"]);
    let mut grids = Vec::new();
    for (grammar, family) in families(agreement, judged) {
        for &row in &family {
            let others = family.iter().copied().filter(|column| *column != row);
            // Ratios are compared without division; the first of equal ones is taken.
            let shares =
                others.map(|column| (agreement.pair(row, column), column)).filter(|((_, asked), _)| *asked > 0);
            let most = shares.reduce(|best, next| if next.0.0 * best.0.1 > best.0.0 * next.0.1 { next } else { best });
            if let Some(((same, asked), column)) = most {
                let names = [row, column].map(|index| agreement.decoders[index].clone());
                table.row(
                    [grammar.clone()].into_iter().chain(names).chain([same, asked].map(|number| number.to_string())),
                );
            }
        }
        if family.len() > 1 {
            let text = format!("{grammar}, in percent");
            grids.extend([Block::Heading { level: 3, text }, Block::Table(grid(agreement, &family))]);
        }
    }
    document.table(table);
    document.blocks.push(Block::Page { blocks: grids });
}

fn grid(agreement: &Agreement, family: &[usize]) -> Table {
    let name = |index: usize| &*agreement.decoders[index];
    let mut grid = Table::new([""].into_iter().chain(family.iter().map(|index| name(*index))));
    (grid.class, grid.caption) =
        ("grid", "Rounded down; decoders that share an implementation are next to each other.");
    for &row in family {
        let cells = family.iter().map(|&column| {
            let (same, asked) = agreement.pair(row, column);
            let pair = format!("{} and {}", name(row), name(column));
            // Rounded down, so that only decoders that always agree show 100.
            match (u128::from(same) * 100).checked_div(u128::from(asked)) {
                None => {
                    Cell {
                        class: "none".into(), title: format!("{pair} have no answer in common"), ..Cell::from("–")
                    }
                }
                Some(share) => Cell {
                    class: format!("a{}", share.min(100) / 10),
                    title: format!("{pair} agree on {same} of {asked}"),
                    ..Cell::from(share.to_string())
                },
            }
        });
        let head = Cell { head: true, ..Cell::from(name(row)) };
        grid.rows.push(Row { cells: [head].into_iter().chain(cells).collect(), ..Row::default() });
    }
    grid
}

fn nights(triage: &Triage, document: &mut Document) -> io::Result<()> {
    document.heading(2, "Nights");
    let names = ["night", "version", "#executions", "#corpus", "#clusters", "#new", "#regressions", "#known"];
    let mut table = Table::new(names);
    for of in &triage.history {
        let numbers = [of.executions, of.corpus, of.clusters, of.new, of.regression, of.known];
        let texts = [date(of.started), of.version.clone()];
        table.row(texts.into_iter().chain(numbers.map(grouped)));
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
