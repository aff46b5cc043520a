//! Faults of replacement: except in R13, the verdict is right and the output is not.
//!
//! R12 covers only the half of its report about dropped ASCII; the other half has the effect of R16. R16 covers only
//! the half about lead bytes. R10 is in `streams`.

use crate::codec;
use crate::codec::{Utf8Error, errors};
use crate::peers::planted::fault::{Planted, sound, validate};
use crate::spec;
use crate::spec::{Contract, Replacement, Segmentation};
use crate::utf8::push_extended;
use crate::utf8::{ErrorLen, Kind, Malformed, REPLACEMENT, is_continuation};

/// Decodes, calling `replace` for every error. `replace` takes the input, the offset of the error and the error, writes
/// the replacement, and returns how many bytes it consumes.
fn replacing(bytes: &[u8], out: &mut Vec<u8>, replace: impl Fn(&[u8], usize, &Utf8Error, &mut Vec<u8>) -> usize) {
    let mut at = 0;
    while let Some(error) = errors(&bytes[at..]).next() {
        let start = at + error.valid_up_to();
        out.extend_from_slice(&bytes[at..start]);
        at = (start + replace(bytes, start, &error, out).max(1)).min(bytes.len());
    }
    out.extend_from_slice(&bytes[at..]);
}

/// Decodes with one U+FFFD for every error; `taken` takes the offset of the error and returns how many bytes it
/// consumes.
fn replacing_once(bytes: &[u8], out: &mut Vec<u8>, taken: fn(&[u8], usize, &Utf8Error) -> usize) {
    replacing(bytes, out, |bytes, at, error, out| {
        push_replacements(1, out);
        taken(bytes, at, error)
    });
}

fn push_replacements(count: usize, out: &mut Vec<u8>) {
    (0..count).for_each(|_| out.extend_from_slice(REPLACEMENT));
}

/// The length in bytes that a lead byte announces; 1 for any other byte.
fn announced(byte: u8) -> usize {
    match byte {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => 1,
    }
}

/// Signatures whose subject is what starts at the byte that truncates a sequence, or the truncated sequence itself.
const OFFENDING: [&str; 6] = [
    "lossy/too-*/*",
    "lossy/valid-*/*",
    "lossy/overlong-*/*",
    "lossy/surrogate/*",
    "lossy/invalid-byte/*",
    "lossy/incomplete/*",
];

pub(super) static FAULTS: &[Planted] = &[
    Planted {
        lossy: |bytes, out| {
            replacing(bytes, out, |bytes, at, error, out| {
                let is_whole = bytes.get(at + 2).is_some_and(|&third| is_continuation(third));
                let dropped = usize::from(error.kind() == Kind::Surrogate && is_whole);
                push_replacements(1 + dropped, out);
                error.range().len() + 2 * dropped
            });
        },
        ..sound(
            "r01",
            "the third byte of a surrogate is dropped",
            "corefx#36163",
            &["lossy/surrogate/*", "lossy/continuation/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            replacing_once(bytes, out, |_, _, error| error.range().len() + usize::from(error.kind() == Kind::TooShort));
        },
        ..sound("r02", "the byte that truncates a sequence is consumed with it", "php-src#8360", &OFFENDING)
    },
    Planted {
        lossy: |bytes, out| {
            replacing(bytes, out, |_, _, error, out| {
                push_replacements(error.range().len(), out);
                error.range().len()
            });
        },
        ..sound(
            "r04",
            "each byte of an ill-formed segment is replaced separately",
            "haskell/text#517",
            &["lossy/too-short/*", "lossy/incomplete/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            replacing_once(bytes, out, |bytes, at, _| {
                let others = bytes[at + 1..].iter().take(announced(bytes[at]) - 1);
                1 + others.take_while(|&&byte| is_continuation(byte)).count()
            });
        },
        ..sound(
            "r05",
            "a lead and the continuation bytes it announces share one replacement",
            "node#16894, ICU before 60",
            &["lossy/overlong-*/*", "lossy/surrogate/*", "lossy/too-large/*", "lossy/continuation/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            replacing(bytes, out, |_, _, error, out| {
                push_replacements(if error.kind() == Kind::Incomplete { error.range().len() } else { 1 }, out);
                error.range().len()
            });
        },
        ..sound(
            "r06",
            "each byte of an incomplete sequence at the end is replaced separately",
            "dart#43737, Chrome",
            &["lossy/incomplete/tail"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            replacing_once(bytes, out, |bytes, at, error| {
                let left = bytes.len() - at;
                if announced(bytes[at]) > left { left } else { error.range().len() }
            });
        },
        ..sound(
            "r08",
            "if fewer bytes are left than the lead announces, all of them are dropped",
            "dart#43737, Safari",
            &["lossy/*/tail"],
        )
    },
    {
        let mut planted = sound(
            "r09",
            "only the first byte of a two-byte subpart is escaped",
            "pypy#3116",
            &["lossy/too-short/*", "lossy/incomplete/*"],
        );
        planted.contract = Contract { replacement: Some(Replacement::SurrogateEscape), ..Contract::STANDARD };
        planted.lossy = |bytes, out| {
            replacing(bytes, out, |bytes, at, error, out| {
                let len = error.range().len();
                let escaped = if len == 2 { 1 } else { len };
                Replacement::SurrogateEscape.push(&bytes[at..at + escaped], out);
                len
            });
        };
        planted.stream = || None;
        planted
    },
    Planted {
        lossy: |bytes, out| {
            replacing_once(bytes, out, |bytes, at, error| match bytes[at..] {
                [0x80..=0xBF, 0xC0 | 0xC1, 0x80..=0xBF, ..] => 3,
                _ => error.range().len(),
            });
        },
        ..sound(
            "r11",
            "a stray continuation and the overlong form after it share one replacement",
            "Perl Encode 3.17",
            &["lossy/continuation/*", "lossy/overlong-2/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            replacing_once(bytes, out, |bytes, at, error| {
                if error.kind() == Kind::TooShort { announced(bytes[at]) } else { error.range().len() }
            });
        },
        ..sound("r12", "a truncated sequence consumes as many bytes as its lead announces", "bun#35306", &OFFENDING)
    },
    Planted {
        validate: |bytes| {
            let end = codec::validate(bytes).map_or_else(|error| error.valid_up_to(), |()| bytes.len());
            let found = bytes[..end].windows(REPLACEMENT.len()).position(|window| window == REPLACEMENT);
            found.map(|at| Malformed::at(at, ErrorLen::Bytes(REPLACEMENT.len())).into()).or_else(|| validate(bytes))
        },
        ..sound("r13", "U+FFFD in the input is taken for an error", "golang#47826", &["verdict/valid-3/*"])
    },
    Planted {
        lossy: |bytes, out| {
            replacing_once(bytes, out, |bytes, at, error| if bytes[at] >= 0xF8 { 4 } else { error.range().len() });
        },
        ..sound(
            "r14",
            "F8 to FF consume four bytes, as if they started four-byte sequences",
            "jq#1804",
            &[
                "lossy/invalid-byte/*",
                "lossy/continuation/*",
                "lossy/valid-*/*",
                "lossy/overlong-*/*",
                "lossy/surrogate/*",
                "lossy/too-*/*",
                "lossy/incomplete/*",
            ],
        )
    },
    Planted {
        lossy: |bytes, out| {
            const BUFFER: usize = 4096;
            replacing(bytes, out, |bytes, at, error, out| {
                if error.kind() != Kind::Continuation {
                    push_replacements(1, out);
                    return error.range().len();
                }
                while out.len() < BUFFER {
                    push_replacements(1, out);
                }
                bytes.len() - at
            });
        },
        ..sound(
            "r15",
            "a stray continuation is replaced repeatedly until a 4096-byte buffer is full",
            "commonmark-spec#114, glibc CVE-2016-10228",
            &["progress/continuation/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            replacing(bytes, out, |bytes, at, error, out| {
                match bytes[at] {
                    lead @ 0xC0.. if error.range().len() == 1 => push_extended(u32::from(lead), out),
                    _ => push_replacements(1, out),
                }
                error.range().len()
            });
        },
        ..sound(
            "r16",
            "an ill-formed lead byte is decoded as Latin-1",
            "vlang#27630",
            &["lossy/invalid-byte/*", "lossy/overlong-*/*", "lossy/surrogate/*", "lossy/too-*/*", "lossy/incomplete/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            spec::lossy(&Contract { segmentation: Segmentation::SwallowNonLead, ..Contract::STANDARD }, bytes, out);
        },
        ..sound(
            "r17",
            "replacement swallows bytes that cannot start a sequence, up to the length the lead announces",
            "PHP 8.2 htmlspecialchars",
            &[
                "lossy/too-*/*",
                "lossy/overlong-*/*",
                "lossy/surrogate/*",
                "lossy/continuation/*",
                "lossy/invalid-byte/*",
            ],
        )
    },
    Planted {
        lossy: |bytes, out| {
            replacing_once(bytes, out, |bytes, at, error| {
                let is_whole = bytes.get(at + 2).is_some_and(|&third| is_continuation(third));
                if error.kind() == Kind::Surrogate && is_whole { 3 } else { error.range().len() }
            });
        },
        ..sound(
            "x10",
            "a lone surrogate is replaced once, not once for each byte",
            "javy#185",
            &["lossy/surrogate/*", "lossy/continuation/*"],
        )
    },
];
