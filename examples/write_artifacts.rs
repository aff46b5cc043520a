//! Writes a large number of fuzzing artifacts: `write_artifacts DIR [COUNT]`.
//!
//! For each of twenty planted decoders there are COUNT inputs (default 50) of up to 4 KiB that the decoder gets wrong,
//! named like libFuzzer's artifacts. Many of them also show faults of others of the twenty.

use std::path::Path;
use std::{env, fs, process};
use utfuzz::case::Case;
use utfuzz::generate::structured::Structured;
use utfuzz::judge::{Judge, silence_panics};
use utfuzz::peers;

/// Faults of every family: grammar, blocks, resynchronisation, streams, memory and relatives.
const PLANTED: [&str; 20] = [
    "g01", "g06", "g09", "g19", "s05", "s08", "s13", "r04", "r06", "r13", "r16", "t06", "t10", "t13", "t15", "t21",
    "m01", "x01", "x02", "x11",
];

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let [_, directory, rest @ ..] = &arguments[..] else {
        eprintln!("usage: write_artifacts DIR [COUNT]");
        process::exit(2);
    };
    let count = rest.first().map_or(50, |count| count.parse().expect("COUNT is a number"));
    fs::create_dir_all(directory).expect("the directory can be made");
    silence_panics();
    let decoders = peers::all();
    for id in PLANTED {
        let name = format!("planted-{id}");
        let decoder =
            decoders.iter().find(|decoder| decoder.info().name == name).expect("a planted decoder has this name");
        let mut judge = Judge::new([&**decoder]);
        let shown = (0..).map(input).filter(|bytes| !judge.judge(&Case::new(bytes)).is_empty()).take(count);
        for (index, bytes) in shown.enumerate() {
            fs::write(Path::new(directory).join(format!("crash-{id}-{index:02}")), bytes)
                .expect("the file can be written");
        }
    }
    println!("{}", PLANTED.map(|id| format!("planted-{id}")).join(","));
}

/// Structured inputs one after the other, up to a length that varies from input to input.
fn input(number: u64) -> Vec<u8> {
    let longest = 64 + (number.wrapping_mul(0x9E37_79B9) % 4033) as usize;
    let mut bytes = Vec::new();
    for seed in number * 1000.. {
        bytes.extend(Structured::seeded(seed).0);
        if bytes.len() >= longest {
            break;
        }
    }
    bytes.truncate(longest);
    bytes
}
