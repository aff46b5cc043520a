//! Records in which every text is hostile, and the same records with harmless texts.

use utfuzz::engine::score::{Behind, Cell, Comparison, Engine, LeftOut, Outcome, Row, Run, Score};
use utfuzz::report::record::*;
use utfuzz::report::{Night, Record};

/// Texts that a page, a terminal, a table or a parser may misinterpret.
pub(crate) const HOSTILE: [&str; 13] = [
    "<script>document.documentElement.dataset.pwned = 1</script>",
    "\"'><img src=x onerror=document.documentElement.dataset.pwned=1>",
    "</script></style></title></pre></textarea><script>document.documentElement.dataset.pwned = 1</script>",
    "a\nb\r\n\n# c\n---\n```\n</pre>\n!x\n    y",
    "a | b \\| c \\",
    "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\0\u{7f}\u{fffe}\u{ffff}",
    "\u{202e}txt\u{2066}\u{200b}\u{feff}\u{2028}",
    "`*b*` _i_ ~~s~~ [l](javascript:alert(1)) ![i](//x) https://x.example www.x.example a@x.example $m$ &lt; &#x3c;",
    "]]> --> */ ?> <![CDATA[ {{ 7 * 7 }} {% raw %} {0}",
    "````\n<b>````",
    "javascript:alert(1)//\" onfocus=\"alert(1)\" autofocus=\"",
    "../../../etc/passwd",
    "\u{fffd}\u{fffd}: a name that was not UTF-8",
];

fn hostile_texts() -> Vec<String> {
    let mut texts = HOSTILE.map(str::to_owned).to_vec();
    texts.push(format!("{}<b>", "very long ".repeat(2000)));
    texts
}

fn tame_texts() -> Vec<String> {
    (0..=HOSTILE.len()).map(|index| format!("tame {index}")).collect()
}

fn with_section(texts: &[String], section: Section) -> Record {
    let judged = |text: &String| Judged {
        name: text.clone(),
        version: text.clone(),
        package: text.clone(),
        contract: format!("rfc3629 {text}"),
        comparisons: Some(7),
        lineage: vec![(0, text.clone()), (16, text.clone())],
    };
    Record {
        schema: SCHEMA,
        version: texts[0].clone(),
        // The command is never untrusted.
        command: "utfuzz triage".into(),
        started: 1_800_000_000,
        seconds: 1.5,
        machine: Machine {
            target: texts[1].clone(),
            processor: Some(texts[0].clone()),
            features: texts.to_vec(),
            missing: texts.to_vec(),
            threads: 2,
            rustc: texts[1].clone(),
        },
        decoders: texts.iter().map(judged).collect(),
        section,
    }
}

/// The record of a triage, with each text in every place for text.
pub(crate) fn record(texts: &[String]) -> Record {
    let cluster = |text: &String| Cluster {
        status: text.clone(),
        inputs: 3,
        members: vec![member(text, "new"), member(text, "regression"), member(text, text)],
    };
    let night = |(index, text): (usize, &String)| Night {
        started: 1_700_000_000 + 86_400 * index as u64,
        seconds: 3600.0,
        version: text.clone(),
        executions: 1_000_000 * index as u64,
        corpus: 400,
        inputs: 12,
        clusters: 3,
        new: 1,
        regression: 1,
        known: 1,
        shards: Vec::new(),
    };
    let count = texts.len();
    let triage = Triage {
        targets: texts
            .iter()
            .map(|text| Target { name: text.clone(), seconds: 1.0, executions: 2, corpus: 3 })
            .collect(),
        inputs: 40,
        quiet: 1,
        clusters: texts.iter().map(cluster).collect(),
        agreement: Agreement {
            inputs: 9,
            decoders: texts.to_vec(),
            same: (0..count).map(|row| (0..count).map(|column| (row + column) as u64 % 9).collect()).collect(),
            asked: (0..count).map(|row| (0..count).map(|column| if row > column { 0 } else { 9 }).collect()).collect(),
        },
        history: texts.iter().enumerate().map(night).collect(),
        unread: texts.to_vec(),
        slow: texts.to_vec(),
        faults: texts.to_vec(),
        ledger: None,
        shards: std::collections::BTreeMap::new(),
    };
    with_section(texts, Section::Triage(triage))
}

fn member(text: &str, status: &str) -> Member {
    let text = || text.to_owned();
    let answer = Answer {
        question: text(),
        answer: text(),
        arbiter: false,
        breaches: vec![text()],
        decoders: vec![text(), text()],
        lineages: vec![text()],
    };
    Member {
        signature: text(),
        others: vec![format!("a/b/c/{}", text())],
        law: text(),
        decoder: text(),
        version: text(),
        subject: text(),
        shape: text(),
        status: status.to_owned(),
        known_as: Some(text()),
        inputs: 1,
        files: vec![text(), text()],
        kept: Some(text()),
        witness_hex: text(),
        notation: text(),
        cuts: Some(vec![1, 2]),
        agreeing_hex: Some(text()),
        agreeing: Some(text()),
        rule: Some(Rule { says: text(), source: text() }),
        // As many lines as the hostile text with the most.
        annotated: text() + &"\nx".repeat(9usize.saturating_sub(text().lines().count())),
        answers: vec![Answer { arbiter: true, ..answer.clone() }, answer],
        test: text(),
    }
}

/// The record of a check, with each text in every place for text; with the coverage of a certificate, or without.
pub(crate) fn check(texts: &[String], covered: bool) -> Record {
    let difference = |text: &String| Difference {
        signature: text.clone(),
        law: text.clone(),
        decoder: text.clone(),
        subject: text.clone(),
        shape: text.clone(),
        hits: 3,
        witness_hex: text.clone(),
        cuts: vec![1],
        explanation: text.clone(),
    };
    let set = |text: &String| CoveredSet {
        part: text.clone(),
        lengths: (1, 2),
        offsets: vec![(0, 0), (3, 4)],
        before: text.clone(),
        after: text.clone(),
        asked: text.clone(),
        strings: 5,
        cases: 6,
    };
    let part = |text: &String| CoveredPart {
        name: text.clone(),
        cases: 1,
        comparisons: vec![(text.clone(), 9)],
        seconds: 0.5,
    };
    let replayed = |text: &String| Replayed {
        name: FileName { path: text.clone(), path_bytes: None },
        new: vec![text.clone()],
        known: vec![(text.clone(), 2)],
    };
    let check = Check {
        cases: 9,
        comparisons: 99,
        stages: vec![Stage { name: "vectors".into(), cases: 9, planned: Some(9), seconds: 0.1 }],
        shares: texts[0].clone(),
        divergences: texts.iter().map(difference).collect(),
        known: texts.iter().map(|text| KnownDifference { id: text.clone(), decoder: text.clone(), hits: 2 }).collect(),
        stale: texts.to_vec(),
        silent: texts.to_vec(),
        set_aside: texts.to_vec(),
        contradictions: texts.to_vec(),
        files: texts.iter().map(replayed).collect(),
        interrupted: false,
        partial: false,
        coverage: covered
            .then(|| Coverage { sets: texts.iter().map(set).collect(), parts: texts.iter().map(part).collect() }),
    };
    with_section(texts, Section::Check(check))
}

/// The record of a score, with each text in every place for text; for each text, one decoder is caught and one is not.
pub(crate) fn score(texts: &[String]) -> Record {
    let run = |seed: u64, outcome, text: &str| Run {
        seed: Some(seed),
        outcome,
        signature: Some(text.to_owned()),
        executions: seed * 1000,
        seconds: 0.5,
    };
    let cell = |(engine, text): (Engine, &str)| Cell {
        engine,
        runs: vec![run(1, Outcome::Caught, text), run(2, Outcome::WrongLaw, text), run(3, Outcome::Caught, text)],
    };
    let row = |text: &String| Row {
        decoder: text.clone(),
        id: text.clone(),
        fault: text.clone(),
        citation: text.clone(),
        signs: vec![text.clone()],
        on_every_kind: Vec::new(),
        // The last cell of each row has no runs.
        cells: Engine::ALL.into_iter().map(|engine| cell((engine, text))).take(4).collect(),
    };
    let missed = Run { seed: None, outcome: Outcome::Missed, signature: None, executions: 1 << 30, seconds: 60.0 };
    let missed = vec![Cell { engine: Engine::Plain, runs: vec![missed] }];
    let mut rows: Vec<Row> = texts.iter().map(row).collect();
    let uncaught: Vec<Row> = rows.iter().map(|row| Row { cells: missed.clone(), ..row.clone() }).collect();
    rows.extend(uncaught);
    let behind = |text: &String| Behind { decoder: text.clone(), executions: 4.0, seconds: 5.0, missed: false };
    let comparison = Comparison {
        engine: Engine::Behaviour,
        rival: Engine::Proptest,
        decoders: 9,
        missed: 1,
        executions: Some(0.25),
        seconds: None,
        behind: texts.iter().map(behind).collect(),
    };
    let score = Score {
        schema: 1,
        version: texts[0].clone(),
        jobs: 2,
        budget_seconds: 60.0,
        sanitizer: Default::default(),
        seeds: vec![1, 2, 3],
        seconds: 1234.5,
        engines: Engine::ALL.to_vec(),
        left_out: texts.iter().map(|text| LeftOut { engine: Engine::Afl, why: text.clone() }).collect(),
        rows,
        comparisons: vec![comparison],
    };
    with_section(texts, Section::Score { score })
}

/// The record of a matrix with a decoder for each text, and two questions. Every other decoder breaks its contract.
pub(crate) fn matrix(texts: &[String]) -> Record {
    use utfuzz::report::record::matrix::{Breach, Class, Column, Injection, Matrix, Row, Seen, UnitRow, Units};
    let seen = |text: &String, witness| Seen {
        word: text.clone(),
        symbol: text.clone(),
        says: text.clone(),
        witness: (text.len() > 9).then_some(witness),
    };
    let column = |id: &str| Column {
        id: id.to_owned(),
        group: texts[0].clone(),
        title: texts[1].clone(),
        bytes: "61FF62".to_owned(),
        cuts: vec![1],
        answers: texts.iter().map(|text| seen(text, "FF".to_owned())).collect(),
    };
    let breach = |text: &String| Breach {
        law: text.clone(),
        subject: text.clone(),
        known: Some(text.clone()),
        link: Some(text.clone()),
    };
    let row = |(index, text): (usize, &String)| Row {
        name: text.clone(),
        package: texts[index / 2].clone(),
        version: text.clone(),
        lineage: text.clone(),
        grammar: text.clone(),
        contract: text.clone(),
        cells: vec![index, 0],
        broken: (index % 2 == 1).then(|| ("one".to_owned(), breach(text))).into_iter().collect(),
    };
    let classes = vec![Class { decoders: texts.to_vec(), accepted: 7 }, Class { decoders: Vec::new(), accepted: 0 }];
    let injection = Injection {
        character: texts[2].clone(),
        bytes: texts[3].clone(),
        written_by: texts.to_vec(),
        passed_by: texts.to_vec(),
    };
    let unit_row = |(index, text): (usize, &String)| UnitRow {
        name: text.clone(),
        package: texts[index / 2].clone(),
        version: text.clone(),
        lineage: text.clone(),
        cells: vec![index, 0],
    };
    let units = |text: &String| Units {
        encoding: text.clone(),
        columns: vec![column("one"), column("two")],
        rows: texts.iter().enumerate().map(unit_row).collect(),
    };
    let matrix = Matrix {
        columns: vec![column("one"), column("two")],
        rows: texts.iter().enumerate().map(row).collect(),
        classes,
        beyond: vec![vec![None, Some(texts[4].clone())], vec![Some("C0AF".to_owned()), None]],
        injections: vec![injection],
        units: texts.iter().map(units).collect(),
    };
    with_section(texts, Section::Matrix(matrix))
}

/// The record of a measurement on texts with these names; std is as fast on each as its index says.
#[cfg(feature = "cli")]
pub(crate) fn throughput(texts: &[String]) -> Record {
    use utfuzz::bench;
    let cell = |name: &str, kind, median: f64| bench::Cell {
        name: name.to_owned(),
        kind,
        wrong: false,
        time: Some(bench::Time { median, low: median, high: median }),
    };
    let row = |(index, text): (usize, &String), operation| bench::Row {
        class: "avx2".to_owned(),
        operation,
        text: text.clone(),
        bytes: 80_000,
        cells: vec![
            cell("own", bench::Kind::Own, 1000.0),
            cell("own-avx2", bench::Kind::Kernel, 2000.0),
            cell("std", bench::Kind::Peer, 900.0 * (1 << index) as f64),
            bench::Cell { time: None, ..cell("simdutf8", bench::Kind::Peer, 1.0) },
        ],
    };
    let rows = bench::Operation::ALL.iter().flat_map(|of| texts.iter().enumerate().map(move |text| row(text, *of)));
    with_section(texts, Section::Throughput(bench::Measured { rows: rows.collect() }))
}

pub(crate) fn hostile() -> Record {
    record(&hostile_texts())
}

pub(crate) fn tame() -> Record {
    record(&tame_texts())
}

/// Every kind of record except a triage, hostile and harmless.
pub(crate) fn others() -> [(Record, Record); 4] {
    let (hostile, tame) = (hostile_texts(), tame_texts());
    [
        (check(&hostile, false), check(&tame, false)),
        (check(&hostile, true), check(&tame, true)),
        (score(&hostile), score(&tame)),
        (matrix(&hostile), matrix(&tame)),
    ]
}
