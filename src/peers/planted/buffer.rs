//! Faults of output through a buffer of fixed size.
//!
//! What a decoder writes past the end of such a buffer is lost here; in the decoders these faults were found in it
//! overwrote something.

use crate::codec::{Streaming, chars, utf16_lossy_into};
use crate::peers::planted::{Planted, sound};
use crate::peers::push_utf16;

pub(super) static FAULTS: &[Planted] = &[
    Planted {
        lossy: through_small_scratch,
        ..sound(
            "s14",
            "1024 units are room for what 1024 bytes complete, although four may have begun before",
            "dart-lang/sdk#64325",
            &["identity/valid-1/*", "lossy/*/*"],
        )
    },
    Planted {
        lossy: through_reused_chunk,
        ..sound(
            "s15",
            "a pair at the end of a chunk of 8192 units leaves a stale unit behind",
            "protobuf.js#1486",
            &["identity/*/*", "well-formed-output/*/*"],
        )
    },
    Planted {
        lossy: through_crowded_scratch,
        ..sound(
            "s17",
            "one free byte of 256 is taken for room for a character",
            "encoding_rs a074922, dart-lang/sdk#36235",
            &["identity/valid-2/*", "identity/valid-3/*", "identity/valid-4/*", "well-formed-output/*/*"],
        )
    },
];

/// Decodes chunks of 1024 bytes into 1024 units of UTF-16 each.
fn through_small_scratch(bytes: &[u8], out: &mut Vec<u8>) {
    const SCRATCH: usize = 1024;
    let mut stream = Streaming::new();
    let mut text = Vec::new();
    let mut units = Vec::new();
    for chunk in bytes.chunks(SCRATCH) {
        text.clear();
        stream.push(chunk, &mut text);
        let start = units.len();
        utf16_lossy_into(&text, &mut units);
        units.truncate(start + SCRATCH);
    }
    text.clear();
    // Nothing but the incomplete sequence at the end, of which the verdict speaks.
    let _ = stream.finish(&mut text);
    utf16_lossy_into(&text, &mut units);
    push_utf16(&units, out);
}

/// Writes UTF-16 into a chunk that grows by a unit where a pair crosses its end, and is emptied whole from then on.
fn through_reused_chunk(bytes: &[u8], out: &mut Vec<u8>) {
    const CHUNK: usize = 8192;
    let mut units = Vec::new();
    utf16_lossy_into(bytes, &mut units);
    let mut chunk: Vec<u16> = Vec::new();
    let mut text = Vec::new();
    let mut filled = 0;
    for scalar in char::decode_utf16(units) {
        let scalar = scalar.unwrap_or(char::REPLACEMENT_CHARACTER);
        for &unit in scalar.encode_utf16(&mut [0; 2]).iter() {
            match chunk.get_mut(filled) {
                Some(slot) => *slot = unit,
                None => chunk.push(unit),
            }
            filled += 1;
        }
        if filled >= CHUNK {
            text.extend_from_slice(&chunk);
            filled = 0;
        }
    }
    text.extend_from_slice(&chunk[..filled]);
    push_utf16(&text, out);
}

/// Writes UTF-8 into 256 bytes that are emptied when they are full.
fn through_crowded_scratch(bytes: &[u8], out: &mut Vec<u8>) {
    let mut scratch = [0; 256];
    let mut filled = 0;
    for c in chars(bytes).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)) {
        if filled == scratch.len() {
            out.extend_from_slice(&scratch);
            filled = 0;
        }
        for &byte in c.encode_utf8(&mut [0; 4]).as_bytes() {
            if let Some(slot) = scratch.get_mut(filled) {
                *slot = byte;
                filled += 1;
            }
        }
    }
    out.extend_from_slice(&scratch[..filled]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether text comes back as it was.
    fn is_kept(lossy: fn(&[u8], &mut Vec<u8>), text: &[u8]) -> bool {
        let mut out = Vec::new();
        lossy(text, &mut out);
        out == text
    }

    #[test]
    fn only_full_buffers_lose_anything() {
        let bike = "\u{1F6B2}".as_bytes();
        let text = |before: usize, behind: usize| [&vec![b'a'; before], bike, &vec![b'a'; behind]].concat();
        assert!(!is_kept(through_small_scratch, &text(1021, 1023)));
        assert!(is_kept(through_small_scratch, &text(1021, 1022)));
        assert!(is_kept(through_small_scratch, &text(1020, 3000)));
        assert!(!is_kept(through_reused_chunk, &text(8191, 8192)));
        assert!(is_kept(through_reused_chunk, &text(8191, 8191)));
        assert!(is_kept(through_reused_chunk, &text(8190, 20_000)));
        assert!(!is_kept(through_crowded_scratch, &text(253, 0)));
        assert!(is_kept(through_crowded_scratch, &text(252, 300)));
    }
}
