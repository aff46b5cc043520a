//! Checks a decoder from outside this crate: `cargo run --release --example plug_in`.
//!
//! The decoder below checks only the shape of sequences, as some released decoders did (nim-lang/Nim#19333,
//! json-voorhees#207). It declares the contract of an ordinary UTF-8 validator, and is held to it. Replace it with
//! yours.

use std::process::ExitCode;
use utfuzz::engine::check::{Options, check};
use utfuzz::report::{Clock, Exporter, Record, Text};
use utfuzz::spec::Contract;
use utfuzz::utf8::Validity;
use utfuzz::{Decoder, Info};

struct Mine;

static INFO: Info = Info::new("mine", "0.1.0").contract(Contract::VALIDATOR);

impl Decoder for Mine {
    fn info(&self) -> &Info {
        &INFO
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let mut rest = bytes;
        while let Some(&lead) = rest.first() {
            let len = match lead {
                0x00..=0x7F => 1,
                0xC0..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xF7 => 4,
                _ => return Some(Validity::INVALID),
            };
            let Some(sequence) = rest.get(..len) else { return Some(Validity::INVALID) };
            if sequence[1..].iter().any(|byte| byte & 0xC0 != 0x80) {
                return Some(Validity::INVALID);
            }
            rest = &rest[len..];
        }
        Some(Validity::Valid)
    }
}

fn main() -> ExitCode {
    // The peers are judged too, so that the report shows who agrees with whom.
    let peers = utfuzz::peers::all();
    let decoders: Vec<&dyn Decoder> = peers.iter().map(|peer| &**peer).chain([&Mine as &dyn Decoder]).collect();
    let options = Options { time: std::time::Duration::from_secs(2), ..Options::default() };
    let clock = Clock::start("plug_in");
    match check(&decoders, &options, &|_, _| {}) {
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
        Ok(outcome) => {
            let record = Record::of_check(&clock, &decoders, &options.ledger, &outcome);
            let printed = Text.export(&record, &mut std::io::stdout());
            ExitCode::from(u8::from(printed.is_err() || !outcome.is_clean()))
        }
    }
}
