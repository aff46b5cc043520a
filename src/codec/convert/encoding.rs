//! The encodings, and the names people give them.

use crate::error::Error;
use crate::spec::grammar;
use crate::spec::grammar::Grammar;

/// An encoding of text as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// UTF-8 as it is now: RFC 3629.
    Utf8,
    /// UTF-8 as first published: one to six octets, 31 bits, surrogates included (RFC 2279 §2).
    Rfc2279,
    /// The same without the surrogates, as the C library of GNU has it.
    Rfc2279NoSurrogates,
    /// CESU-8: supplementary code points as two three-byte surrogates (UTR #26).
    Cesu8,
    /// Modified UTF-8: CESU-8 with U+0000 as C0 80 (Java `DataInput`).
    ModifiedUtf8,
    /// WTF-8: UTF-8 and lone surrogates, pairs always joined.
    Wtf8,
    /// UTF-8B: UTF-8 in which each ill-formed byte is one of U+DC80..U+DCFF, so that any bytes come back
    /// (Python `surrogateescape`).
    Utf8b,
    /// UTF-16 in the order the byte order mark says: little-endian where there is none, and so written, with a mark.
    Utf16,
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-16, big-endian.
    Utf16Be,
    /// Sixteen bits for each code point and no pairs, little-endian.
    Ucs2Le,
    /// The same, big-endian.
    Ucs2Be,
    /// UTF-32 in the order the byte order mark says: little-endian where there is none, and so written, with a mark.
    Utf32,
    /// UTF-32, little-endian.
    Utf32Le,
    /// UTF-32, big-endian.
    Utf32Be,
    /// 31 bits for each code point, little-endian.
    Ucs4Le,
    /// The same, big-endian.
    Ucs4Be,
    /// ASCII: seven bits.
    Ascii,
    /// Latin-1 (ISO/IEC 8859-1, with the controls of ISO/IEC 6429): each byte is the code point of that number.
    Latin1,
    /// Windows-1252 by the index of the WHATWG Encoding Standard: 81, 8D, 8F, 90 and 9D are controls.
    Windows1252,
    /// Windows-1252 in which those five bytes are not assigned.
    Windows1252Strict,
}

/// Each encoding with its name and what else it is called, by the Encoding Standard, IANA, or habit. Where the Encoding
/// Standard reads one encoding as another (Latin-1 as Windows-1252), IANA's meaning holds.
const NAMES: [(Encoding, &str, &[&str]); 21] = [
    (
        Encoding::Utf8,
        "UTF-8",
        &["rfc3629", "unicode-1-1-utf-8", "unicode20utf8", "x-unicode20utf8", "csUTF8", "cp65001"],
    ),
    (Encoding::Rfc2279, "RFC2279", &["utf-8-rfc2279", "fss-utf", "utf-fss"]),
    (Encoding::Rfc2279NoSurrogates, "RFC2279-no-surrogates", &["rfc2279-surrogates"]),
    (Encoding::Cesu8, "CESU-8", &["csCESU8"]),
    (Encoding::ModifiedUtf8, "Modified-UTF-8", &["mutf-8", "java-utf-8"]),
    (Encoding::Wtf8, "WTF-8", &[]),
    (Encoding::Utf8b, "UTF-8B", &["utf-8-surrogateescape", "surrogateescape"]),
    (Encoding::Utf16, "UTF-16", &["csUTF16", "unicode", "csUnicode"]),
    (Encoding::Utf16Le, "UTF-16LE", &["csUTF16LE", "unicodeFEFF"]),
    (Encoding::Utf16Be, "UTF-16BE", &["csUTF16BE", "unicodeFFFE"]),
    (Encoding::Ucs2Le, "UCS-2LE", &["ucs-2", "iso-10646-ucs-2", "unicodelittle"]),
    (Encoding::Ucs2Be, "UCS-2BE", &["unicodebig"]),
    (Encoding::Utf32, "UTF-32", &["csUTF32"]),
    (Encoding::Utf32Le, "UTF-32LE", &["csUTF32LE"]),
    (Encoding::Utf32Be, "UTF-32BE", &["csUTF32BE"]),
    (Encoding::Ucs4Le, "UCS-4LE", &[]),
    (Encoding::Ucs4Be, "UCS-4BE", &["ucs-4", "iso-10646-ucs-4", "csUCS4"]),
    (
        Encoding::Ascii,
        "US-ASCII",
        &[
            "ascii",
            "ansi_x3.4-1968",
            "ansi_x3.4-1986",
            "iso-ir-6",
            "iso_646.irv:1991",
            "iso646-us",
            "us",
            "ibm367",
            "cp367",
            "csASCII",
        ],
    ),
    (
        Encoding::Latin1,
        "ISO-8859-1",
        &["latin-1", "l1", "iso_8859-1:1987", "iso-ir-100", "ibm819", "cp819", "csISOLatin1"],
    ),
    (Encoding::Windows1252, "windows-1252", &["cp1252", "x-cp1252", "cswindows1252", "ansi"]),
    (Encoding::Windows1252Strict, "windows-1252-strict", &["cp1252-strict"]),
];

impl Encoding {
    /// Every encoding.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(encoding, ..)| *encoding)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(encoding, ..)| *encoding == self).map_or("", |(_, name, _)| name)
    }

    /// What else it is called.
    pub fn aliases(self) -> &'static [&'static str] {
        NAMES.iter().find(|(encoding, ..)| *encoding == self).map_or(&[], |(.., aliases)| aliases)
    }

    /// The encoding of this name or alias. Case, hyphens, underscores and the like say nothing.
    ///
    /// # Errors
    /// There is none; the error names the nearest there is.
    pub fn named(label: &str) -> Result<Self, Error> {
        let wanted = essence(label);
        let labels = || {
            NAMES.iter().flat_map(|&(encoding, name, rest)| {
                core::iter::once(name).chain(rest.iter().copied()).map(move |label| (encoding, essence(label)))
            })
        };
        if let Some((encoding, _)) = labels().find(|(_, label)| *label == wanted) {
            return Ok(encoding);
        }
        let near = labels().map(|(encoding, label)| (distance(&label, &wanted), encoding)).min_by_key(|near| near.0);
        let remedy = match near {
            Some((away, encoding)) if away <= 2.min(wanted.len() / 2) => format!("did you mean {}?", encoding.name()),
            _ => format!("there are: {}", NAMES.map(|(_, name, _)| name).join(", ")),
        };
        Err(Error::usage(format!("no encoding is named {label:?}; {remedy}")))
    }

    /// Whether it can say U+FEFF, so that a byte order mark can stand at its start.
    pub fn has_byte_order_mark(self) -> bool {
        !self.is_single_byte()
    }

    /// How its bytes spell code points.
    pub(super) fn shape(self) -> Shape {
        let octets = |longest, surrogates| Shape::Octets(Octets { longest, surrogates, null_as_two: false });
        match self {
            Self::Utf8 | Self::Utf8b => octets(4, Surrogate::Refused),
            Self::Rfc2279 => octets(6, Surrogate::Alone),
            Self::Rfc2279NoSurrogates => octets(6, Surrogate::Refused),
            Self::Cesu8 => octets(3, Surrogate::Paired),
            Self::ModifiedUtf8 => {
                Shape::Octets(Octets { longest: 3, surrogates: Surrogate::Paired, null_as_two: true })
            }
            Self::Wtf8 => octets(4, Surrogate::Apart),
            Self::Utf16 | Self::Utf16Le => Shape::Units16 { order: Order::Little, pairs: true },
            Self::Utf16Be => Shape::Units16 { order: Order::Big, pairs: true },
            Self::Ucs2Le => Shape::Units16 { order: Order::Little, pairs: false },
            Self::Ucs2Be => Shape::Units16 { order: Order::Big, pairs: false },
            Self::Utf32 | Self::Utf32Le => Shape::Units32 { order: Order::Little, last: 0x10_FFFF },
            Self::Utf32Be => Shape::Units32 { order: Order::Big, last: 0x10_FFFF },
            Self::Ucs4Le => Shape::Units32 { order: Order::Little, last: 0x7FFF_FFFF },
            Self::Ucs4Be => Shape::Units32 { order: Order::Big, last: 0x7FFF_FFFF },
            Self::Ascii => Shape::Bytes(Bytes::Ascii),
            Self::Latin1 => Shape::Bytes(Bytes::Latin1),
            Self::Windows1252 => Shape::Bytes(Bytes::Windows1252 { holes: false }),
            Self::Windows1252Strict => Shape::Bytes(Bytes::Windows1252 { holes: true }),
        }
    }

    /// Whether it is UTF-8 or a relative.
    pub fn is_octets(self) -> bool {
        matches!(self.shape(), Shape::Octets(_))
    }

    /// The grammar of UTF-8 and its relatives.
    pub fn grammar(self) -> Option<&'static Grammar> {
        match self {
            Self::Utf8 | Self::Utf8b => Some(&grammar::RFC3629),
            Self::Rfc2279 => Some(&grammar::RFC2279),
            Self::Rfc2279NoSurrogates => Some(&grammar::RFC2279_NO_SURROGATES),
            Self::Cesu8 => Some(&grammar::CESU8),
            Self::ModifiedUtf8 => Some(&grammar::MODIFIED_UTF8),
            Self::Wtf8 => Some(&grammar::WTF8),
            _ => None,
        }
    }

    /// Whether each byte is a code point.
    pub fn is_single_byte(self) -> bool {
        matches!(self.shape(), Shape::Bytes(_))
    }

    /// Whether the byte order mark says in which order the bytes stand.
    pub(super) fn is_marked(self) -> bool {
        matches!(self, Self::Utf16 | Self::Utf32)
    }
}

impl core::fmt::Display for Encoding {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// How bytes spell code points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// UTF-8 or one of its relatives.
    Octets(Octets),
    /// Units of sixteen bits.
    Units16 { order: Order, pairs: bool },
    /// Units of 32 bits, up to the last.
    Units32 { order: Order, last: u32 },
    /// One byte for each code point.
    Bytes(Bytes),
}

/// A relative of UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Octets {
    /// Bytes of the longest form: 3, 4 (up to U+10FFFF) or 6.
    pub(super) longest: u8,
    pub(super) surrogates: Surrogate,
    /// U+0000 is C0 80.
    pub(super) null_as_two: bool,
}

/// What a relative of UTF-8 makes of three-byte surrogates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surrogate {
    Refused,
    /// Each is a code point.
    Alone,
    /// The same, but a trailing one may not follow a leading one.
    Apart,
    /// Two of them spell a supplementary code point.
    Paired,
    /// The same, and each other is a code point.
    PairedOrAlone,
}

/// The order of the bytes of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

/// An encoding of one byte for each code point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bytes {
    Ascii,
    Latin1,
    Windows1252 { holes: bool },
}

impl Octets {
    /// Whether every code point of RFC 3629 is spelled as there.
    pub(super) fn extends_rfc3629(self) -> bool {
        self.longest >= 4
    }
}

impl Shape {
    /// Bytes of a code unit.
    pub(super) fn unit_len(self) -> usize {
        match self {
            Self::Octets(_) | Self::Bytes(_) => 1,
            Self::Units16 { .. } => 2,
            Self::Units32 { .. } => 4,
        }
    }

    /// The same where unpaired surrogates pass.
    pub(super) fn with_surrogates(self) -> Self {
        match self {
            Self::Octets(octets) => {
                let surrogates = match octets.surrogates {
                    Surrogate::Refused => Surrogate::Alone,
                    Surrogate::Paired => Surrogate::PairedOrAlone,
                    other => other,
                };
                Self::Octets(Octets { surrogates, ..octets })
            }
            other => other,
        }
    }
}

/// The letters and digits of a label.
fn essence(label: &str) -> String {
    label.chars().filter(|c| !matches!(c, '-' | '_' | ' ' | '.' | ':')).map(|c| c.to_ascii_lowercase()).collect()
}

/// How many characters must be put in, left out or exchanged.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, one) in left.chars().enumerate() {
        let mut corner = core::mem::replace(&mut row[0], above + 1);
        for (at, other) in right.iter().enumerate() {
            let exchanged = corner + usize::from(one != *other);
            corner = row[at + 1];
            row[at + 1] = exchanged.min(corner + 1).min(row[at] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_people_write_them() {
        for (label, name) in [
            ("utf8", "UTF-8"),
            ("UNICODE-1-1-UTF-8", "UTF-8"),
            ("Utf_8", "UTF-8"),
            ("utf-16le", "UTF-16LE"),
            ("UTF16", "UTF-16"),
            ("ISO_8859-1:1987", "ISO-8859-1"),
            ("latin1", "ISO-8859-1"),
            ("x-cp1252", "windows-1252"),
            ("ANSI_X3.4-1968", "US-ASCII"),
            ("ISO-10646-UCS-2", "UCS-2LE"),
            ("ucs4", "UCS-4BE"),
            ("mutf8", "Modified-UTF-8"),
        ] {
            assert_eq!(Encoding::named(label).map(Encoding::name).ok(), Some(name), "{label}");
        }
        let error = |label| Encoding::named(label).map(Encoding::name).unwrap_err().to_string();
        assert_eq!(error("utf-9"), "no encoding is named \"utf-9\"; did you mean UTF-8?");
        assert_eq!(error("windows-1253"), "no encoding is named \"windows-1253\"; did you mean windows-1252?");
        assert!(error("klingon").contains("there are: UTF-8, RFC2279, "));
        assert!(error("").contains("there are: UTF-8, RFC2279, "));
    }

    #[test]
    fn no_label_names_two_encodings() {
        let mut labels: Vec<_> = Encoding::all()
            .flat_map(|encoding| [encoding.name()].into_iter().chain(encoding.aliases().iter().copied()))
            .map(essence)
            .collect();
        let count = labels.len();
        labels.sort();
        labels.dedup();
        assert_eq!(labels.len(), count);
        assert!(Encoding::all().all(|encoding| !encoding.name().is_empty()));
    }
}
