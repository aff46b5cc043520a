//! Faults of validators that work in registers.
//!
//! The validator is that of `fastvalidate-utf-8`, from which those of simdjson and its kin descend: how many bytes a
//! sequence still wants is carried from byte to byte, and out of one register of 16 into the next. It is branch-free;
//! an array stands for a register.

use crate::peers::planted::{Planted, decided, sound};
use crate::utf8::Validity;

/// The fault of a validator, as a const parameter.
type Fault = u8;
#[cfg(test)]
const NONE: Fault = 0;
const S10: Fault = 10;
const S16: Fault = 16;

pub(super) static FAULTS: &[Planted] = &[
    Planted {
        validate: by_registers::<S10>,
        ..sound(
            "s10",
            "what a lead asks of the second byte is forgotten between registers of 16 bytes",
            "simdjson#357, which does not say how",
            &[
                "verdict/overlong-2/edge16",
                "verdict/overlong-3/edge16",
                "verdict/overlong-4/edge16",
                "verdict/surrogate/edge16",
                "verdict/too-large/edge16",
            ],
        )
    },
    Planted {
        validate: by_registers::<S16>,
        ..sound(
            "s16",
            "80 passes for ASCII in a block of four registers where the other three have 00 or 80 in its place",
            "simdjson#1346",
            &["verdict/continuation/*", "verdict/valid-2/*", "verdict/valid-3/*", "verdict/valid-4/*"],
        )
    },
];

const WIDTH: usize = 16;
type Register = [u8; WIDTH];

/// How many bytes a sequence has, by the high half of its first byte; 0 for a continuation.
const LENGTHS: [u8; 16] = [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 2, 3, 4];

/// A register and what follows from it for the next. The default is 16 bytes of ASCII.
#[derive(Clone, Copy, Default)]
struct Processed {
    bytes: Register,
    /// For each byte how many its sequence wants, itself included.
    carried: Register,
}

/// For each byte the one `N` before it.
fn behind<const N: usize>(now: Register, before: Register) -> Register {
    core::array::from_fn(|at| if at < N { before[WIDTH + at - N] } else { now[at - N] })
}

impl Processed {
    /// With anything but 0 where there is an error.
    fn of<const FAULT: Fault>(bytes: Register, before: &Self) -> (Self, u8) {
        let lengths = bytes.map(|byte| LENGTHS[usize::from(byte >> 4)]);
        let one_before = behind::<1>(lengths, before.carried);
        let sum: Register = core::array::from_fn(|at| lengths[at] + one_before[at].saturating_sub(1));
        let two_before = behind::<2>(sum, before.carried);
        let carried: Register = core::array::from_fn(|at| sum[at] + two_before[at].saturating_sub(2));
        let previous = behind::<1>(bytes, if FAULT == S10 { Register::default() } else { before.bytes });
        let errors = (0..WIDTH).fold(0, |errors, at| {
            let (byte, previous) = (bytes[at], previous[at]);
            let miscounted = (carried[at] > lengths[at]) == (lengths[at] > 0);
            let too_low =
                (previous & 0xFE == 0xC0) | (previous == 0xE0) & (byte < 0xA0) | (previous == 0xF0) & (byte < 0x90);
            let too_high = (byte > 0xF4) | (previous == 0xED) & (byte > 0x9F) | (previous == 0xF4) & (byte > 0x8F);
            errors | u8::from(miscounted | too_low | too_high)
        });
        (Self { bytes, carried }, errors)
    }

    /// Not 0 where more bytes are wanted.
    fn errors_before_ascii(&self) -> u8 {
        self.carried[WIDTH - 1].saturating_sub(1)
    }
}

fn accepts<const FAULT: Fault>(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut padded = [0; 64];
    padded[..rest.len()].copy_from_slice(rest);
    let mut before = Processed::default();
    let mut errors = 0;
    for block in blocks.iter().chain([&padded]) {
        let registers = block.as_chunks::<WIDTH>().0;
        let together = registers
            .iter()
            .fold(Register::default(), |all, register| core::array::from_fn(|at| all[at] | register[at]));
        let most_ascii = if FAULT == S16 { 0x80 } else { 0x7F };
        let is_ascii = together.iter().fold(true, |ascii, &bits| ascii & (bits <= most_ascii));
        let ascii = u8::from(is_ascii).wrapping_neg();
        errors |= before.errors_before_ascii() & ascii;
        for &register in registers {
            let (now, found) = Processed::of::<FAULT>(register, &before);
            errors |= found & !ascii;
            before = now;
        }
        // Nothing goes on behind what passed for ASCII.
        before.carried = before.carried.map(|carried| carried & !ascii | ascii & 1);
    }
    errors | before.errors_before_ascii() == 0
}

fn by_registers<const FAULT: Fault>(bytes: &[u8]) -> Option<Validity> {
    decided(bytes, accepts::<FAULT>(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::planted::tests::assert_sound;

    #[test]
    fn without_a_fault_it_is_sound() {
        assert_sound(accepts::<NONE>);
    }
}
