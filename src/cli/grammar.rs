//! Grammars by the names people give them.

use crate::error::Error;
use crate::spec::Grammar;
use crate::spec::grammar::{ALL, CESU8, MODIFIED_UTF8, RFC3629, WTF8};

/// Other names, without hyphens.
const ALSO: [(&str, &Grammar); 6] = [
    ("utf8", &RFC3629),
    ("cesu8", &CESU8),
    ("mutf8", &MODIFIED_UTF8),
    ("modifiedutf8", &MODIFIED_UTF8),
    ("javautf8", &MODIFIED_UTF8),
    ("wtf8", &WTF8),
];

/// The grammar of this name; case, hyphens, underscores and spaces do not count in the common ones.
pub(super) fn grammar(name: &str) -> Result<&'static Grammar, Error> {
    let lower = name.to_lowercase();
    let bare: String = lower.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).collect();
    let also = || ALSO.iter().find(|(other, _)| *other == bare).map(|(_, grammar)| *grammar);
    let known = || ALL.map(|grammar| grammar.name).join(", ");
    let found = Grammar::named(&lower).or_else(also);
    found.ok_or_else(|| Error::usage(format!("no grammar is named {name:?}; there are: {}", known())))
}
