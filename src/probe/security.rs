//! What matters when one decoder checks a string and another reads it: which strings one accepts and the other rejects,
//! and which strings turn into text with a character that separates or quotes.

use crate::decoder::Decoder;
use crate::generate::classes::Block;
use crate::probe::asking::ask;
use crate::probe::contracts::INPUTS;
use crate::utf8::Validity;
use std::sync::LazyLock;

/// The length in bytes of the longest strings of [`Verdicts`].
pub const LONGEST: u32 = 4;

/// The characters that end a string, a line, a path or a tag.
pub const SEPARATORS: [u8; 7] = *b"\0\n\r\"'/<";

/// How many inputs are asked about at once.
const BATCH: usize = 4096;

/// The verdicts of a decoder on all class strings of up to [`LONGEST`] bytes, and on the inputs of the questionnaire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Verdicts(Vec<bool>);

/// All class strings of up to [`LONGEST`] bytes and the inputs of the questionnaire, the shortest first.
fn strings() -> &'static [Vec<u8>] {
    static STRINGS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
        let blocks = (0..=LONGEST).map(|len| Block { len, offset: 0 });
        let indices = blocks.flat_map(|block| (0..block.count()).map(move |index| (block, index)));
        let class_strings = indices.map(|(block, index)| {
            let mut bytes = Vec::new();
            block.write(index, &mut bytes);
            bytes
        });
        let mut all: Vec<Vec<u8>> = class_strings.chain(INPUTS.iter().map(|bytes| bytes.to_vec())).collect();
        all.sort_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
        all.dedup();
        all
    });
    &STRINGS
}

impl Verdicts {
    /// Asks for all verdicts; `None` if the decoder gives none, or does not answer each time.
    pub fn of(decoder: &dyn Decoder) -> Option<Self> {
        ask(decoder, &[b"a"])[0].verdict?;
        let mut verdicts = Vec::with_capacity(strings().len());
        for some in strings().chunks(BATCH) {
            let inputs: Vec<&[u8]> = some.iter().map(Vec::as_slice).collect();
            for answer in ask(decoder, &inputs) {
                verdicts.push(answer.verdict?.is_valid());
            }
        }
        Some(Self(verdicts))
    }

    /// How many strings are accepted.
    pub fn accepted(&self) -> usize {
        self.0.iter().filter(|accepted| **accepted).count()
    }

    /// The shortest string that is accepted here and rejected there.
    pub fn beyond(&self, other: &Self) -> Option<&'static [u8]> {
        let mut pairs = self.0.iter().zip(&other.0);
        strings().get(pairs.position(|(here, there)| *here && !there)?).map(Vec::as_slice)
    }
}

/// What a decoder makes of inputs without a separator that a careless decoder decodes to it.
#[derive(Clone, Debug, Default)]
pub struct Disguised {
    /// Each of [`SEPARATORS`] that it writes for such an input, and the shortest such input that was asked.
    pub written: Vec<(u8, Vec<u8>)>,
    /// The inputs that it accepts without writing the separator.
    pub accepted: Vec<(u8, Vec<u8>)>,
}

/// Inputs without this ASCII character that a careless decoder decodes to it, the shortest first: overlong forms, and
/// bytes of which some bits are ignored.
fn disguises(character: u8) -> Vec<Vec<u8>> {
    let (high, low) = (character >> 6, character & 0x3F);
    let single = (0..=u8::MAX).map(|byte| vec![byte]);
    let pairs = (0x80..=u8::MAX).flat_map(|lead| [0x80, 0xC0, 0x40, 0].map(|top| vec![lead, top | low]));
    let overlong: [&[u8]; 4] = [
        &[0xE0, 0x80 | high],
        &[0xF0, 0x80, 0x80 | high],
        &[0xF8, 0x80, 0x80, 0x80 | high],
        &[0xFC, 0x80, 0x80, 0x80, 0x80 | high],
    ];
    let overlong = overlong.into_iter().map(|lead| [lead, &[0x80 | low]].concat());
    single.chain(pairs).chain(overlong).filter(|bytes| !bytes.contains(&character)).collect()
}

/// Asks about all such inputs.
pub fn disguised(decoder: &dyn Decoder) -> Disguised {
    let mut all = Disguised::default();
    for character in SEPARATORS {
        let inputs = disguises(character);
        let answers = ask(decoder, &inputs.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let mut is_written = false;
        for (bytes, answer) in inputs.into_iter().zip(answers) {
            let writes = answer.output.is_some_and(|output| output.contains(&character));
            if writes && !is_written {
                is_written = true;
                all.written.push((character, bytes));
            } else if !writes && !bytes.is_ascii() && answer.verdict == Some(Validity::Valid) {
                all.accepted.push((character, bytes));
            }
        }
    }
    all
}
