//! What an engine reported, and whether a fault implies it.

use crate::explain::Signature;
use crate::judge::Law;
use crate::text::matches_glob;
use core::fmt;

/// What an engine reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Find {
    /// A signature.
    Signature(Signature),
    /// A signature, as a target prints it.
    Token(String),
    /// An error of AddressSanitizer, which ends the process before the judge can speak.
    Sanitizer(String),
    /// Nothing that can be judged: the run itself failed. One such run does not throw the others away.
    Failure(String),
}

impl Find {
    /// Whether one of these signs (`law/subject/shape`) is its own. What AddressSanitizer reports is a read outside the
    /// slice, whatever else could be said of it.
    pub(super) fn is_implied_by(&self, signs: &[String]) -> bool {
        let found = match self {
            Self::Sanitizer(_) => return signs.iter().any(|sign| sign.starts_with(Law::Bounds.name())),
            Self::Failure(_) => return false,
            Self::Signature(signature) => signature.to_string(),
            Self::Token(token) => token.clone(),
        };
        // The decoder's name is not part of a sign.
        let parts: Vec<&str> = found.split('/').collect();
        let [law, _, subject, shape] = parts[..] else { return false };
        signs.iter().any(|sign| matches_glob(sign, &format!("{law}/{subject}/{shape}")))
    }
}

impl fmt::Display for Find {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signature(signature) => signature.fmt(f),
            Self::Token(token) => f.write_str(token),
            Self::Sanitizer(error) => write!(f, "AddressSanitizer: {error}"),
            Self::Failure(error) => write!(f, "the run failed: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_a_pattern_without_the_decoder() {
        let token = Find::Token("verdict/planted-s01/invalid-byte/edge64".into());
        let implied = |sign: &str| token.is_implied_by(&[sign.to_owned()]);
        assert!(implied("verdict/invalid-byte/edge*") && implied("verdict/*/*"));
        assert!(!implied("verdict/invalid-byte/anywhere") && !implied("lossy/*") && !implied("verdict/planted-s01/*"));
        let error = Find::Sanitizer("heap-buffer-overflow".into());
        assert!(!Find::Failure("verdict/x/y/z".into()).is_implied_by(&["*".into()]));
        assert!(error.is_implied_by(&["bounds/*/tail".into()]) && !error.is_implied_by(&["verdict/*/*".into()]));
    }
}
