//! The names of the encodings.

use crate::codec::convert::encoding::Encoding;
use crate::error::Error;

impl Encoding {
    /// The encoding of this name or alias. Only letters and digits count, in either case.
    ///
    /// ```
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
            _ => format!("there are: {}", Self::all().map(Self::name).collect::<Vec<_>>().join(", ")),
        };
        Err(Error::usage(format!("no encoding is named {label:?}; {remedy}")))
    }
}

impl core::str::FromStr for Encoding {
    type Err = Error;

    /// The same as [`named`](Self::named).
    ///
    /// ```
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

/// The letters and digits of a label.
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
        assert_eq!(error("windows-1253"), "no encoding is named \"windows-1253\"; did you mean windows-1252?");
        assert!(error("rfc2279-surrogates").contains("there are: UTF-8, RFC2279, RFC2279-without-surrogates, "));
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
