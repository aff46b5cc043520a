//! The proof of an adapter, `utfuzz adapter check`: whether what it passes on is what was asked and answered. An adapter
//! that fails here says nothing about its decoder.

use crate::peers::foreign::process::Program;
use crate::peers::foreign::proof::{Proof, Wire, asked, bytes_of, decoding, shortened, spelled};
use crate::peers::foreign::protocol::{Batch, Entry, Operation, Spelling, Verdict};
use crate::text::counted;
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

pub use crate::peers::foreign::proof::Fault;

/// A step of a proof.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// The entry point; none if the step is about the whole adapter.
    pub entry: Option<String>,
    /// What holds if it passes.
    pub title: &'static str,
    /// What was seen, empty if there is nothing to say; `None` if the step failed.
    pub seen: Option<String>,
    /// What is wrong, if it failed.
    pub fault: Option<Fault>,
}

/// A step for one entry point. It returns what it saw, or an empty text if that is always the same.
type Check = fn(&mut Proof<'_>) -> Result<String, Fault>;

/// The steps for each entry point, in order; those about streams only if it has them.
const STEPS: [(&str, Check); 12] = [
    ("ASCII comes back as it was sent", ascii),
    ("text of every length from 0 to 300 bytes is answered", lengths),
    ("an answer does not depend on what was asked before", repeated),
    ("there is one answer for each operation, and nothing else", counts),
    ("offsets and lengths lie within the input", positions),
    ("a request may arrive in pieces", pieces),
    ("an empty batch has no answers", empty),
    ("a huge input is answered", huge),
    ("a big batch is answered in order", big),
    ("a stream that was finished or dropped starts anew", anew),
    ("streams that are open at once do not mix", streams),
    ("a request that means nothing is not answered with garbage", nonsense),
];

/// The title of the last step, which needs the end of the input.
const AT_THE_END: &str = "at the end of its input it exits with status 0, and leaves no process";

/// Proves an adapter, or one of its entry points, step by step, and hands each step to `tell` when it is done. After a
/// failure the other entry points follow.
///
/// # Errors
/// There is no such entry point.
pub fn prove(program: &Program, only: &[String], tell: &mut dyn FnMut(&Step)) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut done = |entry: Option<&Entry>, title, outcome: Result<String, Fault>| {
        let entry = entry.map(|entry| entry.name.clone());
        let passed = outcome.is_ok();
        let (seen, fault) = outcome.map_or_else(|fault| (None, Some(fault)), |seen| (Some(seen), None));
        let step = Step { entry, title, seen, fault };
        tell(&step);
        steps.push(step);
        passed
    };
    let start = Instant::now();
    let greeted = Wire::start(program, None, Duration::from_secs(60).max(program.timeout));
    let took = start.elapsed();
    let (wire, greeting) = match greeted {
        Ok(greeted) => greeted,
        Err((what, answer)) => {
            let remedy =
                "write the greeting first, with an empty line at its end, and flush; nothing may precede it on \
                          standard output"
                    .to_owned();
            let answer = spelled(Spelling::Lines, &answer);
            done(None, "it starts, and greets", Err(Fault { what, answer, remedy, ..Fault::default() }));
            return Ok(steps);
        }
    };
    let names: Vec<String> = greeting.entries.iter().map(|entry| entry.name.clone()).collect();
    let seen = format!(
        "version 1, {}, {}, after {:.1} s",
        format!("{:?}", wire.spelling()).to_lowercase(),
        names.join(" "),
        took.as_secs_f64()
    );
    if !done(None, "it starts, and greets", named_well(&names).map(|()| seen)) {
        return Ok(steps);
    }
    drop(wire);
    if let Some(unknown) = only.iter().find(|name| !names.contains(name)) {
        return Err(format!("there is no entry point {unknown}; it greets with {}", names.join(" ")));
    }
    for entry in greeting.entries.into_iter().filter(|entry| only.is_empty() || only.contains(&entry.name)) {
        let mut proof = match Proof::start(program, &entry, took) {
            Ok(proof) => proof,
            Err(fault) => {
                done(Some(&entry), "started with its name, it greets alone", Err(fault));
                continue;
            }
        };
        done(Some(&entry), "started with its name, it greets alone", Ok(String::new()));
        let mut checks = STEPS.iter().filter(|(_, check)| entry.answers.stream || !of_streams(*check));
        if checks.all(|(title, check)| done(Some(&entry), title, check(&mut proof))) {
            done(Some(&entry), AT_THE_END, proof.end());
        }
    }
    Ok(steps)
}

fn of_streams(check: Check) -> bool {
    [streams as Check, anew as Check].iter().any(|of_streams| std::ptr::fn_addr_eq(*of_streams, check))
}

fn named_well(names: &[String]) -> Result<(), Fault> {
    let mut seen = BTreeSet::new();
    let is_good = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.'))
    };
    for name in names {
        let (what, remedy) = match (is_good(name), seen.insert(name)) {
            (false, _) => ("has characters that a name cannot have", "use a to z, 0 to 9, `-`, `_` and `.`"),
            (_, false) => ("greets twice", "give each entry point a name of its own"),
            _ => continue,
        };
        return Err(Fault { what: format!("the entry point {name:?} {what}"), ..Fault::with_remedy(remedy) });
    }
    Ok(())
}

fn ascii(proof: &mut Proof<'_>) -> Result<String, Fault> {
    let inputs: Vec<_> = (0..20).map(|index| proof.nonce(8 + index)).collect();
    let answered = proof.come_back(&inputs)?;
    proof.nothing_follows(&inputs)?;
    match answered.iter().any(|answered| *answered) {
        true => Ok(String::new()),
        false => Err(Fault {
            what: "it says of every input that the decoder cannot be asked about it".into(),
            request: asked(&proof.texts(&inputs), 0..1),
            ..Fault::with_remedy("answer 3 only to what the context cannot hold")
        }),
    }
}

/// Text of exactly this length: characters of two and three bytes, after at most four of one byte.
fn mixed(len: usize) -> Vec<u8> {
    let mut text: Vec<u8> = "é€".bytes().cycle().take(len / 5 * 5).collect();
    text.splice(0..0, std::iter::repeat_n(b'a', len % 5));
    text
}

fn lengths(proof: &mut Proof<'_>) -> Result<String, Fault> {
    let all: Vec<usize> = (0..=300).collect();
    let (mut unasked, mut asked, mut wrong, mut first) = (0, 0, 0, None);
    for some in all.chunks(50) {
        let ascii: Vec<_> = some.iter().map(|&len| proof.nonce(len)).collect();
        let mixed: Vec<_> = some.iter().map(|&len| mixed(len)).filter(|text| !text.is_ascii()).collect();
        for inputs in [ascii, mixed] {
            let batch = proof.texts(&inputs);
            for (index, answer) in proof.ask(&batch)?.iter().enumerate() {
                match proof.is_sound(&inputs[index], answer) {
                    Ok(is_answered) => unasked += usize::from(!is_answered),
                    Err((what, remedy)) => {
                        let fault = proof.fault(what, &batch, index, answer, remedy);
                        // No decoder changes ASCII.
                        if inputs[index].is_ascii() && answer.output.is_some() {
                            return Err(fault);
                        }
                        wrong += 1;
                        first.get_or_insert(fault);
                    }
                }
                asked += usize::from(!inputs[index].is_ascii());
            }
        }
    }
    let mut seen = Vec::new();
    if unasked > 0 {
        seen.push(format!("{} cannot be asked about", counted(unasked, "text")));
    }
    match first {
        // A decoder may be wrong about some texts; that it is wrong about all is unlikely.
        Some(fault) if wrong >= asked => return Err(fault),
        Some(fault) => seen.push(format!(
            "{} not answered as text: {} on {}; if that is not the adapter's doing, `utfuzz check` will report the \
             decoder",
            if wrong == 1 { "1 is".to_owned() } else { format!("{wrong} are") },
            fault.what,
            fault.request
        )),
        None => {}
    }
    Ok(seen.join("; "))
}

/// Inputs with answers of all kinds.
fn various(proof: &mut Proof<'_>) -> Vec<Vec<u8>> {
    let ill_formed: [&[u8]; 16] = [
        b"\xFF",
        b"\xC3",
        b"\x80",
        b"\xE2\x82",
        b"\xC0\xAF",
        b"\xED\xA0\x80",
        b"\xF4\x90\x80\x80",
        b"\xF0\x9F\x98",
        b"a\xFF",
        b"ab\x80c",
        b"\xE2\x82\xACx\xE2\x28",
        b"\xFF\xFE\xFD",
        b"\xC3\xC3\xA9",
        b"abcdefgh\xF0\x80\x80\x80",
        b"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF",
        b"\xEF\xBF",
    ];
    let mut inputs: Vec<Vec<u8>> = ill_formed.iter().map(|bytes| bytes.to_vec()).collect();
    for len in 1..17 {
        // At irregular places, so that answers that are shifted by a few places do not go unnoticed.
        inputs.insert((len * 7) % inputs.len(), proof.nonce(len));
        inputs.insert((len * 5) % inputs.len(), [proof.nonce(len), b"\xFE".to_vec()].concat());
    }
    inputs
}

fn repeated(proof: &mut Proof<'_>) -> Result<String, Fault> {
    let (mut inputs, mut singly) = (Vec::new(), Vec::new());
    let mut ends = Vec::new();
    let all = various(proof);
    let most = all.len() / 2;
    for input in all {
        let batch = decoding(std::slice::from_ref(&input));
        match proof.ask(&batch) {
            Ok(answers) => {
                singly.extend(answers);
                inputs.push(input);
            }
            // A decoder may crash on ill-formed input; if it does on most of it, the adapter is the likelier cause.
            Err(_) if proof.wire.has_ended() && !input.is_ascii() && ends.len() < most => {
                ends.push(shortened(&input));
                proof.restart()?;
            }
            Err(fault) => return Err(fault),
        }
    }
    proof.various.clone_from(&inputs);
    if proof.entry.answers.verdict
        && proof.entry.contract.is_some()
        && !singly
            .iter()
            .any(|answer| matches!(answer.verdict, Verdict::IllFormed | Verdict::CannotSay | Verdict::Failed))
    {
        let index = inputs.iter().position(|input| input == b"\xFF").unwrap_or(0);
        return Err(proof.fault(
            "it calls every input well-formed, even FF",
            &decoding(&inputs),
            index,
            &singly[index],
            "check whether the verdict is the decoder's, and whether the first answer is given again",
        ));
    }
    let remedy = "look for something that is kept between two operations, and write the answers in the order of the \
                  operations";
    let batch = decoding(&inputs);
    let answers = proof.ask(&batch)?;
    proof.same(&batch, &answers, &singly, "in one batch with others", remedy)?;
    let reversed: Vec<_> = inputs.iter().rev().cloned().collect();
    let batch = decoding(&reversed);
    let answers = proof.ask(&batch)?;
    singly.reverse();
    proof.same(&batch, &answers, &singly, "in another order", remedy)?;
    Ok(match ends.as_slice() {
        [] => String::new(),
        ends => format!(
            "the process ends on {}; if that is not the adapter's doing, `utfuzz check` will report the decoder",
            ends.join(", ")
        ),
    })
}

fn counts(proof: &mut Proof<'_>) -> Result<String, Fault> {
    for count in [1, 2, 3, 17, 64] {
        let inputs: Vec<_> = (0..count).map(|_| proof.nonce(5)).collect();
        proof.come_back(&inputs)?;
        proof.nothing_follows(&inputs)?;
    }
    Ok(String::new())
}

fn positions(proof: &mut Proof<'_>) -> Result<String, Fault> {
    let inputs = proof.various.clone();
    let batch = decoding(&inputs);
    let answers = proof.ask(&batch)?;
    let claims = proof.entry.answers;
    for (index, answer) in answers.iter().enumerate().filter(|(_, answer)| answer.verdict == Verdict::IllFormed) {
        let len = inputs[index].len();
        let offset = answer.offset.filter(|_| claims.offset);
        let length = answer.length.filter(|_| claims.length).map(bytes_of);
        let what = match (offset, length) {
            (Some(offset), _) if offset > len => {
                format!("the offset {offset} is beyond the input, which has {len} bytes")
            }
            (Some(offset), Some(length)) if offset + length > len => {
                format!("an error of {length} bytes at {offset} ends beyond the input, which has {len} bytes")
            }
            (None, Some(length)) if length > len => {
                format!("an error of {length} bytes is longer than the input, which has {len} bytes")
            }
            _ => continue,
        };
        let remedy = "count bytes from the start of the input, not characters, and from 0; state -1 if the decoder says \
                      nothing";
        return Err(proof.fault(what, &batch, index, answer, remedy));
    }
    Ok(String::new())
}

fn pieces(proof: &mut Proof<'_>) -> Result<String, Fault> {
    let mut inputs = vec![proof.nonce(9), Vec::new(), proof.nonce(20)];
    inputs.extend(proof.various.iter().take(12).cloned());
    let batch = decoding(&inputs);
    let whole = proof.ask(&batch)?;
    for piece in [1, 2, 3, 7, 13] {
        let pause = Duration::from_millis(2);
        let patience = proof.program.timeout;
        let remedy = "read until all of the request is there: one read may return a part of it";
        let answers = proof.wire.ask_in_pieces(&batch, piece, pause, patience).map_err(|(what, answer)| {
            let what = format!("when the request arrives in pieces of {}: {what}", counted(piece, "byte"));
            Fault { remedy: remedy.into(), ..proof.broken(what, &batch, &answer) }
        })?;
        let when = format!("when the request arrives in pieces of {},", counted(piece, "byte"));
        proof.same(&batch, &answers, &whole, &when, remedy)?;
    }
    Ok(String::new())
}

fn empty(proof: &mut Proof<'_>) -> Result<String, Fault> {
    let batch = Batch::default();
    let mut request = Vec::new();
    // Writing to memory does not fail.
    let _ = batch.write(proof.wire.spelling(), &mut request);
    proof.wire.send(request, usize::MAX, Duration::ZERO);
    let (expected, time): (&[u8], _) = match proof.wire.spelling() {
        Spelling::Frames => (&[0; 4], proof.program.timeout),
        // An empty line is not an answer, but many a `print` writes one.
        Spelling::Lines => (b"\n", Duration::from_millis(100)),
    };
    let (mut heard, ended) = proof.wire.listen(time, |heard| heard.len() >= expected.len());
    heard.retain(|byte| *byte != b'\r');
    let is_lines = proof.wire.spelling() == Spelling::Lines;
    if !ended && (heard == expected || is_lines && heard.is_empty()) {
        return Ok(String::new());
    }
    let what = match ended {
        true => proof.wire.and_its_end("it ended when a batch was empty".into()),
        false => format!("to an empty batch it answers {}", proof.wire.spelled(&heard)),
    };
    let remedy = match proof.wire.spelling() {
        Spelling::Frames => "answer a frame of the size 0 with a frame of the size 0",
        Spelling::Lines => "answer an empty batch with nothing, and go on",
    };
    let answer = proof.wire.spelled(&heard);
    Err(Fault { what, request: "a batch without operations".into(), answer, remedy: remedy.into() })
}

/// The length of a huge input, in bytes.
const HUGE: usize = 2 << 20;

fn huge(proof: &mut Proof<'_>) -> Result<String, Fault> {
    let input = proof.nonce(HUGE);
    let batch = proof.texts(std::slice::from_ref(&input));
    let patience = proof.program.timeout.max(Duration::from_secs(30));
    let start = Instant::now();
    let answers = proof.wire.ask(&batch, patience);
    let answers = answers.map_err(|(what, answer)| proof.broken(what, &batch, &answer))?;
    let took = start.elapsed().as_secs_f64();
    match answers.first() {
        Some(answer) if matches!(answer.verdict, Verdict::CannotSay | Verdict::Failed) => {
            Ok(format!("{} MiB, of which it says: {}", HUGE >> 20, answer.reason()))
        }
        Some(answer) => match proof.is_sound(&input, answer) {
            Ok(_) => Ok(format!("{} MiB in {took:.1} s", HUGE >> 20)),
            Err((what, remedy)) => Err(proof.fault(what, &batch, 0, answer, remedy)),
        },
        None => Ok(String::new()),
    }
}

fn big(proof: &mut Proof<'_>) -> Result<String, Fault> {
    // If a decoder gives only verdicts, nonces say nothing about the order of the answers.
    let count = proof.affordable(10_000);
    let mut inputs: Vec<_> = (0..count).map(|index| proof.nonce(1 + index % 24)).collect();
    proof.come_back(&inputs)?;
    let various = proof.various.clone();
    let state = |index: usize| index.wrapping_mul(0x9E37_79B9) >> 7;
    inputs = (0..count).map(|index| various[state(index) % various.len()].clone()).collect();
    let singly = proof.ask(&decoding(&various))?;
    let batch = decoding(&inputs);
    let answers = proof.ask(&batch)?;
    let before: Vec<_> = (0..count).map(|index| singly[state(index) % various.len()].clone()).collect();
    let remedy = "write the answers in the order of the operations, even if there are many";
    proof.same(&batch, &answers, &before, "in a big batch", remedy)?;
    Ok(format!("{count} operations"))
}

/// Numbers of streams, far apart.
const NUMBERS: [u32; 3] = [0, 7, 2_000_000_000];

fn streams(proof: &mut Proof<'_>) -> Result<String, Fault> {
    let texts = NUMBERS.map(|_| [proof.nonce(6), "é".into(), proof.nonce(5), "€".into(), proof.nonce(3)].concat());
    let cuts = [7, 15];
    let chunks = texts.each_ref().map(|text| [&text[..cuts[0]], &text[cuts[0]..cuts[1]], &text[cuts[1]..]]);
    let (mut apart, mut mixed) = (Batch::default(), Batch::default());
    for (number, chunks) in NUMBERS.into_iter().zip(&chunks) {
        chunks.iter().for_each(|chunk| apart.push(Operation::Push(number), chunk));
        apart.push(Operation::Finish(number), b"");
    }
    for index in 0..3 {
        NUMBERS
            .into_iter()
            .zip(&chunks)
            .for_each(|(number, chunks)| mixed.push(Operation::Push(number), chunks[index]));
    }
    NUMBERS.into_iter().for_each(|number| mixed.push(Operation::Finish(number), b""));
    let before = proof.ask(&apart)?;
    let mut pushes = (0..before.len()).filter(|index| index % 4 != 3);
    if let Some(index) = pushes.find(|&index| before[index].verdict == Verdict::WellFormed) {
        let what = "the answer to a push has the verdict 1, which only the end of the stream can have";
        return Err(proof.fault(what, &apart, index, &before[index], "answer a push with the verdict 2, or 0"));
    }
    let answers = proof.ask(&mixed)?;
    // The operations in the order in which they were asked apart.
    let sorted: Vec<_> = (0..12).map(|index| answers[index % 4 * 3 + index / 4].clone()).collect();
    let remedy = "keep a decoder for each number of a stream, and nothing that several streams share";
    proof.same(&apart, &sorted, &before, "while other streams are open", remedy)?;
    Ok(String::new())
}

fn anew(proof: &mut Proof<'_>) -> Result<String, Fault> {
    let number = NUMBERS[1];
    let text = proof.nonce(8);
    let mut fresh = Batch::default();
    fresh.push(Operation::Push(number), &text);
    fresh.push(Operation::Finish(number), b"");
    let before = proof.ask(&fresh)?;
    type Ending<'e> = (&'e str, &'e [(Operation, &'e [u8])]);
    let endings: [Ending<'_>; 4] = [
        (
            "after the stream was finished inside a character,",
            &[(Operation::Push(number), b"ab\xE2\x82"), (Operation::Finish(number), b"")],
        ),
        (
            "after the stream was dropped inside a character,",
            &[(Operation::Push(number), b"ab\xE2\x82"), (Operation::Drop(number), b"")],
        ),
        (
            "after the stream had an error,",
            &[
                (Operation::Push(number), b"ab\xFFcd"),
                (Operation::Push(number), b"\xFE"),
                (Operation::Finish(number), b""),
            ],
        ),
        ("after a stream was dropped that was not open,", &[(Operation::Drop(number), b"")]),
    ];
    for (when, first) in endings {
        let mut batch = Batch::default();
        first
            .iter()
            .chain([&(Operation::Push(number), &*text), &(Operation::Finish(number), b"")])
            .for_each(|(operation, bytes)| batch.push(*operation, bytes));
        let answers = proof.ask(&batch)?;
        let remedy = "let the next push to a number start a new stream once it was finished or dropped";
        let last = batch.part(first.len()..batch.len());
        proof.same(&last, &answers[first.len()..], &before, when, remedy)?;
    }
    Ok(String::new())
}

fn nonsense(proof: &mut Proof<'_>) -> Result<String, Fault> {
    let requests: [(&str, Vec<u8>); 2] = match proof.wire.spelling() {
        Spelling::Lines => [("an unknown operation", b"5?616263\n\n".to_vec()), ("half a byte", b"61626\n\n".to_vec())],
        Spelling::Frames => [
            ("an unknown operation", [&[12, 0, 0, 0, 9, 5, 0, 0, 0, 3, 0, 0, 0][..], b"abc"].concat()),
            ("a frame that ends inside an operation", vec![3, 0, 0, 0, 0, 0, 0]),
        ],
    };
    let mut seen = Vec::new();
    for (name, request) in requests {
        let shown = proof.wire.spelled(&request);
        proof.wire.send(request, usize::MAX, Duration::ZERO);
        let is_lines = proof.wire.spelling() == Spelling::Lines;
        let complete = |heard: &[u8]| match is_lines {
            true => heard.ends_with(b"\n"),
            false => {
                let size = heard.first_chunk::<4>().map(|size| u32::from_le_bytes(*size) as usize);
                size.is_some_and(|size| heard.len() >= size.saturating_add(4))
            }
        };
        let (heard, ended) = proof.wire.listen(Duration::from_millis(500), complete);
        let mut one = Batch::default();
        one.push(Operation::Decode, b"abc");
        let blank = [&b""[..], b"\n", b"\r\n", &[0; 4]].contains(&&*heard);
        let did = match one.read(proof.wire.spelling(), &mut &heard[..]) {
            _ if ended => proof.wire.and_its_end("it ends".into()).lines().next().unwrap_or_default().to_owned(),
            _ if blank => "no answer".into(),
            Ok(answers)
                if answers.iter().any(|answer| matches!(answer.verdict, Verdict::IllFormed | Verdict::WellFormed)) =>
            {
                "answered like a decode".into()
            }
            Ok(_) => "answered without a verdict".into(),
            Err(_) => {
                return Err(Fault {
                    what: format!("to {name} it answers with something that is not an answer"),
                    request: shown,
                    answer: proof.wire.spelled(&heard),
                    remedy: "exit with a nonzero status on a request that means nothing".into(),
                });
            }
        };
        seen.push(format!("{name}: {}", did.chars().take(100).collect::<String>()));
        proof.restart()?;
    }
    Ok(seen.join("; "))
}
