//! Legacy encodings, told apart by which characters follow each other: by the crate chardetng.

use crate::codec::convert::confidence::Confidence;
use crate::codec::convert::encoding::Encoding;

/// The most probable encoding, how sure that is, and why. It is likely if each half of the text has the same answer.
#[cfg(feature = "charsets")]
pub(super) fn judge(text: &[u8], is_all: bool) -> Option<(Encoding, Confidence, String)> {
    /// Bytes beyond ASCII of which each half needs so many.
    const ENOUGH: usize = 8;
    let beyond_ascii = |bytes: &[u8]| bytes.iter().filter(|byte| !byte.is_ascii()).count();
    let encoding = guess(text, is_all)?;
    let (first, second) = text.split_at(text.len() / 2);
    // The cut may be inside a character.
    let starts = [second, second.get(1..).unwrap_or_default()];
    let agree = [first, second].map(beyond_ascii).iter().all(|&count| count >= ENOUGH)
        && guess(first, false) == Some(encoding)
        && starts.iter().any(|half| guess(half, is_all) == Some(encoding));
    let (confidence, share) = match agree {
        true => (Confidence::Likely, "in each half of the text"),
        false => (Confidence::Guess, "but not in each half of the text"),
    };
    Some((encoding, confidence, format!("its characters follow each other as in {encoding}, {share}")))
}

#[cfg(not(feature = "charsets"))]
pub(super) fn judge(_: &[u8], _: bool) -> Option<(Encoding, Confidence, String)> {
    None
}

#[cfg(feature = "charsets")]
fn guess(text: &[u8], is_all: bool) -> Option<Encoding> {
    use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(text, is_all);
    match Encoding::named(detector.guess(None, Utf8Detection::Deny).name()).ok()? {
        // They differ in these bytes, and chardetng does not tell them apart.
        Encoding::Koi8U if !text.iter().any(|byte| b"\xA4\xA6\xA7\xAD\xB4\xB6\xB7\xBD".contains(byte)) => {
            Some(Encoding::Koi8R)
        }
        encoding => Some(encoding),
    }
}
