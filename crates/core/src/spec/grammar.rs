//! Which byte sequences are well-formed: the grammars, as constant rows.
//!
//! A row is one line of a table like Unicode Table 3-7 or one alternative of the ABNF in RFC 3629 §4: a range for each
//! byte. Well-formedness depends only on these and on [`Grammar::pairs_join`]; the tables are meant to be compared with the standards by eye.
//!
//! ```
//! # use utfuzz_core as utfuzz;
//! use utfuzz::spec::{Grammar, encode};
//!
//! let (utf_8, cesu_8) = (Grammar::named("rfc3629").unwrap(), Grammar::named("cesu-8").unwrap());
//! let (mut four, mut six) = (Vec::new(), Vec::new());
//! encode(utf_8, 0x1_F600, &mut four).unwrap();
//! encode(cesu_8, 0x1_F600, &mut six).unwrap();
//! assert_eq!((&four[..], &six[..]), (&b"\xF0\x9F\x98\x80"[..], &b"\xED\xA0\xBD\xED\xB8\x80"[..]));
//! ```

/// An inclusive range of bytes.
pub type Range = (u8, u8);

/// One alternative of a grammar: a range for each byte of the sequence.
#[derive(Debug)]
pub struct Row {
    /// The permitted range of each byte, lead byte first.
    pub bytes: &'static [Range],
    /// How the bytes encode a code point.
    pub form: Form,
}

/// How a well-formed sequence encodes its code point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lead byte and continuation bytes carry the code point's bits (RFC 3629 §3, RFC 2279 §2).
    Scalar,
    /// Like `Scalar`, for an unpaired leading surrogate (U+D800..U+DBFF).
    LeadSurrogate,
    /// Like `Scalar`, for an unpaired trailing surrogate (U+DC00..U+DFFF).
    TrailSurrogate,
    /// Six bytes: two three-byte surrogates that represent one supplementary code point (UTR #26).
    Pair,
}

/// A named set of well-formed sequences.
#[derive(Debug)]
pub struct Grammar {
    /// The name in contracts, reports and on the command line. A grammar that differs from another in one feature has
    /// the name of the other, followed by `-with-` and what it adds, or `-without-` and what it excludes.
    pub name: &'static str,
    /// Where the table comes from.
    pub source: &'static str,
    /// The alternatives; no sequence matches more than one.
    pub rows: &'static [Row],
    /// True if a trailing surrogate may not follow a leading one, since the pair has a form of its own (WTF-8 §3).
    pub pairs_join: bool,
    /// For each byte the index of the first row that it may start; the number of rows if there is none.
    first_row: [u8; 256],
}

impl Grammar {
    const fn new(name: &'static str, source: &'static str, rows: &'static [Row]) -> Self {
        let mut first_row = [rows.len() as u8; 256];
        let mut row = rows.len();
        while row > 0 {
            row -= 1;
            let (first, last) = rows[row].bytes[0];
            let mut lead = first as usize;
            while lead <= last as usize {
                first_row[lead] = row as u8;
                lead += 1;
            }
        }
        Self { name, source, rows, pairs_join: false, first_row }
    }

    /// Whether exchanging one of these bytes for the other may make a well-formed sequence ill-formed.
    pub fn tells_apart(&self, one: u8, other: u8) -> bool {
        let has = |&(first, last): &Range, byte: u8| first <= byte && byte <= last;
        self.rows.iter().flat_map(|row| row.bytes).any(|range| has(range, one) != has(range, other))
    }

    /// Whether this byte may start a well-formed sequence.
    pub(super) fn has_lead(&self, byte: u8) -> bool {
        !self.rows_from(byte).is_empty()
    }

    /// The rows that start with this byte, and possibly further rows after them.
    pub(super) fn rows_from(&self, lead: u8) -> &'static [Row] {
        &self.rows[usize::from(self.first_row[usize::from(lead)])..]
    }
}

impl PartialEq for Grammar {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Grammar {}

const TAIL: Range = (0x80, 0xBF);

const fn scalar(bytes: &'static [Range]) -> Row {
    Row { bytes, form: Form::Scalar }
}

const ASCII: Row = scalar(&[(0x00, 0x7F)]);
const TWO: Row = scalar(&[(0xC2, 0xDF), TAIL]);
const THREE_E0: Row = scalar(&[(0xE0, 0xE0), (0xA0, 0xBF), TAIL]);
const THREE_E1: Row = scalar(&[(0xE1, 0xEC), TAIL, TAIL]);
const THREE_ED: Row = scalar(&[(0xED, 0xED), (0x80, 0x9F), TAIL]);
const THREE_EE: Row = scalar(&[(0xEE, 0xEF), TAIL, TAIL]);
const FOUR_F0: Row = scalar(&[(0xF0, 0xF0), (0x90, 0xBF), TAIL, TAIL]);
const FOUR_F1: Row = scalar(&[(0xF1, 0xF3), TAIL, TAIL, TAIL]);
const FOUR_F4: Row = scalar(&[(0xF4, 0xF4), (0x80, 0x8F), TAIL, TAIL]);
const LEAD_SURROGATE: Row = Row { bytes: &[(0xED, 0xED), (0xA0, 0xAF), TAIL], form: Form::LeadSurrogate };
const TRAIL_SURROGATE: Row = Row { bytes: &[(0xED, 0xED), (0xB0, 0xBF), TAIL], form: Form::TrailSurrogate };
const PAIR: Row =
    Row { bytes: &[(0xED, 0xED), (0xA0, 0xAF), TAIL, (0xED, 0xED), (0xB0, 0xBF), TAIL], form: Form::Pair };
const FOUR_TO_1FFFFF: Row = scalar(&[(0xF1, 0xF7), TAIL, TAIL, TAIL]);
const FIVE_F8: Row = scalar(&[(0xF8, 0xF8), (0x88, 0xBF), TAIL, TAIL, TAIL]);
const FIVE_F9: Row = scalar(&[(0xF9, 0xFB), TAIL, TAIL, TAIL, TAIL]);
const SIX_FC: Row = scalar(&[(0xFC, 0xFC), (0x84, 0xBF), TAIL, TAIL, TAIL, TAIL]);
const SIX_FD: Row = scalar(&[(0xFD, 0xFD), TAIL, TAIL, TAIL, TAIL, TAIL]);
const NULL_AS_TWO: Row = scalar(&[(0xC0, 0xC0), (0x80, 0x80)]);

/// UTF-8: RFC 3629 §4 (the ABNF `UTF8-octets`), the same as Unicode Table 3-7.
pub static RFC3629: Grammar = Grammar::new(
    "rfc3629",
    "RFC 3629 §4; Unicode Table 3-7",
    &[ASCII, TWO, THREE_E0, THREE_E1, THREE_ED, THREE_EE, FOUR_F0, FOUR_F1, FOUR_F4],
);

/// UTF-8 as first published: one to six octets, 31 bits, shortest form only (RFC 2279 §2).
///
/// The text does not exclude the surrogate code points from the octet patterns, so they are well-formed here.
pub static RFC2279: Grammar = Grammar::new(
    "rfc2279",
    "RFC 2279 §2",
    &[
        ASCII,
        TWO,
        THREE_E0,
        THREE_E1,
        THREE_ED,
        LEAD_SURROGATE,
        TRAIL_SURROGATE,
        THREE_EE,
        FOUR_F0,
        FOUR_TO_1FFFFF,
        FIVE_F8,
        FIVE_F9,
        SIX_FC,
        SIX_FD,
    ],
);

/// RFC 2279 without the surrogate code points: what the multibyte functions of glibc accept.
pub static RFC2279_WITHOUT_SURROGATES: Grammar = Grammar::new(
    "rfc2279-without-surrogates",
    "RFC 2279 §2, less U+D800..U+DFFF",
    &[ASCII, TWO, THREE_E0, THREE_E1, THREE_ED, THREE_EE, FOUR_F0, FOUR_TO_1FFFFF, FIVE_F8, FIVE_F9, SIX_FC, SIX_FD],
);

/// RFC 3629 plus three-byte surrogates, whether or not two of them form a pair ("generalized UTF-8" in WTF-8 §3.2).
pub static RFC3629_WITH_SURROGATES: Grammar = Grammar::new(
    "rfc3629-with-surrogates",
    "RFC 3629 §4, and U+D800..U+DFFF as three-byte forms",
    &[ASCII, TWO, THREE_E0, THREE_E1, THREE_ED, LEAD_SURROGATE, TRAIL_SURROGATE, THREE_EE, FOUR_F0, FOUR_F1, FOUR_F4],
);

/// RFC 3629 and every overlong form of two to four bytes, except those of surrogates.
pub static RFC3629_WITH_OVERLONG: Grammar = Grammar::new(
    "rfc3629-with-overlong",
    "RFC 3629 §4, and the forms §3 forbids as overlong",
    &[
        ASCII,
        scalar(&[(0xC0, 0xDF), TAIL]),
        scalar(&[(0xE0, 0xEC), TAIL, TAIL]),
        THREE_ED,
        THREE_EE,
        // The four-byte forms of the surrogates U+D800..U+DFFF (F0 8D A0..BF) are excluded.
        scalar(&[(0xF0, 0xF0), (0x80, 0x8C), TAIL, TAIL]),
        scalar(&[(0xF0, 0xF0), (0x8D, 0x8D), (0x80, 0x9F), TAIL]),
        scalar(&[(0xF0, 0xF0), (0x8E, 0xBF), TAIL, TAIL]),
        FOUR_F1,
        FOUR_F4,
    ],
);

/// RFC 3629 without the 66 noncharacters (Unicode D14): what Perl's strict `UTF-8` accepts.
pub static RFC3629_WITHOUT_NONCHARACTERS: Grammar = Grammar::new(
    "rfc3629-without-noncharacters",
    "RFC 3629 §4, less the noncharacters of Unicode D14",
    &[
        ASCII,
        TWO,
        THREE_E0,
        THREE_E1,
        THREE_ED,
        scalar(&[(0xEE, 0xEE), TAIL, TAIL]),
        scalar(&[(0xEF, 0xEF), (0x80, 0xB6), TAIL]),
        scalar(&[(0xEF, 0xEF), (0xB7, 0xB7), (0x80, 0x8F)]),
        scalar(&[(0xEF, 0xEF), (0xB7, 0xB7), (0xB0, 0xBF)]),
        scalar(&[(0xEF, 0xEF), (0xB8, 0xBE), TAIL]),
        scalar(&[(0xEF, 0xEF), (0xBF, 0xBF), (0x80, 0xBD)]),
        scalar(&[(0xF0, 0xF0), (0x90, 0x9E), TAIL, TAIL]),
        scalar(&[(0xF0, 0xF0), (0xA0, 0xAE), TAIL, TAIL]),
        scalar(&[(0xF0, 0xF0), (0xB0, 0xBE), TAIL, TAIL]),
        scalar(&[(0xF0, 0xF0), (0x9F, 0x9F), (0x80, 0xBE), TAIL]),
        scalar(&[(0xF0, 0xF0), (0xAF, 0xAF), (0x80, 0xBE), TAIL]),
        scalar(&[(0xF0, 0xF0), (0xBF, 0xBF), (0x80, 0xBE), TAIL]),
        scalar(&[(0xF0, 0xF0), (0x9F, 0x9F), (0xBF, 0xBF), (0x80, 0xBD)]),
        scalar(&[(0xF0, 0xF0), (0xAF, 0xAF), (0xBF, 0xBF), (0x80, 0xBD)]),
        scalar(&[(0xF0, 0xF0), (0xBF, 0xBF), (0xBF, 0xBF), (0x80, 0xBD)]),
        scalar(&[(0xF1, 0xF3), (0x80, 0x8E), TAIL, TAIL]),
        scalar(&[(0xF1, 0xF3), (0x90, 0x9E), TAIL, TAIL]),
        scalar(&[(0xF1, 0xF3), (0xA0, 0xAE), TAIL, TAIL]),
        scalar(&[(0xF1, 0xF3), (0xB0, 0xBE), TAIL, TAIL]),
        scalar(&[(0xF1, 0xF3), (0x8F, 0x8F), (0x80, 0xBE), TAIL]),
        scalar(&[(0xF1, 0xF3), (0x9F, 0x9F), (0x80, 0xBE), TAIL]),
        scalar(&[(0xF1, 0xF3), (0xAF, 0xAF), (0x80, 0xBE), TAIL]),
        scalar(&[(0xF1, 0xF3), (0xBF, 0xBF), (0x80, 0xBE), TAIL]),
        scalar(&[(0xF1, 0xF3), (0x8F, 0x8F), (0xBF, 0xBF), (0x80, 0xBD)]),
        scalar(&[(0xF1, 0xF3), (0x9F, 0x9F), (0xBF, 0xBF), (0x80, 0xBD)]),
        scalar(&[(0xF1, 0xF3), (0xAF, 0xAF), (0xBF, 0xBF), (0x80, 0xBD)]),
        scalar(&[(0xF1, 0xF3), (0xBF, 0xBF), (0xBF, 0xBF), (0x80, 0xBD)]),
        scalar(&[(0xF4, 0xF4), (0x80, 0x8E), TAIL, TAIL]),
        scalar(&[(0xF4, 0xF4), (0x8F, 0x8F), (0x80, 0xBE), TAIL]),
        scalar(&[(0xF4, 0xF4), (0x8F, 0x8F), (0xBF, 0xBF), (0x80, 0xBD)]),
    ],
);

/// CESU-8 (UTR #26): supplementary code points as a pair of three-byte surrogates; no four-byte forms.
pub static CESU8: Grammar =
    Grammar::new("cesu-8", "UTR #26 §2, Table 3-6B", &[ASCII, TWO, THREE_E0, THREE_E1, THREE_ED, PAIR, THREE_EE]);

/// Modified UTF-8: CESU-8 with U+0000 as C0 80 (the Java `DataInput` documentation).
pub static MODIFIED_UTF8: Grammar = Grammar::new(
    "modified-utf-8",
    "Java SE java.io.DataInput, Modified UTF-8",
    &[scalar(&[(0x01, 0x7F)]), NULL_AS_TWO, TWO, THREE_E0, THREE_E1, THREE_ED, PAIR, THREE_EE],
);

/// WTF-8: RFC 3629 and lone surrogates, but never a surrogate pair as two three-byte forms.
pub static WTF8: Grammar =
    Grammar { pairs_join: true, ..Grammar::new("wtf-8", "The WTF-8 encoding, §3.2", RFC3629_WITH_SURROGATES.rows) };

/// Every grammar.
pub static ALL: [&Grammar; 9] = [
    &RFC3629,
    &RFC2279,
    &RFC2279_WITHOUT_SURROGATES,
    &RFC3629_WITH_SURROGATES,
    &RFC3629_WITH_OVERLONG,
    &RFC3629_WITHOUT_NONCHARACTERS,
    &CESU8,
    &MODIFIED_UTF8,
    &WTF8,
];

impl Grammar {
    /// The grammar with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.into_iter().find(|grammar| grammar.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sequence_matches_two_rows() {
        for grammar in ALL {
            for (index, row) in grammar.rows.iter().enumerate() {
                for other in &grammar.rows[..index] {
                    let shared = row.bytes.len().min(other.bytes.len());
                    let apart = (0..shared)
                        .any(|at| row.bytes[at].1 < other.bytes[at].0 || other.bytes[at].1 < row.bytes[at].0);
                    assert!(apart, "{}: {row:X?} and {other:X?}", grammar.name);
                }
            }
        }
    }

    /// `X-with-F` accepts F and X does not, and `X-without-F` the other way round; no other name mentions a feature.
    #[test]
    fn a_name_says_what_the_grammar_adds_or_leaves_out() {
        let features: [(&str, &[u8]); 3] =
            [("surrogates", b"\xED\xA0\x80"), ("overlong", b"\xC1\x81"), ("noncharacters", b"\xEF\xBF\xBE")];
        let accepts = |grammar: &Grammar, sequence: &[u8]| {
            let holds = |row: &Row| {
                row.bytes.len() == sequence.len()
                    && row.bytes.iter().zip(sequence).all(|(&(first, last), byte)| (first..=last).contains(byte))
            };
            grammar.rows.iter().any(holds)
        };
        let mut derived = 0;
        for grammar in ALL {
            let (base, rest) = grammar.name.split_once("-with").unwrap_or((grammar.name, ""));
            let base = Grammar::named(base).unwrap();
            let (out, named) = match rest.strip_prefix("out-") {
                Some(feature) => (true, feature),
                None => (false, rest.strip_prefix('-').unwrap_or("")),
            };
            assert_eq!(rest.is_empty(), named.is_empty(), "{}", grammar.name);
            derived += usize::from(!named.is_empty());
            assert!(named.is_empty() || features.iter().any(|(feature, _)| *feature == named), "{}", grammar.name);
            for (feature, sequence) in features {
                let (has, had) = (accepts(grammar, sequence), accepts(base, sequence));
                let expected = if feature == named { (!out, out) } else { (had, had) };
                assert_eq!((has, had), expected, "{}: {feature}", grammar.name);
            }
        }
        assert_eq!(derived, 4);
        for misleading in ["rfc2279-surrogates", "rfc3629-noncharacters", "rfc3629+surrogates", "rfc3629+overlong"] {
            assert!(Grammar::named(misleading).is_none(), "{misleading}");
        }
    }

    #[test]
    fn every_grammar_equals_only_itself() {
        for (index, one) in ALL.iter().enumerate() {
            for (other, two) in ALL.iter().enumerate() {
                assert_eq!(one == two, index == other, "{} and {}", one.name, two.name);
            }
        }
    }

    #[test]
    fn the_rows_that_start_with_a_byte_are_adjacent() {
        for grammar in ALL {
            for lead in 0..=255 {
                let leads = |row: &&Row| (row.bytes[0].0..=row.bytes[0].1).contains(&lead);
                let together = grammar.rows_from(lead).iter().take_while(leads).count();
                assert_eq!(together, grammar.rows.iter().filter(leads).count(), "{} {lead:02X}", grammar.name);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes Miri too long")]
    fn the_rows_of_rfc3629_hold_every_scalar_value_once() {
        let sequences: u64 = RFC3629.rows.iter().map(sequences).sum();
        assert_eq!(sequences, 1_112_064);
        assert_eq!(RFC2279.rows.iter().map(super::tests::sequences).sum::<u64>(), 1 << 31);
        assert_eq!(RFC3629_WITHOUT_NONCHARACTERS.rows.iter().map(super::tests::sequences).sum::<u64>(), 1_112_064 - 66);
        assert_eq!(CESU8.rows.iter().map(super::tests::sequences).sum::<u64>(), 1_112_064);
        assert_eq!(MODIFIED_UTF8.rows.iter().map(super::tests::sequences).sum::<u64>(), 1_112_064);
    }

    fn sequences(row: &Row) -> u64 {
        row.bytes.iter().map(|&(first, last)| u64::from(last - first) + 1).product()
    }
}
