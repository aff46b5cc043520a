//! Adapters with one fault each in how they speak the protocol, for the tests of `utfuzz adapter check`: `lying_adapter
//! FAULT ENTRY`. Without a known fault it is honest.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio, exit};
use std::time::Duration;

struct Adapter {
    fault: String,
    streams: BTreeMap<String, Vec<u8>>,
    first: Option<String>,
    asked: usize,
}

fn main() -> io::Result<()> {
    let mut args = std::env::args();
    let program = args.next().unwrap_or_default();
    let fault = args.next().unwrap_or_default();
    let entry = args.next();
    let is = |name: &str| fault == name;
    let mut out = io::stdout().lock();
    if is("banner") {
        writeln!(out, "Welcome to the runtime")?;
    }
    writeln!(out, "utfuzz 1 lines\npackage=planted\nversion=1\nanswers=verdict offset length output stream")?;
    writeln!(out, "contract=rfc3629 maximal-subpart no-output")?;
    let names = if is("twins") { ["one", "one"] } else { ["one", "two"] };
    for name in names.iter().filter(|name| entry.as_deref().is_none_or(|entry| entry == **name) || is("deaf")) {
        writeln!(out, "name={name}")?;
    }
    writeln!(out)?;
    out.flush()?;
    if is("offspring") {
        Command::new(program).arg("lingers").stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    }
    let mut adapter = Adapter { fault: fault.clone(), streams: BTreeMap::new(), first: None, asked: 0 };
    let mut input = io::stdin().lock();
    let mut piece = vec![0; 1 << 16];
    let mut request: Vec<u8> = Vec::new();
    loop {
        let len = input.read(&mut piece)?;
        if len == 0 {
            break;
        }
        request.extend_from_slice(&piece[..len]);
        // A part of a line, of which the first byte gets lost.
        if is("pieces") && request.len() == 1 && request != b"\n" {
            request.clear();
        }
        while let Some(end) = end_of_batch(&request) {
            let batch = String::from_utf8_lossy(&request[..end]).into_owned();
            request.drain(..end);
            let mut answers: Vec<String> =
                batch.lines().take_while(|line| !line.is_empty()).map(|line| adapter.answer(line)).collect();
            match &*fault {
                "order" => answers.reverse(),
                "missing" if answers.len() > 1 => drop(answers.pop()),
                "huge" if batch.len() > 1 << 20 => exit(3),
                "empty" if answers.is_empty() => exit(0),
                "thousand" => answers.truncate(1000),
                _ => {}
            }
            answers.iter().try_for_each(|answer| writeln!(out, "{answer}"))?;
            out.flush()?;
            if is("extra") {
                std::thread::sleep(Duration::from_millis(5));
                writeln!(out, "done")?;
            }
        }
    }
    if is("lingers") {
        std::thread::sleep(Duration::from_secs(3597));
    }
    exit(if is("status") { 1 } else { 0 });
}

/// Where the empty line ends that ends a batch.
fn end_of_batch(request: &[u8]) -> Option<usize> {
    match request {
        [b'\n', ..] => Some(1),
        // Nothing follows a batch before its answers, and searching an incomplete one each time would be slow.
        _ if !request.ends_with(b"\n\n") => None,
        _ => request.windows(2).position(|pair| pair == b"\n\n").map(|at| at + 2),
    }
}

impl Adapter {
    fn answer(&mut self, line: &str) -> String {
        self.asked += 1;
        let answer = self.honest(line);
        if self.fault == "cached" {
            return self.first.get_or_insert(answer).clone();
        }
        answer
    }

    fn honest(&mut self, line: &str) -> String {
        let Some(at) = line.find(['+', '=', '-']) else { return self.decode(line) };
        let (stream, rest) = line.split_at(at);
        let stream = if self.fault == "mixes" { "all" } else { stream };
        match (&rest[..1], hex(&rest[1..])) {
            ("+", Some(bytes)) => {
                self.streams.entry(stream.to_owned()).or_default().extend(bytes);
                "2 -1 -1 .".to_owned()
            }
            ("=", _) => {
                let bytes = self.streams.get(stream).cloned().unwrap_or_default();
                if self.fault != "unfinished" {
                    self.streams.remove(stream);
                }
                self.verdict(&bytes)
            }
            _ => {
                if self.fault != "undropped" {
                    self.streams.remove(stream);
                }
                "2 -1 -1 -".to_owned()
            }
        }
    }

    fn decode(&mut self, line: &str) -> String {
        match hex(line) {
            Some(bytes) => self.verdict(&bytes),
            None if self.fault == "nonsense" => "what?".to_owned(),
            None => exit(2),
        }
    }

    fn verdict(&self, bytes: &[u8]) -> String {
        let bytes = match &*self.fault {
            "short" => &bytes[..bytes.len().saturating_sub(1)],
            "truncated" => &bytes[..bytes.len().min(256)],
            "late" => bytes.get(1..).unwrap_or_default(),
            _ => bytes,
        };
        match std::str::from_utf8(bytes) {
            _ if self.fault == "mute" => "3 -1 -1 -".to_owned(),
            Ok(_) if self.fault == "silent" => "1 -1 -1 -".to_owned(),
            Ok(text) if self.fault == "latin-1" => {
                format!("1 -1 -1 {}", digits(text.chars().map(|c| u32::from(c) as u8)))
            }
            Ok(text) => format!("1 -1 -1 {}", digits(text.bytes())),
            Err(error) => {
                let (offset, length) = (error.valid_up_to(), error.error_len().unwrap_or(0));
                match &*self.fault {
                    "offset" => format!("0 {} {length} -", offset + 100),
                    "state" => format!("0 {} {length} -", self.asked % 2),
                    _ => format!("0 {offset} {length} -"),
                }
            }
        }
    }
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    if digits == "." {
        return Some(Vec::new());
    }
    let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2));
    pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect()
}

fn digits(bytes: impl Iterator<Item = u8>) -> String {
    let digits: String = bytes.map(|byte| format!("{byte:02X}")).collect();
    if digits.is_empty() { ".".to_owned() } else { digits }
}
