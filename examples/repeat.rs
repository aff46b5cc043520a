//! Runs one decoder on one text again and again, so that a tool can count its instructions:
//! `repeat SUBJECT OPERATION SCRIPT BYTES PASSES`, with the names of `utfuzz measure`. `.ci/instructions` uses it.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [subject, operation, script, len, passes] = &words[..] else {
        eprintln!("usage: repeat SUBJECT OPERATION SCRIPT BYTES PASSES");
        return ExitCode::from(2);
    };
    let (Ok(len), Ok(passes)) = (len.parse(), passes.parse()) else {
        eprintln!("repeat: {len} {passes}: these are numbers, of bytes and of passes");
        return ExitCode::from(2);
    };
    match utfuzz::bench::repeat(subject, operation, script, len, passes) {
        Some(()) => ExitCode::SUCCESS,
        None => {
            eprintln!("repeat: {subject} {operation} {script}: nothing of this name, or no answer");
            ExitCode::FAILURE
        }
    }
}
