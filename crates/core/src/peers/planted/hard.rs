//! Faults that need two or more conditions at once, an address, or a history; those of an exact size, except in
//! streams, are in `blocks`.
//!
//! Most are invented: rarer forms of the families of real bugs that are cited.

use crate::codec::{Streaming, errors, lossy_into, utf16_lossy_into};
use crate::decoder::Stream;
use crate::peers::adapter::push_utf16;
use crate::peers::own::validity;
use crate::peers::planted::fault::{self, INVENTED, Planted, losing, missing, replacing, sound, without_last};
use crate::utf8::{BYTE_ORDER_MARK, ErrorLen, Malformed, REPLACEMENT, Validity, is_continuation};
use core::cell::{Cell, RefCell};
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, ThreadId};

/// Our verdict, unless these bytes occur at an offset for which `is_refused` holds.
fn refusing(bytes: &[u8], refused: &[u8], is_refused: impl Fn(usize) -> bool) -> Option<Validity> {
    let at = bytes.windows(refused.len()).enumerate().find(|&(at, some)| some == refused && is_refused(at));
    match (at, fault::validate(bytes)) {
        (Some((at, _)), Some(Validity::Valid)) => Some(Malformed::at(at, ErrorLen::Bytes(1)).into()),
        (_, verdict) => verdict,
    }
}

fn latin1(bytes: &[u8], out: &mut Vec<u8>) {
    bytes.iter().for_each(|&byte| out.extend_from_slice(char::from(byte).encode_utf8(&mut [0; 4]).as_bytes()));
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn address(bytes: &[u8]) -> usize {
    bytes.as_ptr().addr()
}

// Faults of streams: in their first use, after one that was dropped, beside others, on another thread.

/// Our stream, with what the faults need to know.
struct Hard {
    inner: Streaming,
    push: fn(&mut Hard, &[u8], &mut Vec<u8>),
    /// How often the stream was finished.
    finished: usize,
    /// The number of chunks of this stream, and of their bytes.
    chunks: usize,
    pushed: usize,
    /// The end of the last chunk, at most three bytes.
    last: Vec<u8>,
    /// What [`ONE_SHOTS`] was at the last chunk.
    one_shots: usize,
    thread: ThreadId,
    /// The state that is shared with another stream.
    shared: Option<Arc<Mutex<Streaming>>>,
    /// Whether what a dropped stream held is left to the next.
    bequeaths: bool,
    /// Whether offsets are counted in 16 bits.
    narrow: bool,
}

thread_local! {
    /// The number of calls that decoded an input in one piece.
    static ONE_SHOTS: Cell<usize> = const { Cell::new(0) };
    /// What a stream held when it was dropped.
    static LEFT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// The streams that are alive.
    static ALIVE: RefCell<Vec<Weak<Mutex<Streaming>>>> = const { RefCell::new(Vec::new()) };
}

impl Hard {
    fn new(push: fn(&mut Hard, &[u8], &mut Vec<u8>)) -> Self {
        Self {
            inner: Streaming::new(),
            push,
            finished: 0,
            chunks: 0,
            pushed: 0,
            last: Vec::new(),
            one_shots: ONE_SHOTS.get(),
            thread: thread::current().id(),
            shared: None,
            bequeaths: false,
            narrow: false,
        }
    }

    fn boxed(push: fn(&mut Hard, &[u8], &mut Vec<u8>)) -> Option<Box<dyn Stream>> {
        Some(Box::new(Self::new(push)))
    }

    /// The incomplete sequence at the end of the stream so far.
    fn pending(&self) -> Vec<u8> {
        let incomplete = errors(&self.last).find(|error| error.error_len().is_none());
        incomplete.map_or(Vec::new(), |error| self.last[error.range()].to_vec())
    }

    /// If the stream so far ends in an incomplete sequence, replaces the inner stream by a new one.
    fn forget_pending(&mut self) {
        if !self.pending().is_empty() {
            self.inner = Streaming::new();
        }
    }
}

impl Stream for Hard {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        (self.push)(self, chunk, out);
        self.chunks += 1;
        self.pushed += chunk.len();
        self.last.extend_from_slice(&chunk[chunk.len().saturating_sub(3)..]);
        self.last.drain(..self.last.len().saturating_sub(3));
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        let verdict = match &self.shared {
            Some(shared) => validity(shared.lock().unwrap_or_else(PoisonError::into_inner).finish(out)),
            None => validity(self.inner.finish(out)),
        };
        self.finished += 1;
        (self.chunks, self.pushed) = (0, 0);
        self.last.clear();
        Some(match verdict {
            Validity::Invalid(error) if self.narrow => {
                Malformed { valid_up_to: error.valid_up_to.map(|at| at & 0xFFFF), ..error }.into()
            }
            verdict => verdict,
        })
    }

    fn sendable(&mut self) -> Option<&mut (dyn Stream + Send + '_)> {
        Some(self)
    }
}

impl Drop for Hard {
    fn drop(&mut self) {
        if self.bequeaths && !self.pending().is_empty() {
            LEFT.set(self.pending());
        }
    }
}

fn plain(stream: &mut Hard, chunk: &[u8], out: &mut Vec<u8>) {
    stream.inner.push(chunk, out);
}

pub(super) static STREAMS: &[Planted] = &[
    Planted {
        stream: || {
            Hard::boxed(|stream, chunk, out| {
                let incomplete = errors(chunk).find(|error| error.error_len().is_none());
                let is_first = stream.finished == 0 && stream.chunks == 0;
                let end = incomplete.filter(|_| is_first).map_or(chunk.len(), |error| error.range().start);
                stream.inner.push(&chunk[..end], out);
            })
        },
        ..sound(
            "h01",
            "a new stream loses the sequence that its first chunk ends in; a stream that was used before does not",
            INVENTED,
            &["stream/*/*"],
        )
    },
    Planted {
        stream: || {
            Hard::boxed(|stream, chunk, out| {
                let is_start = stream.finished == 0 && stream.pushed == 0;
                let rest = if is_start { chunk.strip_prefix(BYTE_ORDER_MARK) } else { None };
                stream.inner.push(rest.unwrap_or(chunk), out);
            })
        },
        ..sound(
            "h02",
            "a byte order mark is stripped in the first use of a stream, and kept in later ones",
            "the family of Firefox bug 2005419",
            &["stream/*/*"],
        )
    },
    Planted {
        stream: || {
            let mut stream = Hard::new(plain);
            stream.bequeaths = true;
            stream.inner.push(&LEFT.take(), &mut Vec::new());
            Some(Box::new(stream))
        },
        ..sound(
            "h03",
            "an incomplete sequence of a stream that is dropped before its end is left to the next new stream",
            "the family of node#16564",
            &["reset/end/*", "stream/*/*"],
        )
    },
    Planted {
        stream: || {
            let shared = ALIVE.with_borrow_mut(|alive| {
                alive.retain(|stream| stream.strong_count() > 0);
                let new = if alive.len() < 4 { None } else { alive[0].upgrade() };
                let new = new.unwrap_or_default();
                alive.push(Arc::downgrade(&new));
                new
            });
            let push = |stream: &mut Hard, chunk: &[u8], out: &mut Vec<u8>| {
                if let Some(shared) = &stream.shared {
                    shared.lock().unwrap_or_else(PoisonError::into_inner).push(chunk, out);
                }
            };
            let mut stream = Hard::new(push);
            stream.shared = Some(shared);
            Some(Box::new(stream))
        },
        ..sound(
            "h04",
            "of five streams that are alive at once, two share their state",
            INVENTED,
            &["stream/*/*", "reset/end/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            ONE_SHOTS.set(ONE_SHOTS.get() + 1);
            lossy_into(bytes, out);
        },
        stream: || {
            Hard::boxed(|stream, chunk, out| {
                if core::mem::replace(&mut stream.one_shots, ONE_SHOTS.get()) != ONE_SHOTS.get() {
                    stream.forget_pending();
                }
                stream.inner.push(chunk, out);
            })
        },
        ..sound(
            "h05",
            "a call that decodes another input between two chunks clears the sequence at the cut",
            INVENTED,
            &["stream/*/cut"],
        )
    },
    Planted {
        stream: || {
            Hard::boxed(|stream, chunk, out| {
                if core::mem::replace(&mut stream.thread, thread::current().id()) != thread::current().id() {
                    stream.forget_pending();
                }
                stream.inner.push(chunk, out);
            })
        },
        ..sound(
            "h06",
            "the sequence at a cut is kept for each thread, so it is lost when a stream moves to another one",
            INVENTED,
            &["stream/*/cut"],
        )
    },
    Planted {
        validate: |bytes| {
            static BUSY: AtomicUsize = AtomicUsize::new(0);
            let others = BUSY.fetch_add(1, Ordering::SeqCst);
            let verdict = fault::validate(bytes);
            let others = others + BUSY.fetch_sub(1, Ordering::SeqCst) - 1;
            if others > 0 && !bytes.is_empty() { Some(Validity::INVALID) } else { verdict }
        },
        ..sound("h07", "two calls at the same time write the same buffer", INVENTED, &["repeat/end/*", "verdict/*/*"])
    },
    Planted {
        stream: || {
            Hard::boxed(|stream, chunk, out| {
                let len = if chunk.len() == 1 << 16 { 0 } else { chunk.len() };
                stream.inner.push(&chunk[..len], out);
            })
        },
        ..sound(
            "h23",
            "a chunk of 65,536 bytes is taken for an empty one",
            INVENTED,
            &["stream/*/*", "reset/*/*", "prefix/*/*"],
        )
    },
    Planted {
        stream: || {
            let mut stream = Hard::new(plain);
            stream.narrow = true;
            Some(Box::new(stream))
        },
        ..sound(
            "h24",
            "the offset of an error in a stream is counted in 16 bits",
            "the family of the narrow counters of simdutf#458",
            &["stream/*/*", "reset/*/*", "prefix/*/*"],
        )
    },
    Planted {
        stream: || {
            Hard::boxed(|stream, chunk, out| {
                if stream.chunks % 256 != 255 {
                    stream.inner.push(chunk, out);
                }
            })
        },
        ..sound("h25", "the 256th chunk of a stream is lost", INVENTED, &["stream/*/*"])
    },
];

// Faults that depend on an address: of the input, or of the output.

pub(super) static ADDRESSES: &[Planted] = &[
    Planted {
        lossy: |bytes, out| losing(bytes, out, address(bytes) % 64 == 63 && !bytes.is_ascii()),
        ..sound(
            "h08",
            "a character is lost if the input starts at the last byte of a cache line and is not ASCII",
            INVENTED,
            &["placement/*/aligned64"],
        )
    },
    Planted {
        validate: |bytes| {
            let last = bytes.len().saturating_sub(16);
            let is_odd = address(bytes) % 2 == 1 && bytes.len() >= 64;
            missing(bytes, |at| is_odd && at >= last)
        },
        ..sound(
            "h09",
            "an error in the last 16 bytes of 64 or more is missed if they start at an odd address",
            INVENTED,
            &["placement/*/aligned16", "placement/*/offset", "concatenation/*/*", "spans/*/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            let is_lost = (address(out) + out.len()) % 32 == 31 && !bytes.is_ascii();
            losing(bytes, out, is_lost);
        },
        ..sound(
            "h10",
            "a character is lost if the output starts at the last byte of a register and the input is not ASCII",
            INVENTED,
            &["placement/*/*", "identity/*/*", "lossy/*/*", "repeat/end/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            let room = out.capacity() - out.len();
            let mut text = Vec::new();
            lossy_into(bytes, &mut text);
            let is_lost = room == text.len() && text.len() > bytes.len();
            losing(bytes, out, is_lost);
        },
        ..sound(
            "h11",
            "the last character is lost if replacements fill the output buffer exactly",
            "the family of encoding_rs a074922",
            &["placement/*/*", "identity/*/*", "lossy/*/*", "repeat/end/*"],
        )
    },
    Planted {
        lossy: |bytes, out| losing(bytes, out, out.capacity() == 0 && bytes.len() > 32 && !bytes.is_ascii()),
        ..sound(
            "h12",
            "the last character is lost if a buffer without capacity grows for more than 32 bytes",
            INVENTED,
            &["placement/*/*", "identity/*/*", "lossy/*/*", "repeat/end/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            let room = out.capacity() - out.len();
            let start = out.len();
            lossy_into(bytes, out);
            if room > 0 && room + 1 == out.len() - start && !bytes.is_ascii() {
                without_last(out, start);
            }
        },
        ..sound(
            "h13",
            "the last character is lost if the output buffer is one byte too short",
            "the family of dart-lang/sdk#36235",
            &["placement/*/*", "identity/*/*", "lossy/*/*", "repeat/end/*"],
        )
    },
    Planted {
        validate: |bytes| {
            const PAGE: usize = 4096;
            let edge = address(bytes).next_multiple_of(PAGE) - address(bytes);
            match fault::validate(bytes) {
                Some(Validity::Valid) if edge > 0 && bytes.get(edge).is_some_and(|&byte| is_continuation(byte)) => {
                    Some(Malformed::at(edge, ErrorLen::Bytes(1)).into())
                }
                verdict => verdict,
            }
        },
        ..sound(
            "h14",
            "a character across the edge of two memory pages is rejected",
            INVENTED,
            // An input that lies across the edge, alone or after a prefix, gets the wrong verdict.
            &["placement/*/*", "spans/*/*", "concatenation/*/*", "prefix/*/*", "verdict/*/context"],
        )
    },
];

// Faults that depend on a text that means something elsewhere.

pub(super) static LITERALS: &[Planted] = &[
    Planted {
        lossy: |bytes, out| {
            let start = out.len();
            lossy_into(bytes, out);
            if let Some(at) = out[start..].windows(5).position(|window| window == b"+ADw-") {
                out.splice(start + at..start + at + 5, *b"<");
            }
        },
        ..sound(
            "h27",
            "the UTF-7 sequence for `<` is decoded",
            "the family of CVE-2009-4142",
            &["identity/valid-1/*", "lossy/*/*"],
        )
    },
    Planted {
        lossy: |bytes, out| match bytes.strip_prefix(b"\xFF\xFE") {
            Some(rest) if rest.len() % 2 == 0 && !rest.is_empty() => {
                let units: Vec<u16> = rest.as_chunks::<2>().0.iter().map(|&pair| u16::from_le_bytes(pair)).collect();
                push_utf16(&units, out);
            }
            _ => lossy_into(bytes, out),
        },
        ..sound(
            "h28",
            "after FF FE an even number of bytes is decoded as UTF-16",
            "the family of servo PR 38112",
            &["lossy/*/*", "well-formed-output/*/*"],
        )
    },
    Planted {
        lossy: |bytes, out| lossy_into(bytes.strip_prefix(b"\x84\x31\x95\x33").unwrap_or(bytes), out),
        ..sound("h29", "the byte order mark of GB18030 is stripped", INVENTED, &["lossy/*/*"])
    },
    Planted {
        lossy: |bytes, out| lossy_into(bytes.strip_prefix(b"\x0E\xFE\xFF").unwrap_or(bytes), out),
        ..sound("h30", "the byte order mark of SCSU is stripped", INVENTED, &["lossy/*/*"])
    },
    Planted {
        lossy: |bytes, out| {
            if contains(bytes, b"<meta charset=") && !bytes.is_ascii() {
                latin1(bytes, out)
            } else {
                lossy_into(bytes, out)
            }
        },
        ..sound("h31", "text with a `<meta charset=` is decoded as Latin-1", INVENTED, &["identity/*/*", "lossy/*/*"])
    },
    Planted {
        lossy: |bytes, out| {
            if bytes.starts_with(b"<?xml") && !bytes.is_ascii() { latin1(bytes, out) } else { lossy_into(bytes, out) }
        },
        ..sound("h32", "text after `<?xml` is decoded as Latin-1", INVENTED, &["identity/*/*", "lossy/*/*"])
    },
    Planted {
        validate: |bytes| {
            let line = if bytes.starts_with(b"#!") { bytes.iter().position(|&byte| byte == b'\n') } else { None };
            missing(bytes, |at| line.is_some_and(|line| at < line))
        },
        ..sound(
            "h33",
            "a first line that starts with `#!` is not validated",
            INVENTED,
            &["verdict/*/*", "valid-up-to/*/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            let end = bytes.windows(8).position(|window| window == [0; 8]);
            lossy_into(&bytes[..end.unwrap_or(bytes.len())], out);
        },
        ..sound("h34", "eight NULs end the text", INVENTED, &["identity/valid-1/*", "lossy/*/*"])
    },
    Planted {
        lossy: |bytes, out| lossy_into(bytes.strip_prefix(b"\xDD\x73\x66\x73").unwrap_or(bytes), out),
        ..sound("h35", "the byte order mark of UTF-EBCDIC is stripped", INVENTED, &["lossy/*/*"])
    },
    Planted {
        lossy: |bytes, out| {
            let mut units = Vec::new();
            utf16_lossy_into(bytes, &mut units);
            units.dedup_by(|second, first| *first == 0xFEFF && *second == 0xFEFF);
            push_utf16(&units, out);
        },
        ..sound("h36", "of two byte order marks in a row, one is lost", INVENTED, &["identity/valid-3/*", "lossy/*/*"])
    },
];

// Faults that need neighbours at once: certain characters side by side, or blocks of a kind.

/// Whether the bytes of a block before `at` are ASCII.
fn is_ascii_before(bytes: &[u8], at: usize, block: Range<usize>) -> bool {
    bytes.get(block).is_some_and(<[u8]>::is_ascii) && at < bytes.len()
}

pub(super) static NEIGHBOURS: &[Planted] = &[
    Planted {
        validate: |bytes| refusing(bytes, b"\xF4\x8F\xBF\xBF\xDF\xBF", |_| true),
        ..sound(
            "h37",
            "the last character of two bytes is rejected directly after the last of four",
            INVENTED,
            &["verdict/valid-*/*"],
        )
    },
    Planted {
        validate: |bytes| refusing(bytes, b"\xE0\xA0\x80", |at| at % 64 == 61),
        ..sound(
            "h38",
            "the first character of three bytes is rejected at the end of a block of 64 bytes",
            INVENTED,
            &["verdict/valid-3/edge64"],
        )
    },
    Planted {
        validate: |bytes| refusing(bytes, b"\xEE\x80\x80\xF0\x90\x80\x80", |_| true),
        ..sound(
            "h39",
            "the first character after the surrogates is rejected directly before the first of four bytes",
            INVENTED,
            &["verdict/valid-*/*"],
        )
    },
    Planted {
        validate: |bytes| refusing(bytes, b"\xED\x9F\xBF\xC2\x80", |at| at % 16 == 14),
        ..sound(
            "h40",
            "the last character before the surrogates is rejected before U+0080 across the edge of a register",
            INVENTED,
            &["verdict/valid-*/edge16"],
        )
    },
    Planted {
        validate: |bytes| {
            missing(bytes, |at| {
                let block = at / 64 * 64;
                let is_ascii = block >= 128 && is_ascii_before(bytes, at, block - 64..block);
                is_ascii && is_continuation(bytes[block - 65])
            })
        },
        ..sound(
            "h41",
            "an error is missed in the block after a block of ASCII that follows a block which ends in a character",
            "the family of simdutf#381",
            &["verdict/*/*"],
        )
    },
    Planted {
        validate: |bytes| {
            missing(bytes, |at| at % 128 >= 64 && is_ascii_before(bytes, at, at / 128 * 128..at / 128 * 128 + 64))
        },
        ..sound(
            "h42",
            "an error in the second half of 128 bytes is missed if the first half is ASCII",
            "the family of simdjson#1346",
            &["verdict/*/edge128"],
        )
    },
    Planted {
        validate: |bytes| {
            missing(bytes, |at| at % 256 >= 224 && is_ascii_before(bytes, at, at / 256 * 256..at / 256 * 256 + 224))
        },
        ..sound(
            "h43",
            "an error in the last register of 256 bytes is missed if the others are ASCII",
            INVENTED,
            &["verdict/*/edge256"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            let starts: Vec<usize> = errors(bytes).map(|error| error.range().start).collect();
            replacing(bytes, out, |number, at, out| {
                if number == 0 || at - starts[number - 1] < 1024 {
                    out.extend_from_slice(REPLACEMENT);
                }
            });
        },
        ..sound("h44", "an error 1,024 bytes or more after the one before it is not replaced", INVENTED, &["lossy/*/*"])
    },
];

// Faults that depend on earlier inputs.

thread_local! {
    /// How many inputs in a row were rejected.
    static REJECTED: Cell<usize> = const { Cell::new(0) };
    /// Address, length and output of the last input that was decoded.
    static DECODED: RefCell<(usize, usize, Vec<u8>)> = const { RefCell::new((0, 0, Vec::new())) };
    /// Length and last bytes of the last long input, and the verdict on it.
    static JUDGED: RefCell<(usize, Vec<u8>, Option<Validity>)> = const { RefCell::new((0, Vec::new(), None)) };
}

pub(super) static HISTORIES: &[Planted] = &[
    Planted {
        validate: |bytes| {
            let verdict = fault::validate(bytes);
            let is_valid = verdict == Some(Validity::Valid);
            let rejected = REJECTED.replace(if is_valid { 0 } else { REJECTED.get() + 1 });
            if rejected >= 3 && is_valid && bytes.len() > 3 { Some(Validity::INVALID) } else { verdict }
        },
        ..sound(
            "h45",
            "a well-formed input of four bytes or more is rejected after three that were",
            INVENTED,
            &["repeat/end/*", "spans/*/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            DECODED.with_borrow_mut(|(at, len, text)| {
                if (*at, *len) != (address(bytes), bytes.len()) || bytes.len() < 32 {
                    text.clear();
                    lossy_into(bytes, text);
                    (*at, *len) = (address(bytes), bytes.len());
                }
                out.extend_from_slice(text);
            });
        },
        ..sound(
            "h46",
            "the output of the last input is written again for an input of 32 bytes or more at the same address",
            INVENTED,
            &["repeat/end/*", "placement/*/*", "identity/*/*", "lossy/*/*"],
        )
    },
    Planted {
        validate: |bytes| {
            let Some(last) = bytes.len().checked_sub(128).map(|_| &bytes[bytes.len() - 4..]) else {
                return fault::validate(bytes);
            };
            JUDGED.with_borrow_mut(|(len, end, verdict)| {
                if *len != bytes.len() || *end != last {
                    (*len, *end, *verdict) = (bytes.len(), last.to_vec(), fault::validate(bytes));
                }
                *verdict
            })
        },
        ..sound(
            "h47",
            "of inputs of 128 bytes or more, the verdict is kept for the next with the same length and last bytes",
            INVENTED,
            &["repeat/end/*", "placement/*/*", "verdict/*/*", "valid-up-to/*/*"],
        )
    },
];
