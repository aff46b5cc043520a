//! What the processor at hand can do.

/// The features decoders look for that this processor has, as found at run time.
pub fn features() -> Vec<&'static str> {
    macro_rules! detected {
        ($detect:ident: $($feature:tt)*) => {
            [$(($feature, std::arch::$detect!($feature))),*]
        };
    }
    #[cfg(target_arch = "x86_64")]
    let known = detected!(is_x86_feature_detected: "sse2" "ssse3" "sse4.1" "sse4.2" "popcnt" "bmi2" "avx" "avx2" "avx512f"
        "avx512bw" "avx512vl" "avx512vbmi" "avx512vbmi2");
    #[cfg(target_arch = "aarch64")]
    let known = detected!(is_aarch64_feature_detected: "neon" "sve" "sve2");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let known: [(&str, bool); 0] = [];
    known.into_iter().filter(|(_, here)| *here).map(|(feature, _)| feature).collect()
}
