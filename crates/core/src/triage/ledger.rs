//! The ledger of known differences: real, explained and accepted, so that only new ones are reported.
//!
//! An entry names decoders, a range of versions, laws, and subjects. It covers a broken law only if all four match. An
//! entry that covers nothing in a full check is stale: the decoder was fixed, or the harness stopped finding the fault.

use crate::decoder::Info;
use crate::error::Error;
use crate::judge::{Law, Subject};
use crate::text::{matches_glob, shown};
use serde::Deserialize;
use std::path::Path;

/// The known differences this crate ships with: `corpus/known.toml`.
const BUILT_IN: &str = include_str!("../../corpus/known.toml");

/// Known differences.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    entries: Vec<Entry>,
}

/// One known difference.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// A name for it, unique in the ledger.
    pub id: String,
    /// The decoder, or several: names separated by commas, in which `*` matches any characters.
    pub decoder: String,
    /// The affected versions, as a Cargo version requirement. Of a version that is not written as Cargo requires, the
    /// first numbers count: `1.7.0_15+6` is 1.7.0, and `expat_2.5` is 2.5.0.
    pub versions: semver::VersionReq,
    /// The laws it may break, by name.
    pub laws: Vec<String>,
    /// The subjects it breaks them on: kinds, `valid-1` to `valid-6`, `end`, `unplaced`, or how the process ended.
    pub subjects: Vec<String>,
    /// Why it is so, and why it is accepted.
    pub reason: String,
    /// Where to read more.
    pub link: String,
    /// When the entry was made, YYYY-MM-DD.
    pub date: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    known: Vec<Entry>,
}

impl Ledger {
    /// The ledger this crate ships with.
    pub fn built_in() -> Self {
        // A test makes sure that the shipped ledger can be parsed.
        Self::parse(BUILT_IN, "the built-in ledger").unwrap_or_default()
    }

    /// Reads a ledger file.
    ///
    /// # Errors
    /// It cannot be read or parsed.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, &error))?;
        Self::parse(&text, &shown(path))
    }

    /// Reads the text of a ledger; `origin` names it in errors.
    ///
    /// # Errors
    /// It is not TOML, has unknown or missing keys, unknown names, or a duplicate id.
    pub fn parse(text: &str, origin: &str) -> Result<Self, Error> {
        let file: File = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            Error::parse(format!("{origin}, line {line}: {}", error.message()))
        })?;
        for (index, entry) in file.known.iter().enumerate() {
            let wrong = |what: String| Error::parse(format!("{origin}, entry {:?}: {what}", entry.id));
            if entry.id.is_empty() || !entry.id.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-')) {
                return Err(wrong("an id is lower-case letters, digits and hyphens".into()));
            }
            if file.known[..index].iter().any(|other| other.id == entry.id) {
                return Err(wrong("the id occurs twice; each entry needs its own".into()));
            }
            let laws: Vec<_> = Law::ALL.iter().map(|law| law.name()).collect();
            if let Some(law) = entry.laws.iter().find(|law| !laws.contains(&law.as_str())) {
                return Err(wrong(format!("no law {law:?}; the laws are {}", laws.join(", "))));
            }
            let subjects = Subject::all().map(Subject::name).collect::<Vec<_>>();
            if let Some(subject) = entry.subjects.iter().find(|subject| !subjects.contains(&subject.as_str())) {
                return Err(wrong(format!("no subject {subject:?}; the subjects are {}", subjects.join(", "))));
            }
            let date: Vec<_> = entry.date.split('-').map(|part| (part.len(), part.parse::<u16>().is_ok())).collect();
            if date != [(4, true), (2, true), (2, true)] {
                return Err(wrong(format!("the date {:?} is not YYYY-MM-DD", entry.date)));
            }
        }
        Ok(Self { entries: file.known })
    }

    /// This ledger and another.
    ///
    /// # Errors
    /// They have an id in common.
    pub fn with(mut self, other: Self) -> Result<Self, Error> {
        let twice = |entry: &&Entry| self.entries.iter().any(|known| known.id == entry.id);
        if let Some(entry) = other.entries.iter().find(twice) {
            return Err(Error::parse(format!(
                "two ledgers have an entry {:?}; each entry needs an id of its own",
                entry.id
            )));
        }
        self.entries.extend(other.entries);
        Ok(self)
    }

    /// The entries, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The index of the entry that covers this, if any.
    pub fn covers(&self, info: &Info, law: Law, subject: Subject) -> Option<usize> {
        self.entries.iter().position(|entry| {
            entry.is_about(info)
                && entry.laws.iter().any(|name| name == law.name())
                && entry.subjects.iter().any(|name| name == subject.name())
        })
    }
}

impl Entry {
    /// Whether it applies to this version of this decoder.
    pub fn is_about(&self, info: &Info) -> bool {
        self.names(&info.name) && self.versions.matches(&version(&info.version))
    }

    /// Whether it names this decoder.
    pub fn names(&self, decoder: &str) -> bool {
        self.decoder.split(',').any(|glob| matches_glob(glob.trim(), decoder))
    }
}

/// The version that a text states; 0.0.0 if it has no number.
fn version(text: &str) -> semver::Version {
    let numbers = || {
        let text = &text[text.find(|c: char| c.is_ascii_digit())?..];
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let mut numbers = text[..end].split('.').map_while(|number| number.parse().ok());
        let mut next = || numbers.next().unwrap_or(0);
        Some(semver::Version::new(next(), next(), next()))
    };
    semver::Version::parse(text).ok().or_else(numbers).unwrap_or(semver::Version::new(0, 0, 0))
}

/// A ledger with one entry.
#[cfg(test)]
pub(crate) const EXAMPLE: &str = r#"
    [[known]]
    id = "a"
    decoder = "faulty"
    versions = ">=1, <2"
    laws = ["verdict"]
    subjects = ["overlong-2"]
    reason = "r"
    link = "l"
    date = "2026-11-20"
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::utf8::Kind;

    #[test]
    fn the_built_in_ledger_is_readable() {
        assert!(!Ledger::parse(BUILT_IN, "built in").unwrap().entries().is_empty());
    }

    #[test]
    fn an_entry_covers_what_it_names_and_nothing_else() {
        let ledger = Ledger::parse(EXAMPLE, "test").unwrap();
        let info = |name, version| Info::new(name, version);
        let overlong = Subject::Fault(Kind::Overlong(2));
        assert_eq!(ledger.covers(&info("faulty", "1.1.0"), Law::Verdict, overlong), Some(0));
        assert_eq!(ledger.covers(&info("faulty", "2.0.0"), Law::Verdict, overlong), None);
        assert_eq!(ledger.covers(&info("other", "1.1.0"), Law::Verdict, overlong), None);
        assert_eq!(ledger.covers(&info("faulty", "1.1.0"), Law::Lossy, overlong), None);
        assert_eq!(ledger.covers(&info("faulty", "1.1.0"), Law::Verdict, Subject::Fault(Kind::Surrogate)), None);
    }

    #[test]
    fn an_entry_may_cover_several_decoders_and_any_spelling_of_a_version() {
        let ledger = Ledger::parse(&EXAMPLE.replace("\"faulty\"", "\"good, java*-report\""), "test").unwrap();
        let covers = |name: &'static str, version: &'static str| {
            ledger.covers(&Info::new(name, version), Law::Verdict, Subject::Fault(Kind::Overlong(2))).is_some()
        };
        assert!(covers("good", "expat_1.5.0") && covers("java17-report", "1.7.0_15+6-Debian") && covers("good", "1"));
        assert!(!covers("java17-replace", "1.0.0") && !covers("good", "release 2.1") && !covers("good", "unknown"));
    }

    #[test]
    fn ledgers_with_the_same_id_are_not_combined() {
        let ledger = |text: &str| Ledger::parse(text, "test").unwrap();
        let both = ledger(EXAMPLE).with(ledger(&EXAMPLE.replace("id = \"a\"", "id = \"b\""))).unwrap();
        assert_eq!(both.entries().len(), 2);
        assert!(ledger(EXAMPLE).with(ledger(EXAMPLE)).unwrap_err().to_string().contains("\"a\""));
    }

    #[test]
    fn a_malformed_ledger_is_one_clear_line() {
        for (text, says) in [
            ("[[known]", "line 1"),
            ("\n[[known]]\nid = 1", "line 3"),
            (&EXAMPLE.replace("\"verdict\"", "\"mood\""), "no law \"mood\""),
            (&EXAMPLE.replace("overlong-2", "overlong-9"), "no subject \"overlong-9\""),
            (&EXAMPLE.replace("2026-11-20", "yesterday"), "not YYYY-MM-DD"),
            (&EXAMPLE.replace(">=1, <2", "new"), "line 5"),
            (&EXAMPLE.replace("reason", "raison"), "raison"),
            (&[EXAMPLE, EXAMPLE].concat(), "twice"),
        ] {
            let error = Ledger::parse(text, "known.toml").unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("known.toml") && !error.contains('\n'), "{error}");
        }
    }
}
