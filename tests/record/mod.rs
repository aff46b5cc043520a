//! Records that are all hostile, and the same with tame texts.

use utfuzz::report::findings::*;

/// What a page, a terminal, a table or a reader may trip over.
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

/// A record with each text everywhere.
pub(crate) fn record(texts: &[String]) -> Findings {
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
    };
    let count = texts.len();
    Findings {
        schema: 1,
        version: texts[0].clone(),
        started: 1_800_000_000,
        seconds: 1.5,
        machine: Machine { target: texts[1].clone(), features: texts.to_vec(), missing: texts.to_vec(), threads: 2 },
        decoders: texts
            .iter()
            .map(|text| Asked { name: text.clone(), version: text.clone(), contract: text.clone() })
            .collect(),
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
    }
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
        annotated: text(),
        answers: vec![Answer { arbiter: true, ..answer.clone() }, answer],
        test: text(),
    }
}

pub(crate) fn hostile() -> Findings {
    let mut texts = HOSTILE.map(str::to_owned).to_vec();
    texts.push(format!("{}<b>", "very long ".repeat(2000)));
    record(&texts)
}

pub(crate) fn tame() -> Findings {
    record(&(0..=HOSTILE.len()).map(|index| format!("tame {index}")).collect::<Vec<_>>())
}
