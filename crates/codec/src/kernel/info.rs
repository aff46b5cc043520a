//! What is known of a kernel whether or not this processor can run it: its name, the features it needs, and the code that
//! validates an input of a given length. That code is chosen in `validate.rs`, the kernel in `mod.rs`.

/// What is known of a kernel without running it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KernelInfo {
    /// `scalar`, or the name of the instruction set.
    pub name: &'static str,
    /// The processor features it needs, as `is_x86_feature_detected!` and `is_aarch64_feature_detected!` name them; none for
    /// `scalar`.
    pub features: &'static [&'static str],
    /// The code that validates an input of this many bytes; an empty input needs none.
    pub path: fn(usize) -> Path,
}

/// The code that validates an input. Inputs of two lengths with equal paths run the same code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The kernel whose registers are used. For short inputs this may be a kernel with shorter registers.
    pub kernel: &'static str,
    /// How the input is divided among registers.
    pub registers: Registers,
}

impl Path {
    /// The portable code.
    pub(super) const SCALAR: Self = Self { kernel: "scalar", registers: Registers::None };
}

/// How an input is divided among registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Registers {
    /// Portable code, which names no registers.
    None,
    /// One register, filled with zeros, or with the input again, where the input is shorter.
    One,
    /// One register and one or two more bytes.
    OneAndRest,
    /// Several registers, the last of which may overlap the one before.
    Several,
    /// Aligned groups of registers, then several.
    Groups,
}

/// Notes in tests that this code ran.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
#[inline(always)]
pub(super) fn note_run(kernel: &'static str, registers: Registers) {
    #[cfg(test)]
    trace::RAN.with_borrow_mut(|ran| ran.push(Path { kernel, registers }));
    #[cfg(not(test))]
    let _ = (kernel, registers);
}

/// What ran, noted by the code itself, so that a test can compare it with [`KernelInfo::path`].
#[cfg(test)]
pub(super) mod trace {
    use super::Path;
    use core::cell::RefCell;

    thread_local! {
        pub(crate) static RAN: RefCell<Vec<Path>> = const { RefCell::new(Vec::new()) };
    }
}
