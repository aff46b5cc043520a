//! The decoders under test, and their registry.
//!
//! An adapter file begins with the feature it needs, if any (`#![cfg(feature = "...")]`), and has a function, such as
//! `family`, which makes the decoders that this machine can run.

mod adapter;
mod crates;
#[cfg(all(feature = "foreign", unix))]
pub mod foreign;
mod glibc;
mod own;
#[cfg(feature = "planted")]
pub mod planted;
pub mod simdutf;
pub mod units;

#[cfg(all(feature = "check", feature = "peers", target_arch = "x86_64"))]
pub use crates::is_well_formed_by_sse42;
pub use own::policies;

use crate::decoder::Decoder;
use crate::text::matches_glob;

/// The manifest of this crate, which has the dependency of each decoder that is a crate. Its path in the repository is
/// `crates/core/Cargo.toml`.
pub const MANIFEST: &str = include_str!("../../Cargo.toml");

type Family = fn() -> Vec<Box<dyn Decoder>>;

/// Every family of this build. Reports list the decoders in this order.
const FAMILIES: &[Family] = &[
    own::family,
    #[cfg(feature = "peers")]
    crates::encoding_rs,
    #[cfg(feature = "peers")]
    crates::simdutf8,
    #[cfg(feature = "simdutf")]
    simdutf::family,
    #[cfg(feature = "peers")]
    crates::small,
    #[cfg(feature = "peers")]
    crates::relatives,
    #[cfg(all(feature = "glibc", target_os = "linux", target_env = "gnu"))]
    glibc::family,
    #[cfg(feature = "planted")]
    planted::family,
];

/// Every decoder this build and this machine can run, in a fixed order.
pub fn all() -> Vec<Box<dyn Decoder>> {
    FAMILIES.iter().flat_map(|family| family()).collect()
}

/// The CPU features that decoders use and this processor has, as detected at run time.
pub fn features() -> Vec<&'static str> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    macro_rules! detected {
        ($detect:ident: $($feature:tt)*) => {
            [$(($feature, std::arch::$detect!($feature))),*]
        };
    }
    #[cfg(target_arch = "x86_64")]
    let known = detected!(is_x86_feature_detected: "sse2" "ssse3" "sse4.1" "sse4.2" "popcnt" "bmi1" "bmi2" "lzcnt" "avx" "avx2" "avx512f"
        "avx512bw" "avx512vl" "avx512vbmi" "avx512vbmi2");
    #[cfg(target_arch = "aarch64")]
    let known = detected!(is_aarch64_feature_detected: "neon" "sve" "sve2");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let known: [(&str, bool); 0] = [];
    known.into_iter().filter(|(_, here)| *here).map(|(feature, _)| feature).collect()
}

/// The decoders of this build that this machine cannot run because its processor lacks a CPU feature.
pub fn missing() -> Vec<&'static str> {
    let kernels = own::kernels();
    #[cfg(feature = "peers")]
    let kernels = kernels.chain(crates::KERNELS);
    without(kernels, &features())
}

/// The `kernels` that need a feature which is not in `features`.
fn without(
    kernels: impl Iterator<Item = (&'static str, &'static [&'static str])>,
    features: &[&str],
) -> Vec<&'static str> {
    let is_missing = |needed: &[&str]| needed.iter().any(|feature| !features.contains(feature));
    kernels.filter(|(_, needed)| is_missing(needed)).map(|(name, _)| name).collect()
}

/// A decoder filter that matches no decoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDecoder {
    /// The part of the filter that matches nothing.
    pub pattern: String,
    /// The names of all decoders.
    pub known: Vec<String>,
}

impl core::fmt::Display for UnknownDecoder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        /// Nobody would read more names than this.
        const MOST: usize = 60;
        let listed = self.known[..self.known.len().min(MOST)].join(", ");
        write!(f, "no decoder is named {:?}; known: {listed}", self.pattern)?;
        match self.known.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => write!(f, " and {more} more, which `utfuzz list` prints"),
        }
    }
}

impl core::error::Error for UnknownDecoder {}

/// Which of `decoders` a filter selects: names separated by commas, with `*` for any characters; `-name` removes. A
/// filter that only removes starts from all decoders.
///
/// # Errors
/// A name or pattern that matches nothing.
pub fn select(decoders: &[Box<dyn Decoder>], filter: &str) -> Result<Vec<bool>, UnknownDecoder> {
    select_names(&decoders.iter().map(|decoder| &*decoder.info().name).collect::<Vec<_>>(), filter)
}

/// The same for decoders of these names.
///
/// # Errors
/// A name or pattern that matches nothing.
pub fn select_names(names: &[&str], filter: &str) -> Result<Vec<bool>, UnknownDecoder> {
    let patterns: Vec<&str> = filter.split(',').map(str::trim).filter(|pattern| !pattern.is_empty()).collect();
    let all = patterns.iter().all(|pattern| pattern.starts_with('-'));
    let mut selected = vec![all; names.len()];
    for pattern in patterns {
        let (value, glob) = pattern.strip_prefix('-').map_or((true, pattern), |rest| (false, rest));
        let mut hit = false;
        for (slot, name) in selected.iter_mut().zip(names) {
            if matches_glob(glob, name) {
                *slot = value;
                hit = true;
            }
        }
        if !hit {
            let known = names.iter().map(|name| (*name).to_owned()).collect();
            return Err(UnknownDecoder { pattern: glob.to_owned(), known });
        }
    }
    Ok(selected)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_arch = "x86_64")]
    use crate::codec::Kernel;

    #[test]
    fn names_are_unique() {
        let decoders = all();
        let mut names: Vec<_> = decoders.iter().map(|decoder| &decoder.info().name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), decoders.len());
    }

    #[test]
    fn a_filter_selects_by_name_and_pattern() {
        let decoders = all();
        let count =
            |filter: &str| select(&decoders, filter).map(|slots| slots.into_iter().filter(|&slot| slot).count());
        assert_eq!(count(""), Ok(decoders.len()));
        assert_eq!(count("own"), Ok(1));
        assert_eq!(count("own, std"), Ok(2));
        assert_eq!(count("-own"), Ok(decoders.len() - 1));
        assert_eq!(count("*"), Ok(decoders.len()));
        assert_eq!(count("*,-st*"), Ok(decoders.len() - 1));
        assert_eq!(count("owl").unwrap_err().pattern, "owl");
        let names = |count: usize| (0..count).map(|index| format!("d{index}")).collect();
        let refused = |count| UnknownDecoder { pattern: "owl".into(), known: names(count) }.to_string();
        assert_eq!(refused(2), "no decoder is named \"owl\"; known: d0, d1");
        assert!(refused(726).ends_with(", d59 and 666 more, which `utfuzz list` prints"), "{}", refused(726));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_kernel_that_lacks_one_of_its_features_is_missing() {
        let all = ["sse4.1", "avx2", "bmi1", "bmi2", "lzcnt", "popcnt"];
        for absent in all {
            let here: Vec<_> = all.into_iter().filter(|feature| *feature != absent).collect();
            let expected = if absent == "sse4.1" { ["own-sse41", "own-avx512"] } else { ["own-avx2", "own-avx512"] };
            assert_eq!(without(own::kernels(), &here), expected, "without {absent}");
        }
        // A kernel that needs a feature which `features` does not detect would be missing on every machine.
        let needed = Kernel::available().flat_map(|kernel| kernel.info().features);
        let unknown: Vec<_> = needed.filter(|feature| !features().contains(feature)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[cfg(feature = "peers")]
    #[test]
    fn a_kernel_runs_here_or_is_missing() {
        let decoders = all();
        let all: Vec<&str> = decoders.iter().map(|decoder| &*decoder.info().name).collect();
        for (kernel, _) in own::kernels().chain(crates::KERNELS) {
            let is_chosen = decoders[0].info().lineage.at(1000) == kernel;
            assert_ne!(all.contains(&kernel) || is_chosen, missing().contains(&kernel), "{kernel}");
        }
        assert_eq!(without(crates::KERNELS.into_iter(), &["sse4.2"]), ["simdutf8-avx2", "simdutf8-avx2-chunked"]);
        assert!(without(crates::KERNELS.into_iter(), &["sse4.2", "avx2"]).is_empty());
    }
}
