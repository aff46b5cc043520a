//! The vocabulary that every layer shares: verdicts on a byte string, and the byte classes of UTF-8.
//!
//! Offsets and lengths are in bytes. Terms are those of the Unicode Standard, chapter 3 (D84 to D93b, Table 3-7).

use core::fmt;

/// U+FFFD REPLACEMENT CHARACTER in UTF-8.
pub const REPLACEMENT: &[u8] = b"\xEF\xBF\xBD";

/// U+FEFF, the byte order mark, in UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The verdict on a whole byte string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Validity {
    /// The string is well-formed.
    Valid,
    /// The string is ill-formed; this describes the first error.
    Invalid(Malformed),
}

impl Validity {
    /// Ill-formed, with nothing stated about the error: the verdict of a boolean validator.
    pub const INVALID: Self = Self::Invalid(Malformed { valid_up_to: None, len: None, kind: None });

    /// Ill-formed: the first error begins after this many valid bytes; nothing else is stated about it.
    pub const fn invalid_at(valid_up_to: usize) -> Self {
        Self::Invalid(Malformed { valid_up_to: Some(valid_up_to), len: None, kind: None })
    }

    /// True for [`Validity::Valid`].
    pub fn is_valid(&self) -> bool {
        matches!(self, Self::Valid)
    }

    /// The first error, if there is one.
    pub fn malformed(&self) -> Option<&Malformed> {
        match self {
            Self::Valid => None,
            Self::Invalid(malformed) => Some(malformed),
        }
    }
}

impl From<Result<(), core::str::Utf8Error>> for Validity {
    fn from(result: Result<(), core::str::Utf8Error>) -> Self {
        match result {
            Ok(()) => Self::Valid,
            Err(error) => Malformed::at(error.valid_up_to(), ErrorLen::from_error_len(error.error_len())).into(),
        }
    }
}

/// `Err` has the offset of the first error in bytes.
impl From<Result<(), usize>> for Validity {
    fn from(result: Result<(), usize>) -> Self {
        result.map_or_else(Self::invalid_at, |()| Self::Valid)
    }
}

/// Whether the string is well-formed, with nothing stated about the error.
impl From<bool> for Validity {
    fn from(is_valid: bool) -> Self {
        if is_valid { Self::Valid } else { Self::INVALID }
    }
}

impl fmt::Display for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Invalid(malformed) = self else { return f.write_str("valid") };
        f.write_str("invalid")?;
        if let Some(offset) = malformed.valid_up_to {
            write!(f, " at {offset}")?;
        }
        match malformed.len {
            None => {}
            Some(ErrorLen::Bytes(len)) => write!(f, ", length {len}")?,
            Some(ErrorLen::Incomplete) => f.write_str(", incomplete")?,
        }
        malformed.kind.map_or(Ok(()), |kind| write!(f, ", {kind}"))
    }
}

/// The first error of an ill-formed string. A field is `None` if the decoder does not state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Malformed {
    /// Length in bytes of the longest well-formed prefix: the offset of the first ill-formed byte.
    pub valid_up_to: Option<usize>,
    /// How many bytes the error spans.
    pub len: Option<ErrorLen>,
    /// Which rule was broken.
    pub kind: Option<Kind>,
}

impl Malformed {
    /// An error with offset and length, as `core::str::Utf8Error` states it.
    pub fn at(valid_up_to: usize, len: ErrorLen) -> Self {
        Self { valid_up_to: Some(valid_up_to), len: Some(len), kind: None }
    }
}

impl From<Malformed> for Validity {
    fn from(malformed: Malformed) -> Self {
        Self::Invalid(malformed)
    }
}

/// The length of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorLen {
    /// The ill-formed segment has this many bytes.
    Bytes(usize),
    /// The input ends inside a sequence that more bytes could complete (`error_len() == None` in `core::str`).
    Incomplete,
}

impl ErrorLen {
    /// From the convention of `core::str::Utf8Error::error_len`, where `None` means incomplete.
    pub fn from_error_len(error_len: Option<usize>) -> Self {
        error_len.map_or(Self::Incomplete, Self::Bytes)
    }
}

/// Which rule an ill-formed segment breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A continuation byte (80..BF) where a character must start.
    Continuation,
    /// A byte that begins no form of as many bytes as the grammar has, not even an overlong one or one of a code point that is too
    /// large: F8..FF in RFC 3629, FE and FF in RFC 2279.
    InvalidByte,
    /// A form longer than the shortest for its code point; the field is the length in bytes that its lead byte
    /// announces, 2 to 6.
    Overlong(u8),
    /// A surrogate code point, U+D800..U+DFFF.
    Surrogate,
    /// A surrogate pair written as two three-byte forms, in a grammar that requires one four-byte form (WTF-8).
    SurrogatePair,
    /// A code point beyond the grammar's last (U+10FFFF in RFC 3629).
    TooLarge,
    /// A sequence truncated by a byte that is not a continuation byte.
    TooShort,
    /// A sequence truncated by the end of the input.
    Incomplete,
    /// A noncharacter (U+FDD0..U+FDEF, U+nFFFE, U+nFFFF) in a grammar without them.
    Noncharacter,
    /// A four-byte form in a grammar that writes supplementary code points as pairs (CESU-8, Modified UTF-8).
    FourByte,
    /// A raw 00 in a grammar that writes U+0000 as C0 80 (Modified UTF-8).
    Null,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 15] = [
        Self::Continuation,
        Self::InvalidByte,
        Self::Overlong(2),
        Self::Overlong(3),
        Self::Overlong(4),
        Self::Overlong(5),
        Self::Overlong(6),
        Self::Surrogate,
        Self::SurrogatePair,
        Self::TooLarge,
        Self::TooShort,
        Self::Incomplete,
        Self::Noncharacter,
        Self::FourByte,
        Self::Null,
    ];

    /// Index in [`Kind::ALL`].
    pub const fn index(self) -> usize {
        match self {
            Self::Continuation => 0,
            Self::InvalidByte => 1,
            Self::Overlong(2) => 2,
            Self::Overlong(3) => 3,
            Self::Overlong(4) => 4,
            Self::Overlong(5) => 5,
            Self::Overlong(_) => 6,
            Self::Surrogate => 7,
            Self::SurrogatePair => 8,
            Self::TooLarge => 9,
            Self::TooShort => 10,
            Self::Incomplete => 11,
            Self::Noncharacter => 12,
            Self::FourByte => 13,
            Self::Null => 14,
        }
    }

    /// The name used in signatures, the ledger and file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Continuation => "continuation",
            Self::InvalidByte => "invalid-byte",
            Self::Overlong(2) => "overlong-2",
            Self::Overlong(3) => "overlong-3",
            Self::Overlong(4) => "overlong-4",
            Self::Overlong(5) => "overlong-5",
            Self::Overlong(_) => "overlong-6",
            Self::Surrogate => "surrogate",
            Self::SurrogatePair => "surrogate-pair",
            Self::TooLarge => "too-large",
            Self::TooShort => "too-short",
            Self::Incomplete => "incomplete",
            Self::Noncharacter => "noncharacter",
            Self::FourByte => "four-byte",
            Self::Null => "null",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// True for 80..BF.
pub const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The 13 classes of bytes. RFC 3629 §4 and Unicode Table 3-7 distinguish the bytes of one class only by the resulting
/// code point.
///
/// In RFC 3629, whether an error is a maximal subpart or a single byte, exchanging a byte for another of its class changes neither
/// the offset nor the length of any error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteClass(u8);

impl ByteClass {
    /// First and last byte of every range of every class, in the order of the classes.
    const RANGES: [&'static [(u8, u8)]; 13] = [
        &[(0x00, 0x7F)],
        &[(0x80, 0x8F)],
        &[(0x90, 0x9F)],
        &[(0xA0, 0xBF)],
        &[(0xC0, 0xC1)],
        &[(0xC2, 0xDF)],
        &[(0xE0, 0xE0)],
        &[(0xE1, 0xEC), (0xEE, 0xEF)],
        &[(0xED, 0xED)],
        &[(0xF0, 0xF0)],
        &[(0xF1, 0xF3)],
        &[(0xF4, 0xF4)],
        &[(0xF5, 0xFF)],
    ];

    const OF_BYTE: [u8; 256] = {
        let mut table = [0; 256];
        let mut class = 0;
        while class < Self::RANGES.len() {
            let mut range = 0;
            while range < Self::RANGES[class].len() {
                let (first, last) = Self::RANGES[class][range];
                let mut byte = first as usize;
                while byte <= last as usize {
                    table[byte] = class as u8;
                    byte += 1;
                }
                range += 1;
            }
            class += 1;
        }
        table
    };

    /// First and last byte of each class. ED, which lies between those of E1..EF, is a class of its own.
    pub const BOUNDS: [(u8, u8); Self::RANGES.len()] = {
        let mut bounds = [(0, 0); Self::RANGES.len()];
        let mut class = 0;
        while class < bounds.len() {
            let ranges = Self::RANGES[class];
            bounds[class] = (ranges[0].0, ranges[ranges.len() - 1].1);
            class += 1;
        }
        bounds
    };

    /// The number of classes.
    pub const COUNT: usize = Self::RANGES.len();

    /// The class of a byte.
    pub const fn of(byte: u8) -> Self {
        Self(Self::OF_BYTE[byte as usize])
    }

    /// Every class, in the order of their first bytes.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT as u8).map(Self)
    }

    /// Index in [`ByteClass::all`], 0 to 12.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Every byte of the class, ascending.
    pub fn bytes(self) -> impl Iterator<Item = u8> {
        Self::RANGES[self.index()].iter().flat_map(|&(first, last)| first..=last)
    }

    /// The byte that represents the class in minimised inputs: the smallest, except `a` for ASCII and FF for F5..FF.
    pub fn canonical(self) -> u8 {
        match self.0 {
            0 => b'a',
            12 => 0xFF,
            class => Self::RANGES[class as usize][0].0,
        }
    }
}

/// Length announced by a lead byte (RFC 2279 §2); 1 for bytes that announce nothing.
pub fn announced_len(lead: u8) -> usize {
    match lead.leading_ones() {
        len @ 2..=6 => len as usize,
        _ => 1,
    }
}

/// The code point of a sequence of the right form, whatever its value (RFC 2279 §2): the lead byte without the bits that
/// announce the length, and six bits of each further byte. For no bytes it is 0.
pub fn payload(sequence: &[u8]) -> u32 {
    let Some((&lead, tail)) = sequence.split_first() else { return 0 };
    let lead_bits = match sequence.len() {
        1 => 0x7F,
        len => 0x7F >> len.min(7),
    };
    tail.iter().fold(u32::from(lead & lead_bits), |bits, byte| bits << 6 | u32::from(byte & 0x3F))
}

/// Length of a code point's shortest form in extended UTF-8, 1 to 6 bytes (the ranges of RFC 2279 §2).
pub fn extended_len(code_point: u32) -> usize {
    match code_point {
        0..=0x7F => 1,
        0x80..=0x7FF => 2,
        0x800..=0xFFFF => 3,
        0x1_0000..=0x1F_FFFF => 4,
        0x20_0000..=0x3FF_FFFF => 5,
        _ => 6,
    }
}

/// Appends the shortest form of any code point of up to 31 bits, surrogates included (RFC 2279 §2). For a larger number the
/// bytes mean nothing.
pub fn push_extended(code_point: u32, out: &mut Vec<u8>) {
    push_form(code_point, extended_len(code_point), out);
}

/// Appends a code point in a form of `len` bytes, 1 to 6, which need not be the shortest but must be long enough for it: in a
/// shorter form its upper bits change the lead byte (RFC 2279 §2).
///
/// # Panics
/// May panic for any other length.
pub fn push_form(code_point: u32, len: usize, out: &mut Vec<u8>) {
    if len == 1 {
        out.push(code_point as u8);
        return;
    }
    let marker = !(0xFFu8 >> len);
    out.push(marker | (code_point >> (6 * (len - 1))) as u8);
    out.extend((0..len - 1).rev().map(|index| 0x80 | (code_point >> (6 * index) & 0x3F) as u8));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_partition_the_bytes() {
        let mut seen = [0; 256];
        for class in ByteClass::all() {
            for byte in class.bytes() {
                seen[usize::from(byte)] += 1;
                assert_eq!(ByteClass::of(byte), class);
            }
            assert_eq!(ByteClass::of(class.canonical()), class);
            let ends = (class.bytes().min().unwrap(), class.bytes().max().unwrap());
            assert_eq!(ByteClass::BOUNDS[class.index()], ends);
        }
        assert_eq!(seen, [1; 256]);
    }

    #[test]
    fn kinds_are_listed_at_their_index() {
        assert!(Kind::ALL.iter().enumerate().all(|(index, kind)| kind.index() == index));
    }

    #[test]
    fn a_verdict_prints_what_is_stated() {
        assert_eq!(Validity::INVALID.to_string(), "invalid");
        let malformed = Malformed { kind: Some(Kind::Overlong(2)), ..Malformed::at(3, ErrorLen::Bytes(1)) };
        assert_eq!(Validity::from(malformed).to_string(), "invalid at 3, length 1, overlong-2");
    }
}
