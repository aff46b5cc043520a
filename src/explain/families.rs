//! What the decoders of each grammar make of an input, in short.

use crate::decoder::Decoder;
use crate::explain::grid::Grid;
use std::borrow::Cow;

/// The decoders that are held to one grammar, and which of them accept an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// The name of the grammar.
    pub grammar: &'static str,
    /// The decoders that accept the input, in the order of the list.
    pub accept: Vec<Cow<'static, str>>,
    /// Those that reject it.
    pub reject: Vec<Cow<'static, str>>,
}

impl Family {
    /// The families of these decoders, by the verdicts in a grid. Decoders without a verdict are left out.
    pub fn all<'d>(grid: &Grid, decoders: impl IntoIterator<Item = &'d dyn Decoder>) -> Vec<Self> {
        let verdict = grid.questions.iter().find(|question| question.name == "verdict");
        let groups = verdict.map_or(&[][..], |question| &question.groups);
        let mut families: Vec<Self> = Vec::new();
        for decoder in decoders {
            let info = decoder.info();
            let Some(group) = groups.iter().find(|group| group.decoders.contains(&info.name)) else { continue };
            let grammar = info.contract.grammar.name;
            let index = families.iter().position(|family| family.grammar == grammar).unwrap_or_else(|| {
                families.push(Self { grammar, accept: Vec::new(), reject: Vec::new() });
                families.len() - 1
            });
            let accepts = group.answer == "valid";
            let side = if accepts { &mut families[index].accept } else { &mut families[index].reject };
            side.push(info.name.clone());
        }
        families
    }

    /// What they do, in a line: the names of a few that do what the others do not.
    pub fn says(&self) -> String {
        /// More names than this do not fit a line.
        const NAMED: usize = 4;
        let part = |names: &[Cow<'static, str>], one: &str, many: &str, others: usize| {
            let does = if names.len() == 1 { one } else { many };
            let named = names.len() <= NAMED && (others > 0 || names.len() == 1);
            let which = if named { format!(" ({})", names.join(", ")) } else { String::new() };
            format!("{} {does} it{which}", names.len())
        };
        let (accept, reject) = (&self.accept, &self.reject);
        let accepts = part(accept, "accepts", "accept", reject.len());
        let rejects = part(reject, "rejects", "reject", accept.len());
        match (accept.len(), reject.len()) {
            (_, 0) => accepts,
            (0, _) => rejects,
            (accept, reject) if accept < reject => format!("{rejects}, {accepts}"),
            _ => format!("{accepts}, {rejects}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exceptions_are_named() {
        let names = |count: usize| (0..count).map(|index| format!("d{index}").into()).collect::<Vec<_>>();
        let says = |accept, reject| Family { grammar: "", accept: names(accept), reject: names(reject) }.says();
        assert_eq!(says(1, 9), "9 reject it, 1 accepts it (d0)");
        assert_eq!(says(2, 3), "3 reject it (d0, d1, d2), 2 accept it (d0, d1)");
        assert_eq!(says(9, 0), "9 accept it");
        assert_eq!(says(0, 1), "1 rejects it (d0)");
    }
}
