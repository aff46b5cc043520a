//! Engines that run the judge: a test of one decoder, the embedded engine, the fuzz targets, the score of the last
//! two, and the nightly run.

#[cfg(feature = "check")]
pub mod check;
pub mod conformance;
#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(feature = "check")]
pub mod nightly;
#[cfg(feature = "check")]
pub mod score;
#[cfg(feature = "check")]
pub mod targets;

pub mod link {
    //! How fuzz targets are linked. This module is for build scripts, so it needs no feature.

    /// For the build script of a crate of fuzz targets: redirects LLVM's callbacks for traced comparisons, for indirect calls
    /// and for the counters of the code, in each program under `fuzz_targets/` except those named in `others`.
    ///
    /// cargo-fuzz enables these callbacks. Those for comparisons and calls are redirected to a function that does nothing:
    /// in byte classifiers they take most of the run time, and the constants that libFuzzer would find are in the
    /// dictionary. The calls that are left still take almost half of it; cargo-fuzz's option `--no-trace-compares` removes
    /// them. The callbacks that register the counters of the code do so only in a target that is guided by code coverage
    /// (with `UTFUZZ_FEATURES=none`, or of the form `conversion`), since libFuzzer clears all counters before every input,
    /// which takes a fifth of the run time. A program whose callbacks are redirected must use `fuzz_target!`, which defines
    /// these functions.
    ///
    /// ```no_run
    /// # use utfuzz_core as utfuzz;
    /// // fuzz/build.rs
    /// fn main() -> std::io::Result<()> {
    ///     utfuzz::engine::link::fuzz_targets(&[])
    /// }
    /// ```
    ///
    /// # Errors
    /// The directory `fuzz_targets` cannot be read.
    pub fn fuzz_targets(others: &[&str]) -> std::io::Result<()> {
        println!("cargo::rerun-if-changed=build.rs");
        println!("cargo::rerun-if-changed=fuzz_targets");
        // Only the linkers of Linux have these options.
        if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
            return Ok(());
        }
        for source in std::fs::read_dir("fuzz_targets")? {
            let path = source?.path();
            let Some(target) = path.file_stem().and_then(|stem| stem.to_str()).filter(|name| !others.contains(name))
            else {
                continue;
            };
            for argument in arguments() {
                println!("cargo::rustc-link-arg-bin={target}={argument}");
            }
        }
        Ok(())
    }

    fn arguments() -> impl Iterator<Item = String> {
        let sizes = [1, 2, 4, 8];
        let compares = sizes.into_iter().flat_map(|size| [format!("cmp{size}"), format!("const_cmp{size}")]);
        let traces = compares.chain(["switch", "pc_indir"].map(str::to_owned));
        let traces = traces.map(|callback| (format!("trace_{callback}"), "utfuzz_ignore_trace"));
        // `fuzz_target!` defines these for two architectures only.
        let architecture = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
        let counters = [("8bit_counters_init", "utfuzz_counters"), ("pcs_init", "utfuzz_counted_places")];
        let counters = counters.into_iter().filter(move |_| ["x86_64", "aarch64"].contains(&&*architecture));
        let counters = counters.map(|(callback, by)| (callback.to_owned(), by));
        traces.chain(counters).map(|(callback, by)| {
            let symbol = format!("__sanitizer_cov_{callback}");
            format!("-Wl,--wrap={symbol},--defsym=__wrap_{symbol}={by}")
        })
    }
}
