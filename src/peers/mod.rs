//! The decoders under test, one file per family, and the one registry.

#[cfg(feature = "peers")]
mod bstr;
#[cfg(feature = "peers")]
mod cesu8;
mod core_str;
mod cpu;
#[cfg(feature = "peers")]
mod encoding_rs;
#[cfg(all(feature = "glibc", target_os = "linux", target_env = "gnu"))]
mod glibc;
#[cfg(feature = "peers")]
mod java_string;
#[cfg(feature = "peers")]
mod mutf8;
mod own;
mod own_relatives;
#[cfg(feature = "planted")]
pub mod planted;
#[cfg(feature = "peers")]
mod simd_cesu8;
#[cfg(feature = "simdutf")]
pub mod simdutf;
#[cfg(feature = "peers")]
mod simdutf8;
#[cfg(feature = "peers")]
mod text;
#[cfg(feature = "peers")]
mod utf8_crates;
#[cfg(feature = "peers")]
mod utf8_decode;
#[cfg(feature = "peers")]
mod utf8_iter;
#[cfg(feature = "peers")]
mod wtf8;

pub use cpu::features;
pub use own_relatives::policies;

use crate::decoder::Decoder;
use crate::text::matches_glob;

/// Every decoder this build and this machine can run, in a fixed order.
pub fn all() -> Vec<Box<dyn Decoder>> {
    let families = [
        own::family,
        own_relatives::family,
        core_str::family,
        #[cfg(feature = "peers")]
        encoding_rs::family,
        #[cfg(feature = "peers")]
        simdutf8::family,
        #[cfg(feature = "simdutf")]
        simdutf::family,
        #[cfg(feature = "peers")]
        bstr::family,
        #[cfg(feature = "peers")]
        utf8_crates::family,
        #[cfg(feature = "peers")]
        utf8_iter::family,
        #[cfg(feature = "peers")]
        utf8_decode::family,
        #[cfg(feature = "peers")]
        simd_cesu8::family,
        #[cfg(feature = "peers")]
        cesu8::family,
        #[cfg(feature = "peers")]
        mutf8::family,
        #[cfg(feature = "peers")]
        java_string::family,
        #[cfg(feature = "peers")]
        wtf8::family,
        #[cfg(all(feature = "glibc", target_os = "linux", target_env = "gnu"))]
        glibc::family,
        #[cfg(feature = "planted")]
        planted::family,
    ];
    families.into_iter().flat_map(|family: fn() -> Vec<Box<dyn Decoder>>| family()).collect()
}

/// The decoders this build has and this machine cannot run, for want of a feature of its processor.
pub fn missing() -> Vec<&'static str> {
    let kernels = [
        &own::KERNELS[..],
        #[cfg(feature = "peers")]
        &simdutf8::KERNELS,
    ];
    without(&kernels.concat(), &features())
}

/// Those of `kernels` whose feature is not among `features`.
fn without(kernels: &[(&'static str, &str)], features: &[&str]) -> Vec<&'static str> {
    kernels.iter().filter(|(_, feature)| !features.contains(feature)).map(|(name, _)| *name).collect()
}

/// A decoder filter no decoder matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDecoder {
    /// The part of the filter that matches nothing.
    pub pattern: String,
    /// The names there are.
    pub known: Vec<String>,
}

impl core::fmt::Display for UnknownDecoder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "no decoder is named {:?}; there are: {}", self.pattern, self.known.join(", "))
    }
}

impl core::error::Error for UnknownDecoder {}

/// Which of `decoders` a filter selects: names separated by commas, `*` standing for any run of characters, `-name`
/// taking away. A filter that only takes away starts from all.
///
/// # Errors
/// A name or pattern that matches nothing.
pub fn select(decoders: &[Box<dyn Decoder>], filter: &str) -> Result<Vec<bool>, UnknownDecoder> {
    let patterns: Vec<&str> = filter.split(',').map(str::trim).filter(|pattern| !pattern.is_empty()).collect();
    let all = patterns.iter().all(|pattern| pattern.starts_with('-'));
    let mut selected = vec![all; decoders.len()];
    for pattern in patterns {
        let (value, glob) = pattern.strip_prefix('-').map_or((true, pattern), |rest| (false, rest));
        let mut hit = false;
        for (slot, decoder) in selected.iter_mut().zip(decoders) {
            if matches_glob(glob, &decoder.info().name) {
                *slot = value;
                hit = true;
            }
        }
        if !hit {
            let known = decoders.iter().map(|decoder| decoder.info().name.clone().into_owned()).collect();
            return Err(UnknownDecoder { pattern: glob.to_owned(), known });
        }
    }
    Ok(selected)
}

#[cfg(feature = "peers")]
thread_local! {
    /// Text on its way to an output that is none yet.
    static SCRATCH: core::cell::RefCell<String> = const { core::cell::RefCell::new(String::new()) };
}

/// Lets `write` append to `out` as a `String`; without copying where little stands there, and that is well-formed.
#[cfg(feature = "peers")]
fn append_text(out: &mut Vec<u8>, write: impl FnOnce(&mut String)) {
    const LITTLE: usize = 16;
    let before = core::mem::take(out);
    let as_text =
        if before.len() <= LITTLE { String::from_utf8(before).map_err(|e| e.into_bytes()) } else { Err(before) };
    match as_text {
        // Keeps its allocation.
        Ok(mut text) => {
            write(&mut text);
            *out = text.into_bytes();
        }
        Err(before) => SCRATCH.with_borrow_mut(|text| {
            text.clear();
            // As much as a long text has needed is not held for short ones.
            text.shrink_to(4096);
            write(text);
            *out = before;
            out.extend_from_slice(text.as_bytes());
        }),
    }
}

/// Appends UTF-16 as generalised UTF-8: pairs join, a lone surrogate takes three bytes.
#[cfg(any(feature = "peers", feature = "planted", all(feature = "glibc", target_os = "linux", target_env = "gnu")))]
fn push_utf16(units: &[u16], out: &mut Vec<u8>) {
    for scalar in char::decode_utf16(units.iter().copied()) {
        let code_point = scalar.map_or_else(|error| error.unpaired_surrogate().into(), u32::from);
        crate::spec::model::push_generalised(code_point, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "peers")]
    use crate::decoder::Info;

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
    }

    #[cfg(feature = "peers")]
    #[test]
    fn a_kernel_runs_here_or_is_missing() {
        let decoders = all();
        let all: Vec<&str> = decoders.iter().map(|decoder| &*decoder.info().name).collect();
        for (kernel, _) in [own::KERNELS, simdutf8::KERNELS].concat() {
            let is_chosen = decoders[0].info().lineage.at(1000) == kernel;
            assert_ne!(all.contains(&kernel) || is_chosen, missing().contains(&kernel), "{kernel}");
        }
        assert_eq!(without(&simdutf8::KERNELS, &["sse4.2"]), ["simdutf8-avx2", "simdutf8-avx2-chunked"]);
        assert!(without(&simdutf8::KERNELS, &["sse4.2", "avx2"]).is_empty());
    }

    #[cfg(feature = "peers")]
    #[test]
    fn versions_are_those_of_the_lock_file() {
        let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        for path in [top.join("Cargo.lock"), top.join("fuzz/Cargo.lock")] {
            let lock = std::fs::read_to_string(&path).unwrap();
            for decoder in all() {
                let Info { name, package, version, .. } = decoder.info();
                if ["core", "glibc", "planted"].contains(&&**package) {
                    continue;
                }
                let entry = format!("name = \"{package}\"\nversion = \"{version}\"\n");
                assert!(lock.contains(&entry), "{name}: {package} {version} is not in {}", path.display());
            }
        }
    }
}
