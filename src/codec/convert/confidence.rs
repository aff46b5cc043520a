//! How sure a detection is.

/// How sure a [`Detection`](super::Detection) is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Something had to be said: other encodings fit as well.
    Guess,
    /// Text in another encoding hardly looks like this.
    Likely,
    /// The bytes are well-formed UTF-8, or begin with a byte order mark and are well-formed.
    Certain,
}

impl Confidence {
    /// The name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Guess => "guess",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}
