//! What a run was made on: which kernels run hangs on the machine.

use serde::{Deserialize, Serialize};

/// A machine and a compiler.
#[derive(Serialize, Deserialize)]
pub(in crate::report) struct Machine {
    /// The architecture.
    pub(in crate::report) arch: String,
    /// How many threads worked.
    pub(in crate::report) threads: usize,
    /// The compiler's version.
    pub(in crate::report) rustc: String,
    /// CPU features that kernels are chosen by, and the machine has.
    pub(in crate::report) has: Vec<String>,
    /// Those it has not: kernels that need one did not run.
    pub(in crate::report) lacks: Vec<String>,
}

impl Machine {
    /// This one.
    pub(in crate::report) fn here() -> Self {
        let features = features();
        let which = |wanted: bool| {
            features.iter().filter(|(_, there)| *there == wanted).map(|(name, _)| (*name).to_owned()).collect()
        };
        Self {
            arch: std::env::consts::ARCH.to_owned(),
            threads: rayon::current_num_threads(),
            rustc: env!("UTFUZZ_CORE_VERSION").to_owned(),
            has: which(true),
            lacks: which(false),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn features() -> Vec<(&'static str, bool)> {
    vec![
        ("sse4.2", is_x86_feature_detected!("sse4.2")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
        ("avx512vbmi", is_x86_feature_detected!("avx512vbmi")),
        ("avx512vbmi2", is_x86_feature_detected!("avx512vbmi2")),
    ]
}

#[cfg(target_arch = "aarch64")]
fn features() -> Vec<(&'static str, bool)> {
    vec![("neon", std::arch::is_aarch64_feature_detected!("neon"))]
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn features() -> Vec<(&'static str, bool)> {
    Vec::new()
}
