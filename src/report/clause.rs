//! Where the clauses that a report cites can be read.

use crate::report::document::{Span, linked, plain};

/// How a citation starts, and the address of the clause; the first that fits is taken.
const CLAUSES: [(&str, &str); 10] = [
    ("RFC 3629 §1", "https://www.rfc-editor.org/rfc/rfc3629#section-1"),
    ("RFC 3629 §3", "https://www.rfc-editor.org/rfc/rfc3629#section-3"),
    ("RFC 3629 §4", "https://www.rfc-editor.org/rfc/rfc3629#section-4"),
    ("RFC 2279 §2", "https://www.rfc-editor.org/rfc/rfc2279#section-2"),
    ("Unicode Table 3-7", "https://www.unicode.org/versions/latest/core-spec/chapter-3/#G27506"),
    ("Unicode D93b", "https://www.unicode.org/versions/latest/core-spec/chapter-3/#G66453"),
    ("Unicode D14", "https://www.unicode.org/versions/latest/core-spec/chapter-3/"),
    ("UTR #26", "https://www.unicode.org/reports/tr26/"),
    ("The WTF-8 encoding", "https://wtf-8.codeberg.page/"),
    (
        "Java SE java.io.DataInput",
        "https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/io/DataInput.html",
    ),
];

/// A source as [`crate::spec::Rule`] names it, with a link for each citation.
pub(super) fn cited(source: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    for (index, citation) in source.split("; ").enumerate() {
        spans.extend((index > 0).then(|| plain("; ")));
        let clause = CLAUSES.iter().find(|(start, _)| citation.starts_with(start));
        spans.push(clause.map_or_else(|| plain(citation), |(_, address)| linked(citation, address)));
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Rule, grammar};
    use crate::utf8::Kind;

    /// Every source that a report can cite has an address, and every address is cited.
    #[test]
    fn every_source_has_an_address() {
        let mut sources: Vec<&str> = grammar::ALL.iter().map(|grammar| grammar.source).collect();
        for kind in Kind::ALL {
            let rests = [&b"\xF0"[..], b"\xED\xA0\x80"];
            sources.extend(rests.map(|rest| Rule::broken(&grammar::RFC3629, kind, rest).source));
        }
        let cited: Vec<Span> = sources.iter().flat_map(|source| cited(source)).collect();
        let missing: Vec<&str> =
            cited.iter().filter(|span| span.href().is_empty() && span.text() != "; ").map(Span::text).collect();
        assert_eq!(missing, Vec::<&str>::new());
        let unused = CLAUSES.iter().filter(|(_, address)| cited.iter().all(|span| span.href() != *address));
        assert_eq!(unused.collect::<Vec<_>>(), Vec::<&(&str, &str)>::new());
    }
}
