//! What an ordinary user would write to test a UTF-8 decoder: it accepts what `core::str` accepts, its output is that of
//! `String::from_utf8_lossy`, and input in chunks is decoded as the whole is.
//!
//! `utfuzz score` runs this property under three engines against the planted decoders, to compare our engines with
//! them. Nothing here uses our judge, generators or cuts. A decoder whose contract is not the standard cannot be
//! compared with `core::str`; it is compared with `spec` under its contract.

use std::cell::{Cell, OnceCell};
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use utfuzz::Decoder;
use utfuzz::peers;
use utfuzz::spec::{self, Contract};
use utfuzz::utf8::Validity;

/// The property under test, and what was done so far.
pub struct Rival {
    decoder: Box<dyn Decoder>,
    executions: Cell<u64>,
    /// When the first input came.
    since: OnceCell<Instant>,
    limit: Option<Duration>,
}

impl Rival {
    /// The decoder that the environment variable `UTFUZZ_DECODERS` names, tested for `UTFUZZ_SECONDS` if that is set.
    ///
    /// # Panics
    /// If no decoder has this name, or the number of seconds is none.
    pub fn from_env() -> Self {
        let name = env::var("UTFUZZ_DECODERS").expect("UTFUZZ_DECODERS names a decoder");
        let decoder = peers::all().into_iter().find(|decoder| decoder.info().name == name);
        let seconds = env::var("UTFUZZ_SECONDS").ok();
        // A panic of the decoder is a violation, which is printed.
        std::panic::set_hook(Box::new(|_| ()));
        Self {
            decoder: decoder.unwrap_or_else(|| no_decoder(&name)),
            executions: Cell::new(0),
            since: OnceCell::new(),
            limit: seconds.map(|text| Duration::from_secs(text.parse().expect("UTFUZZ_SECONDS is a number"))),
        }
    }

    /// Tests one input, as a whole and in chunks of this many bytes. A violation is printed, and the process aborts;
    /// when the time is up, the process exits.
    pub fn test(&self, bytes: &[u8], chunk: usize) {
        let since = self.since.get_or_init(Instant::now);
        self.executions.set(self.executions.get() + 1);
        let violation = catch_unwind(AssertUnwindSafe(|| violation(&*self.decoder, bytes, chunk)));
        if let Some(violation) = violation.unwrap_or(Some("it panics")) {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            let (executions, seconds) = (self.executions.get(), since.elapsed().as_secs_f64());
            println!("violation: {violation}\ninput: {hex}\nchunk: {chunk}");
            println!("executions: {executions}\nseconds: {seconds:.6}");
            std::process::abort();
        }
        if self.limit.is_some_and(|limit| since.elapsed() >= limit) {
            println!("executions: {}", self.executions.get());
            std::process::exit(0);
        }
    }

    /// The same where an engine has nothing but bytes: the first one selects the size of the chunks.
    pub fn test_bytes(&self, bytes: &[u8]) {
        let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
        self.test(rest, 1 + usize::from(*first) % LONGEST_CHUNK);
    }
}

/// The largest size of chunks.
pub const LONGEST_CHUNK: usize = 64;

fn no_decoder(name: &str) -> ! {
    eprintln!("no decoder is named {name:?}");
    std::process::exit(2)
}

/// What a decoder does wrong on this input, if anything.
fn violation(decoder: &dyn Decoder, bytes: &[u8], chunk: usize) -> Option<&'static str> {
    let (verdict, text) = expected(&decoder.info().contract, bytes);
    let whole = decoder.validate(bytes);
    if whole.is_some_and(|answer| differs(answer, verdict)) {
        return Some("validity");
    }
    let mut output = Vec::new();
    let decoded = decoder.decode_lossy(bytes, &mut output);
    if decoded.is_some() && text.is_some_and(|text| output != text) {
        return Some("output");
    }
    let mut stream = decoder.stream()?;
    let mut chunked = Vec::new();
    bytes.chunks(chunk).for_each(|chunk| stream.push(chunk, &mut chunked));
    let ended = stream.finish(&mut chunked);
    let other_output = decoded.is_some() && chunked != output;
    let other_verdict = ended.zip(whole).is_some_and(|(ended, whole)| differs(ended, whole));
    (other_output || other_verdict).then_some("chunked differs from whole")
}

/// The verdict, and the output if there is one.
fn expected(contract: &Contract, bytes: &[u8]) -> (Validity, Option<Vec<u8>>) {
    if *contract == Contract::STANDARD {
        let text = String::from_utf8_lossy(bytes).into_owned().into_bytes();
        return (core::str::from_utf8(bytes).map(drop).into(), Some(text));
    }
    let mut text = Vec::new();
    let written = spec::lossy(contract, bytes, &mut text);
    (spec::validity(contract, bytes), written.map(|()| text))
}

/// Whether a verdict is another one in what `core::str::Utf8Error` states and the decoder does too.
fn differs(answer: Validity, expected: Validity) -> bool {
    match (answer.malformed(), expected.malformed()) {
        (None, None) => false,
        (Some(answer), Some(expected)) => {
            let other_offset = answer.valid_up_to.zip(expected.valid_up_to).is_some_and(|(one, other)| one != other);
            other_offset || answer.len.zip(expected.len).is_some_and(|(one, other)| one != other)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Box<dyn Decoder> {
        peers::all().into_iter().find(|decoder| decoder.info().name == name).unwrap()
    }

    /// Whatever their contract, decoders without a fault keep the property.
    #[test]
    fn sound_decoders_keep_it() {
        let inputs: [&[u8]; 7] =
            [b"", b"a", b"\xEF\xBB\xBFa", b"\xE0\xA0", b"\xED\xA0\x80\xED\xB0\x80", b"\xC0\x80", b"a\xF0\x9F\x98b\xFF"];
        let planted = |name: &str| name.starts_with("planted");
        let sound = peers::all().into_iter().filter(|decoder| !planted(&decoder.info().name));
        let accused: Vec<_> = sound
            .flat_map(|decoder| {
                inputs.map(|input| (decoder.info().name.clone(), input, violation(&*decoder, input, 1)))
            })
            .filter(|(_, _, violation)| violation.is_some())
            .collect();
        assert!(accused.is_empty(), "{accused:?}");
    }

    #[test]
    fn a_fault_is_a_violation() {
        assert_eq!(violation(&*named("planted-surrogates"), b"\xED\xA0\x80", 1), Some("validity"));
        assert_eq!(violation(&*named("planted-surrogates"), b"abc", 1), None);
    }
}
