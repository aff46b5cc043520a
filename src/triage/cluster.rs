//! Signatures that have one cause, as far as can be seen from outside.
//!
//! A signature names what a decoder gets wrong and where. One fault may affect many subjects: a block edge that is
//! overlooked is overlooked for every kind of error. So signatures of one decoder that concern the same aspect of it form one
//! cluster if what they share is more likely the cause than what they differ in. Each keeps its own witness: nothing is
//! lost if two faults look like one.

use crate::explain::{Shape, Signature};
use crate::judge::Subject;
use crate::utf8::Kind;

/// Whether the location is the cause, whatever is there.
fn is_caused_by_location(shape: Shape) -> bool {
    match shape {
        Shape::Anywhere | Shape::Tail => false,
        Shape::Edge(_) | Shape::Offset | Shape::Cut | Shape::Context => true,
    }
}

/// Whether two signatures are the same, or differ only in the subject, in a location that causes both: either may stand for
/// both.
pub fn share_location_cause(a: &Signature, b: &Signature) -> bool {
    let both_placed = is_caused_by_location(a.shape) && is_caused_by_location(b.shape);
    a == b || both_placed && a.decoder == b.decoder && a.law == b.law
}

/// The signatures, those of one cause together; each group, and the groups, in the order of the signatures.
pub fn clusters(signatures: &[Signature]) -> Vec<Vec<Signature>> {
    let mut groups: Vec<Vec<Signature>> = Vec::new();
    for signature in signatures {
        let of_one_cause =
            |group: &Vec<Signature>| group.iter().any(|other| have_one_cause(signature, other, signatures));
        let (joined, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(of_one_cause);
        groups = others;
        groups.push(joined.into_iter().flatten().chain([signature.clone()]).collect());
    }
    groups.iter_mut().for_each(|group| group.sort());
    groups.sort();
    groups
}

fn have_one_cause(a: &Signature, b: &Signature, all: &[Signature]) -> bool {
    if a.decoder != b.decoder || a.law.aspect() != b.law.aspect() {
        return false;
    }
    // One subject that breaks one law here and another there.
    if a.subject == b.subject {
        return true;
    }
    if a.law != b.law {
        return false;
    }
    match (a.shape, b.shape) {
        // Only the kind distinguishes them.
        (Shape::Anywhere, Shape::Anywhere) => family(a.subject) == family(b.subject) || is_about_any_kind(a, all),
        // Where the surroundings could not be removed, the fault may still be the same.
        (Shape::Anywhere, Shape::Context | Shape::Offset) | (Shape::Context | Shape::Offset, Shape::Anywhere) => true,
        (Shape::Anywhere, _) | (_, Shape::Anywhere) => false,
        // The location is the cause.
        _ => true,
    }
}

/// Overlong forms of every length are one family.
fn family(subject: Subject) -> Subject {
    match subject {
        Subject::Fault(Kind::Overlong(_)) => Subject::Fault(Kind::Overlong(2)),
        other => other,
    }
}

/// Whether the decoder breaks this law on three kinds or more, so that the kind is not the cause.
fn is_about_any_kind(signature: &Signature, all: &[Signature]) -> bool {
    let alike = |other: &&Signature| {
        other.decoder == signature.decoder && other.law == signature.law && other.shape == Shape::Anywhere
    };
    let mut kinds: Vec<Subject> = all.iter().filter(alike).map(|other| family(other.subject)).collect();
    kinds.sort();
    kinds.dedup();
    kinds.len() >= 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Law;

    fn signature(law: Law, decoder: &'static str, subject: Subject, shape: Shape) -> Signature {
        Signature { law, decoder: decoder.into(), subject, shape }
    }

    #[test]
    fn what_the_place_causes_is_one_and_what_the_kind_causes_is_not() {
        let fault = Subject::Fault;
        let edge = |kind| signature(Law::Verdict, "a", fault(kind), Shape::Edge(64));
        let anywhere = |law, decoder, kind| signature(law, decoder, fault(kind), Shape::Anywhere);
        let all = [
            edge(Kind::Surrogate),
            edge(Kind::TooShort),
            anywhere(Law::Verdict, "a", Kind::Surrogate),
            anywhere(Law::Verdict, "b", Kind::Surrogate),
            anywhere(Law::Verdict, "b", Kind::Overlong(2)),
            anywhere(Law::Verdict, "b", Kind::Overlong(3)),
            anywhere(Law::ErrorLength, "b", Kind::Surrogate),
            anywhere(Law::Lossy, "b", Kind::Surrogate),
        ];
        let groups = clusters(&all);
        let sizes: Vec<(&str, Law, usize)> =
            groups.iter().map(|group| (&*group[0].decoder, group[0].law, group.len())).collect();
        assert_eq!(sizes.len(), 4, "{groups:#?}");
        // The surrogate of `a` is wrong at an edge too: one subject, one aspect.
        assert!(sizes.contains(&("a", Law::Verdict, 3)));
        assert!(sizes.contains(&("b", Law::Verdict, 2)) && sizes.contains(&("b", Law::Lossy, 1)));
        let three = [Kind::Surrogate, Kind::TooShort, Kind::Continuation].map(|kind| anywhere(Law::Lossy, "c", kind));
        assert_eq!(clusters(&three).len(), 1);
        assert_eq!(clusters(&three[..2]).len(), 2);
        assert!(clusters(&[]).is_empty());
    }
}
