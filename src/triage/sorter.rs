//! Inputs sorted by signature, in one pass over any number of them.

use crate::case::Input;
use crate::decoder::Decoder;
use crate::explain::{Divergence, Shape, Signature};
use crate::judge::{Broken, Judge, Law, Subject};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The inputs that show one signature.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The smallest of them, explained.
    pub divergence: Divergence,
    /// How many there are.
    pub inputs: u64,
    /// The first of their files, in the order they were read.
    pub files: Vec<PathBuf>,
}

/// What the inputs showed.
#[derive(Clone, Debug, Default)]
pub struct Sorted {
    /// How many inputs were judged.
    pub inputs: u64,
    /// How many of them showed nothing.
    pub quiet: u64,
    /// The rest, by what they showed. One input may show something of several decoders.
    pub findings: BTreeMap<Signature, Finding>,
}

impl Finding {
    /// Counts the inputs of another here too; the smaller divergence stays.
    pub(super) fn absorb(&mut self, other: Self) {
        let size = |divergence: &Divergence| (divergence.bytes.len(), divergence.bytes.clone());
        self.inputs += other.inputs;
        let room = Sorted::NAMED.saturating_sub(self.files.len());
        self.files.extend(other.files.into_iter().take(room));
        if size(&other.divergence) < size(&self.divergence) {
            self.divergence = other.divergence;
        }
    }
}

impl Sorted {
    /// So many files are named for one signature.
    pub const NAMED: usize = 20;

    /// Both together; `other` was read later.
    pub fn merge(mut self, other: Self) -> Self {
        self.inputs += other.inputs;
        self.quiet += other.quiet;
        for (signature, finding) in other.findings {
            self.add(signature, finding);
        }
        self
    }

    fn add(&mut self, signature: Signature, finding: Finding) {
        match self.findings.get_mut(&signature) {
            None => {
                self.findings.insert(signature, finding);
            }
            Some(known) => known.absorb(finding),
        }
    }

    fn count(&mut self, signature: &Signature, file: &Path) {
        if let Some(known) = self.findings.get_mut(signature) {
            known.inputs += 1;
            if known.files.len() < Self::NAMED {
                known.files.push(file.to_owned());
            }
        }
    }
}

/// A broken law of one decoder on one subject.
type Key = (usize, Law, Subject);

/// Judges inputs and sorts them.
pub struct Sorter<'d> {
    judge: Judge<'d>,
    sorted: Sorted,
    /// How often a broken law turned out to be this signature, and no other since.
    examined: BTreeMap<Key, (Signature, u32)>,
}

impl<'d> Sorter<'d> {
    /// So often the same broken law is examined with the same outcome before that is taken for granted.
    const EXAMINED: u32 = 8;

    /// A sorter that asks these decoders.
    pub fn new(decoders: &[&'d dyn Decoder]) -> Self {
        Self { judge: Judge::new(decoders.iter().copied()), sorted: Sorted::default(), examined: BTreeMap::new() }
    }

    /// Judges one input. False where it shows nothing.
    pub fn add(&mut self, file: &Path, artifact: &Input) -> bool {
        let case = artifact.case();
        self.sorted.inputs += 1;
        let all_broken = self.judge.judge(&case).to_vec();
        self.sorted.quiet += u64::from(all_broken.is_empty());
        for broken in &all_broken {
            let key = (broken.decoder, broken.law, broken.subject);
            if let Some(signature) = self.explained(&key) {
                self.sorted.count(&signature, file);
                continue;
            }
            self.examine(file, artifact, broken, key);
        }
        !all_broken.is_empty()
    }

    /// The signature that a broken law has, where that is clear: a fault that shows anywhere shows here too; any other
    /// has been seen often enough.
    fn explained(&self, key: &Key) -> Option<Signature> {
        let (signature, count) = self.examined.get(key)?;
        let (_, law, subject) = *key;
        let anywhere = signature.shape == Shape::Anywhere && (signature.law, signature.subject) == (law, subject);
        (anywhere || *count >= Self::EXAMINED).then(|| signature.clone())
    }

    fn examine(&mut self, file: &Path, artifact: &Input, broken: &Broken, key: Key) {
        let divergence = crate::explain::explain(&self.judge, &artifact.case(), broken);
        let signature = divergence.signature.clone();
        match self.examined.get_mut(&key) {
            Some((known, count)) if *known == signature => *count += 1,
            _ => {
                self.examined.insert(key, (signature.clone(), 1));
            }
        }
        self.sorted.add(signature, Finding { divergence, inputs: 1, files: vec![file.to_owned()] });
    }

    /// What was found.
    pub fn finish(self) -> Sorted {
        self.sorted
    }
}
