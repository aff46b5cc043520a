//! The encodings: the one list of them, the names people give them, and how each spells code points.

use crate::codec::Kernel;
use crate::codec::convert::charset::{ASCII, LATIN_1, Legacy, Shift, SingleByte, WINDOWS_1252, WINDOWS_1252_STRICT};
use crate::error::Error;
use crate::spec::grammar;
use crate::spec::{Charset, Grammar};
use crate::utf8::BYTE_ORDER_MARK;

/// One line for each encoding: its name; what else it is called by the Encoding Standard, IANA or habit; its form; and
/// the part of `spec` that judges it. Where the Encoding Standard reads one encoding as another (Latin-1 as
/// Windows-1252), IANA's meaning holds.
macro_rules! encodings {
    (
        $($(#[$doc:meta])* $encoding:ident = $name:literal $aliases:expr, $form:expr, $standard:expr;)*
        => { $($by:ident $legacy:ident = $legacy_name:literal $legacy_aliases:expr;)* }
    ) => {
        /// An encoding of text as bytes.
        ///
        /// The feature `charsets` adds the other encodings of the Encoding Standard.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Encoding {
            $($(#[$doc])* $encoding,)*
            $(
                #[doc = concat!($legacy_name, " by the Encoding Standard.")]
                #[cfg(feature = "charsets")]
                $legacy,
            )*
        }

        /// In the order of the variants.
        static ROWS: &[Row] = &[$(Row {
            encoding: Encoding::$encoding,
            name: $name,
            aliases: &$aliases,
            form: $form,
            standard: $standard,
        },)* $(
            #[cfg(feature = "charsets")]
            Row {
                encoding: Encoding::$legacy,
                name: $legacy_name,
                aliases: &$legacy_aliases,
                form: Form::Legacy(Legacy::By(encoding_rs::$by)),
                standard: Standard::Other,
            },
        )*];
    };
}

encodings! {
    /// UTF-8 as it is now: RFC 3629.
    Utf8 = "UTF-8" ["rfc3629", "unicode-1-1-utf-8", "unicode20utf8", "x-unicode20utf8", "csUTF8", "cp65001"],
        UTF_8, Standard::Grammar(&grammar::RFC3629);
    /// UTF-8 as first published: one to six octets, 31 bits, surrogates included (RFC 2279 §2).
    Rfc2279 = "RFC2279" ["utf-8-rfc2279", "fss-utf", "utf-fss"],
        utf8_like(6, Surrogates::Lone), Standard::Grammar(&grammar::RFC2279);
    /// RFC 2279 without the surrogates, as in the GNU C library.
    Rfc2279WithoutSurrogates = "RFC2279-without-surrogates" [],
        utf8_like(6, Surrogates::Refused), Standard::Grammar(&grammar::RFC2279_WITHOUT_SURROGATES);
    /// CESU-8: supplementary code points as two three-byte surrogates (UTR #26).
    Cesu8 = "CESU-8" ["csCESU8"],
        utf8_like(3, Surrogates::Pairs), Standard::Grammar(&grammar::CESU8);
    /// Modified UTF-8: CESU-8 with U+0000 as C0 80 (Java `DataInput`).
    ModifiedUtf8 = "Modified-UTF-8" ["mutf-8", "java-utf-8"],
        Form::Utf8Like(Utf8Like { longest: 3, surrogates: Surrogates::Pairs, null_as_two: true }),
        Standard::Grammar(&grammar::MODIFIED_UTF8);
    /// WTF-8: UTF-8 and lone surrogates, pairs always joined.
    Wtf8 = "WTF-8" [],
        utf8_like(4, Surrogates::LoneOnly), Standard::Grammar(&grammar::WTF8);
    /// UTF-8B: UTF-8 in which each ill-formed byte is one of U+DC80..U+DCFF, so that any bytes survive a round trip
    /// (Python `surrogateescape`).
    Utf8b = "UTF-8B" ["utf-8-surrogateescape", "surrogateescape"],
        UTF_8, Standard::Grammar(&grammar::RFC3629);
    /// UTF-16 with a byte order mark. Without one it is read as little-endian; it is written as little-endian, with one.
    Utf16 = "UTF-16" ["csUTF16", "unicode", "csUnicode"],
        utf_16(Order::Little), Standard::Other;
    /// UTF-16, little-endian.
    Utf16Le = "UTF-16LE" ["csUTF16LE", "unicodeFEFF"],
        utf_16(Order::Little), Standard::Other;
    /// UTF-16, big-endian.
    Utf16Be = "UTF-16BE" ["csUTF16BE", "unicodeFFFE"],
        utf_16(Order::Big), Standard::Other;
    /// Sixteen bits for each code point and no pairs, little-endian.
    Ucs2Le = "UCS-2LE" ["ucs-2", "iso-10646-ucs-2", "unicodelittle"],
        ucs_2(Order::Little), Standard::Other;
    /// Sixteen bits for each code point and no pairs, big-endian.
    Ucs2Be = "UCS-2BE" ["unicodebig"],
        ucs_2(Order::Big), Standard::Other;
    /// UTF-32 with a byte order mark. Without one it is read as little-endian; it is written as little-endian, with one.
    Utf32 = "UTF-32" ["csUTF32"],
        units_32(Order::Little, 0x10_FFFF), Standard::Other;
    /// UTF-32, little-endian.
    Utf32Le = "UTF-32LE" ["csUTF32LE"],
        units_32(Order::Little, 0x10_FFFF), Standard::Other;
    /// UTF-32, big-endian.
    Utf32Be = "UTF-32BE" ["csUTF32BE"],
        units_32(Order::Big, 0x10_FFFF), Standard::Other;
    /// 31 bits for each code point, little-endian.
    Ucs4Le = "UCS-4LE" [],
        units_32(Order::Little, 0x7FFF_FFFF), Standard::Other;
    /// 31 bits for each code point, big-endian.
    Ucs4Be = "UCS-4BE" ["ucs-4", "iso-10646-ucs-4", "csUCS4"],
        units_32(Order::Big, 0x7FFF_FFFF), Standard::Other;
    /// ASCII: seven bits.
    Ascii = "US-ASCII" [
            "ascii", "ansi_x3.4-1968", "ansi_x3.4-1986", "iso-ir-6", "iso_646.irv:1991", "iso646-us", "us", "ibm367",
            "cp367", "csASCII",
        ],
        Form::SingleByte(&ASCII), Standard::Charset(Charset::Ascii);
    /// Latin-1 (ISO/IEC 8859-1, with the controls of ISO/IEC 6429): each byte is the code point of that number.
    Latin1 = "ISO-8859-1" ["latin-1", "l1", "iso_8859-1:1987", "iso-ir-100", "ibm819", "cp819", "csISOLatin1"],
        Form::SingleByte(&LATIN_1), Standard::Charset(Charset::Latin1);
    /// Windows-1252 by the index of the WHATWG Encoding Standard: 81, 8D, 8F, 90 and 9D are controls.
    Windows1252 = "windows-1252" ["cp1252", "x-cp1252", "cswindows1252", "ansi"],
        Form::SingleByte(&WINDOWS_1252), Standard::Charset(Charset::Windows1252);
    /// Windows-1252 in which those five bytes are not assigned.
    Windows1252Strict = "windows-1252-strict" ["cp1252-strict"],
        Form::SingleByte(&WINDOWS_1252_STRICT), Standard::Charset(Charset::Windows1252Strict);

    // By encoding_rs, with the feature `charsets`.
    => {
        IBM866 Ibm866 = "IBM866" ["866"];
        ISO_8859_2 Latin2 = "ISO-8859-2" ["latin-2"];
        ISO_8859_3 Latin3 = "ISO-8859-3" ["latin-3"];
        ISO_8859_4 Latin4 = "ISO-8859-4" ["latin-4"];
        ISO_8859_5 Iso8859Part5 = "ISO-8859-5" [];
        ISO_8859_6 Iso8859Part6 = "ISO-8859-6" [];
        ISO_8859_7 Iso8859Part7 = "ISO-8859-7" [];
        ISO_8859_8 Iso8859Part8 = "ISO-8859-8" ["iso-8859-8-i", "logical"];
        ISO_8859_10 Latin6 = "ISO-8859-10" ["latin-6"];
        ISO_8859_13 Latin7 = "ISO-8859-13" ["latin-7"];
        ISO_8859_14 Latin8 = "ISO-8859-14" ["latin-8"];
        ISO_8859_15 Latin9 = "ISO-8859-15" ["latin-9"];
        ISO_8859_16 Latin10 = "ISO-8859-16" ["latin-10"];
        KOI8_R Koi8R = "KOI8-R" [];
        KOI8_U Koi8U = "KOI8-U" [];
        MACINTOSH Macintosh = "macintosh" [];
        WINDOWS_874 Windows874 = "windows-874" ["cp874"];
        WINDOWS_1250 Windows1250 = "windows-1250" [];
        WINDOWS_1251 Windows1251 = "windows-1251" [];
        WINDOWS_1253 Windows1253 = "windows-1253" [];
        WINDOWS_1254 Windows1254 = "windows-1254" [];
        WINDOWS_1255 Windows1255 = "windows-1255" [];
        WINDOWS_1256 Windows1256 = "windows-1256" [];
        WINDOWS_1257 Windows1257 = "windows-1257" [];
        WINDOWS_1258 Windows1258 = "windows-1258" [];
        X_MAC_CYRILLIC MacCyrillic = "x-mac-cyrillic" ["mac-cyrillic"];
        GBK Gbk = "GBK" ["cp936"];
        GB18030 Gb18030 = "gb18030" [];
        BIG5 Big5 = "Big5" ["cp950"];
        EUC_JP EucJp = "EUC-JP" [];
        ISO_2022_JP Iso2022Jp = "ISO-2022-JP" [];
        SHIFT_JIS ShiftJis = "Shift_JIS" ["cp932", "ms932"];
        EUC_KR EucKr = "EUC-KR" ["cp949", "uhc"];
        X_USER_DEFINED UserDefined = "x-user-defined" [];
    }
}

struct Row {
    encoding: Encoding,
    name: &'static str,
    aliases: &'static [&'static str],
    form: Form,
    standard: Standard,
}

/// What `spec` has of an encoding.
#[derive(Clone, Copy)]
enum Standard {
    Grammar(&'static Grammar),
    Charset(Charset),
    Other,
}

impl Encoding {
    /// Every encoding.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.encoding)
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Its other names.
    pub fn aliases(self) -> &'static [&'static str] {
        self.row().aliases
    }

    /// The encoding whose byte order mark is at the start. FF FE 00 00 is that of UTF-32.
    pub(super) fn of_byte_order_mark(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0xFF, 0xFE, 0, 0, ..] => Some(Self::Utf32Le),
            [0, 0, 0xFE, 0xFF, ..] => Some(Self::Utf32Be),
            [0xFF, 0xFE, ..] => Some(Self::Utf16Le),
            [0xFE, 0xFF, ..] => Some(Self::Utf16Be),
            _ if bytes.starts_with(BYTE_ORDER_MARK) => Some(Self::Utf8),
            _ => None,
        }
    }

    /// Whether U+FEFF at its start is a byte order mark.
    pub fn has_byte_order_mark(self) -> bool {
        !self.form().mark().is_empty()
    }

    /// The grammar of UTF-8 and its relatives.
    pub fn grammar(self) -> Option<&'static Grammar> {
        match self.row().standard {
            Standard::Grammar(grammar) => Some(grammar),
            Standard::Charset(_) | Standard::Other => None,
        }
    }

    /// The character set of an encoding of one byte for each code point.
    pub fn charset(self) -> Option<Charset> {
        match self.row().standard {
            Standard::Charset(charset) => Some(charset),
            Standard::Grammar(_) | Standard::Other => None,
        }
    }

    /// Whether it is UTF-8 or a relative.
    pub fn is_utf8_like(self) -> bool {
        matches!(self.form(), Form::Utf8Like(_))
    }

    /// Whether each byte is a code point, by one of our own tables.
    pub fn is_single_byte(self) -> bool {
        matches!(self.form(), Form::SingleByte(_))
    }

    /// Whether it is one of those that the feature `charsets` adds.
    pub fn is_charset(self) -> bool {
        matches!(self.form(), Form::Legacy(_))
    }

    /// Whether it lacks U+FFFD.
    pub(super) fn lacks_replacement(self) -> bool {
        match self.form() {
            Form::SingleByte(_) => true,
            Form::Legacy(legacy) => legacy.push(&mut { Shift::START }, 0xFFFD, &mut Vec::new()).is_none(),
            _ => false,
        }
    }

    /// Whether a byte order mark, which is not part of the text, gives the order of the bytes.
    pub(super) fn is_marked(self) -> bool {
        matches!(self, Self::Utf16 | Self::Utf32)
    }

    /// How its bytes spell code points.
    pub(super) fn form(self) -> Form {
        self.row().form
    }
}

impl core::fmt::Display for Encoding {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// How bytes spell code points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// UTF-8 or a relative.
    Utf8Like(Utf8Like),
    /// Code units of 16 bits. `lone`: unpaired surrogates are code points.
    Units16 { order: Order, pairs: bool, lone: bool },
    /// Units of 32 bits, up to `last`. `lone`: surrogates are code points.
    Units32 { order: Order, last: u32, lone: bool },
    /// One byte for each code point.
    SingleByte(&'static SingleByte),
    /// Another encoding of the Encoding Standard.
    #[cfg_attr(not(feature = "charsets"), expect(dead_code))]
    Legacy(Legacy),
}

const UTF_8: Form = utf8_like(4, Surrogates::Refused);

const fn utf8_like(longest: u8, surrogates: Surrogates) -> Form {
    Form::Utf8Like(Utf8Like { longest, surrogates, null_as_two: false })
}

const fn utf_16(order: Order) -> Form {
    Form::Units16 { order, pairs: true, lone: false }
}

const fn ucs_2(order: Order) -> Form {
    Form::Units16 { order, pairs: false, lone: false }
}

const fn units_32(order: Order, last: u32) -> Form {
    Form::Units32 { order, last, lone: false }
}

/// UTF-8 or a relative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Utf8Like {
    /// Bytes of the longest form: 3, 4 (up to U+10FFFF) or 6.
    pub(super) longest: u8,
    pub(super) surrogates: Surrogates,
    /// U+0000 is C0 80.
    pub(super) null_as_two: bool,
}

/// How a relative of UTF-8 treats three-byte surrogates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surrogates {
    Refused,
    /// Each is a code point.
    Lone,
    /// Each is a code point, but a trailing one may not follow a leading one.
    LoneOnly,
    /// Two of them are one supplementary code point.
    Pairs,
    /// Two of them are one supplementary code point, and any other is a code point.
    PairsOrLone,
}

impl Utf8Like {
    /// Whether every code point of RFC 3629 is spelled as in RFC 3629.
    pub(super) fn extends_rfc3629(self) -> bool {
        self.longest >= 4
    }
}

impl Form {
    /// Where bytes can be cut, at `at` or a few bytes later, so that the parts are read as in the whole; the end of the
    /// bytes if there are fewer. Not for legacy encodings.
    #[cfg(feature = "rayon")]
    pub(super) fn boundary(self, bytes: &[u8], at: usize) -> usize {
        let at = at.min(bytes.len());
        let boundary = match self {
            Self::Utf8Like(_) => crate::codec::parallel::boundary(bytes, at),
            Self::SingleByte(_) | Self::Legacy(_) => at,
            Self::Units32 { .. } => at.next_multiple_of(4),
            Self::Units16 { order, .. } => {
                let at = at.next_multiple_of(2);
                let unit = bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|&unit| order.unit_16(unit));
                at + if unit.is_some_and(|unit| unit & 0xFC00 == 0xDC00) { 2 } else { 0 }
            }
        };
        boundary.min(bytes.len())
    }

    /// Bytes of a code unit.
    pub(super) fn unit_len(self) -> usize {
        match self {
            Self::Utf8Like(_) | Self::SingleByte(_) | Self::Legacy(_) => 1,
            Self::Units16 { .. } => 2,
            Self::Units32 { .. } => 4,
        }
    }

    /// Whether it spells U+DC80..U+DCFF.
    pub(super) fn has_lone_surrogates(self) -> bool {
        match self {
            Self::Utf8Like(like) => !matches!(like.surrogates, Surrogates::Refused | Surrogates::Pairs),
            Self::Units16 { lone, .. } | Self::Units32 { lone, .. } => lone,
            Self::SingleByte(_) | Self::Legacy(_) => false,
        }
    }

    /// The same form, but unpaired surrogates are code points, if there is a way to spell them.
    pub(super) fn with_lone_surrogates(self) -> Self {
        match self {
            Self::Utf8Like(like) => {
                let surrogates = match like.surrogates {
                    Surrogates::Refused => Surrogates::Lone,
                    Surrogates::Pairs => Surrogates::PairsOrLone,
                    other => other,
                };
                Self::Utf8Like(Utf8Like { surrogates, ..like })
            }
            Self::Units16 { order, pairs, .. } => Self::Units16 { order, pairs, lone: true },
            Self::Units32 { order, last, .. } => Self::Units32 { order, last, lone: true },
            Self::SingleByte(_) | Self::Legacy(_) => self,
        }
    }

    /// U+FEFF, the byte order mark; empty if the encoding has none.
    pub(super) fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8Like(_) => BYTE_ORDER_MARK,
            Self::Units16 { order: Order::Little, .. } => b"\xFF\xFE",
            Self::Units16 { order: Order::Big, .. } => b"\xFE\xFF",
            Self::Units32 { order: Order::Little, .. } => b"\xFF\xFE\0\0",
            Self::Units32 { order: Order::Big, .. } => b"\0\0\xFE\xFF",
            Self::SingleByte(_) | Self::Legacy(_) => b"",
        }
    }

    /// The same form with the bytes of each unit in the other order.
    pub(super) fn reversed(self) -> Self {
        match self {
            Self::Units16 { order, pairs, lone } => Self::Units16 { order: order.reversed(), pairs, lone },
            Self::Units32 { order, last, lone } => Self::Units32 { order: order.reversed(), last, lone },
            Self::Utf8Like(_) | Self::SingleByte(_) | Self::Legacy(_) => self,
        }
    }
}

/// The order of the bytes of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    pub(super) fn is_big_endian(self) -> bool {
        self == Self::Big
    }

    fn reversed(self) -> Self {
        match self {
            Self::Little => Self::Big,
            Self::Big => Self::Little,
        }
    }

    /// Appends code units, and returns how many of them, from the start, are [text](text_prefix).
    pub(super) fn read_16(self, bytes: &[u8], pairs: bool, units: &mut Vec<u16>) -> usize {
        let start = units.len();
        Kernel::best().read_16_into(bytes, self.is_big_endian(), units);
        text_prefix(&units[start..], pairs)
    }

    pub(super) fn write_16(self, units: &[u16], out: &mut Vec<u8>) {
        Kernel::best().write_16_into(units, self.is_big_endian(), out);
    }

    pub(super) fn write_32(self, units: &[u32], out: &mut Vec<u8>) {
        Kernel::best().write_32_into(units, self.is_big_endian(), out);
    }

    #[inline]
    pub(super) fn unit_16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    #[inline]
    pub(super) fn unit_32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    pub(super) fn bytes_16(self, unit: u16) -> [u8; 2] {
        match self {
            Self::Little => unit.to_le_bytes(),
            Self::Big => unit.to_be_bytes(),
        }
    }

    pub(super) fn bytes_32(self, unit: u32) -> [u8; 4] {
        match self {
            Self::Little => unit.to_le_bytes(),
            Self::Big => unit.to_be_bytes(),
        }
    }
}

/// How many code units at the start are text: without unpaired surrogates, or without surrogates if there are no pairs.
pub(super) fn text_prefix(units: &[u16], pairs: bool) -> usize {
    match pairs {
        true => Kernel::best().utf16_valid_up_to(units),
        false => first_of(units, |unit| unit & 0xF800 == 0xD800),
    }
}

/// Index of the first unit that satisfies `is`, or the number of units.
pub(super) fn first_of<U: Copy>(units: &[U], is: impl Fn(U) -> bool) -> usize {
    const BLOCK: usize = 64;
    let blocks = units.as_chunks::<BLOCK>().0;
    let clean = blocks.iter().take_while(|block| !block.iter().fold(false, |any, &unit| any | is(unit))).count();
    let start = clean * BLOCK;
    start + units[start..].iter().take_while(|&&unit| !is(unit)).count()
}

impl Encoding {
    /// The encoding of this name or alias. Case, hyphens, underscores, spaces, full stops and colons do not count.
    ///
    /// ```
    /// # use utfuzz_core as utfuzz;
    /// use utfuzz::codec::convert::Encoding;
    ///
    /// assert_eq!(Encoding::named("utf_16le")?, Encoding::Utf16Le);
    /// assert_eq!(Encoding::named("CP1252")?.name(), "windows-1252");
    /// let error = Encoding::named("utf-9").unwrap_err();
    /// assert_eq!(error.to_string(), "no encoding is named \"utf-9\"; did you mean UTF-8?");
    /// # Ok::<(), utfuzz::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no encoding of this name; the error suggests the nearest, or lists all.
    pub fn named(label: &str) -> Result<Self, Error> {
        let wanted = essence(label);
        let labels = || {
            Self::all().flat_map(|encoding| {
                let labels = core::iter::once(encoding.name()).chain(encoding.aliases().iter().copied());
                labels.map(move |label| (encoding, essence(label)))
            })
        };
        let exact = labels().find(|(_, label)| *label == wanted).map(|(encoding, _)| encoding);
        if let Some(encoding) = exact.or_else(|| of_the_encoding_standard(label)) {
            return Ok(encoding);
        }
        let near = labels().map(|(encoding, label)| (distance(&label, &wanted), encoding)).min_by_key(|near| near.0);
        let remedy = match near {
            Some((away, encoding)) if away <= 2.min(wanted.len() / 2) => format!("did you mean {encoding}?"),
            _ => format!("known: {}", Self::all().map(Self::name).collect::<Vec<_>>().join(", ")),
        };
        Err(Error::usage(format!("no encoding is named {label:?}; {remedy}")))
    }
}

impl core::str::FromStr for Encoding {
    type Err = Error;

    /// The same as [`named`](Self::named).
    ///
    /// ```
    /// # use utfuzz_core as utfuzz;
    /// use utfuzz::codec::convert::Encoding;
    ///
    /// assert_eq!("latin1".parse::<Encoding>()?, Encoding::Latin1);
    /// # Ok::<(), utfuzz::error::Error>(())
    /// ```
    fn from_str(label: &str) -> Result<Self, Error> {
        Self::named(label)
    }
}

/// The encoding of one of the many labels in the Encoding Standard.
#[cfg(feature = "charsets")]
pub(super) fn of_the_encoding_standard(label: &str) -> Option<Encoding> {
    let name = encoding_rs::Encoding::for_label_no_replacement(label.as_bytes())?.name();
    Encoding::all().find(|encoding| {
        core::iter::once(encoding.name())
            .chain(encoding.aliases().iter().copied())
            .any(|label| label.eq_ignore_ascii_case(name))
    })
}

#[cfg(not(feature = "charsets"))]
fn of_the_encoding_standard(_: &str) -> Option<Encoding> {
    None
}

/// A label without what does not count in it.
fn essence(label: &str) -> String {
    label.chars().filter(|c| !matches!(c, '-' | '_' | ' ' | '.' | ':')).map(|c| c.to_ascii_lowercase()).collect()
}

/// The edit distance: how many characters must be inserted, deleted or replaced.
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
        if cfg!(not(feature = "charsets")) {
            assert_eq!(error("windows-1253"), "no encoding is named \"windows-1253\"; did you mean windows-1252?");
        }
        assert!(error("rfc2279-surrogates").contains("known: UTF-8, RFC2279, RFC2279-without-surrogates, "));
        assert!(error("klingon").contains("known: UTF-8, RFC2279, "));
        assert!(error("").contains("known: UTF-8, RFC2279, "));
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
