//! What the algorithms need from an instruction set: a register of bytes and its primitives. There are no
//! algorithms in this file.

/// A register of [`Vector::LEN`] bytes.
///
/// # Safety
/// An implementation has registers of `LEN` bytes, and its functions have the results described here: the algorithms
/// compute from them which memory they access. Every function may be called only on a processor with the instructions of the implementing file; they have no other
/// precondition except:
/// * [`load`](Vector::load) reads `from..from + LEN`, which must be readable;
/// * [`store`](Vector::store) writes `to..to + LEN`, which must be writable;
/// * what is said of [`continuations_of`](Vector::continuations_of) and [`leads_of_4_of`](Vector::leads_of_4_of).
///
/// Neither needs alignment. No other function touches memory of the caller.
///
/// The functions are inlined into code compiled for the instruction set (the table in the kernels' `mod.rs`), which is
/// reached only through a [`Kernel`](crate::codec::Kernel), which is created only after the processor was found to have
/// the features.
pub(super) unsafe trait Vector: Copy {
    /// Bytes in a register: 16, 32 or 64.
    const LEN: usize;

    /// The name of the kernel with these registers.
    const NAME: &'static str;

    /// Errors found so far in one or more registers.
    type Errors: Copy;

    unsafe fn no_errors() -> Self::Errors;

    /// Reads a register.
    unsafe fn load(from: *const u8) -> Self;

    /// Writes a register.
    unsafe fn store(self, to: *mut u8);

    unsafe fn zero() -> Self;

    unsafe fn or(self, other: Self) -> Self;

    /// The higher of each pair of bytes.
    unsafe fn max(self, other: Self) -> Self;

    /// Whether every byte is below `limit`, which is not zero.
    unsafe fn is_below(self, limit: u8) -> bool;

    /// Whether every byte is below 80.
    unsafe fn is_ascii(self) -> bool;

    /// The bytes moved one, two and three places towards the end, with zeros shifted in at the start.
    unsafe fn shift_in(self) -> [Self; 3];

    /// Every byte shifted left by one bit.
    unsafe fn shl1(self) -> Self;

    /// The highest bit of each byte: that of byte `i` is bit `i`.
    unsafe fn movemask(self) -> u64;

    /// Checks every byte of `self`, where `before` holds the bytes one, two and three places earlier: it is a continuation
    /// byte exactly where one of those needs one, and the byte before it does not refuse it. Adds the errors to `errors`.
    unsafe fn check(self, before: [Self; 3], errors: Self::Errors) -> Self::Errors;

    unsafe fn has_error(errors: Self::Errors) -> bool;

    /// The bytes with errors.
    unsafe fn error_mask(errors: Self::Errors) -> u64;

    /// Whether there is no error, and no sequence continues after the register.
    unsafe fn is_complete(self, errors: Self::Errors) -> bool;

    /// The leads of `self` that refuse the continuation byte after them, where `next` holds the bytes one place later. Bits
    /// of other bytes are undefined.
    unsafe fn refused(self, next: Self) -> u64;

    /// The continuation bytes.
    #[inline(always)]
    unsafe fn continuations(self) -> u64 {
        // SAFETY: registers only.
        unsafe { opaque(self.movemask()) & !opaque(self.shl1().movemask()) }
    }

    /// The bytes from F0 on.
    #[inline(always)]
    unsafe fn leads_of_4(self) -> u64 {
        // SAFETY: registers only.
        unsafe {
            let (once, twice) = (self.shl1(), self.shl1().shl1());
            opaque(self.movemask())
                & opaque(once.movemask())
                & opaque(twice.movemask())
                & opaque(twice.shl1().movemask())
        }
    }

    /// The continuation bytes of a window of 64 bytes, which must be readable.
    #[inline(always)]
    unsafe fn continuations_of(from: *const u8) -> u64 {
        // SAFETY: the same contract.
        unsafe { of_window::<Self>(from, |bytes| bytes.continuations()) }
    }

    /// The bytes from F0 on of a window of 64 bytes, which must be readable.
    #[inline(always)]
    unsafe fn leads_of_4_of(from: *const u8) -> u64 {
        // SAFETY: the same contract.
        unsafe { of_window::<Self>(from, |bytes| bytes.leads_of_4()) }
    }
}

/// A mask of the registers of a window.
///
/// # Safety
/// 64 bytes can be read; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn of_window<V: Vector>(from: *const u8, mask: impl Fn(V) -> u64) -> u64 {
    let mut all = 0;
    for part in 0..64 / V::LEN {
        // SAFETY: part `p` reads `p * LEN..(p + 1) * LEN`, and the last ends at 64.
        all |= opaque(mask(unsafe { V::load(from.add(V::LEN * part)) })) << (V::LEN * part);
    }
    all
}

/// The word, hidden from the optimiser. LLVM would merge shifts that fill up from a neighbouring word into `shld`, which is
/// slower than the three instructions it replaces, and turn arithmetic on words that came from vectors into arithmetic on
/// vectors of bits, which takes several times as long.
#[inline(always)]
#[cfg(not(miri))]
pub(super) fn opaque(mut word: u64) -> u64 {
    // SAFETY: no instruction.
    unsafe { core::arch::asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags)) };
    word
}

/// The word. Miri does not interpret assembly, and does not optimise.
#[cfg(miri)]
pub(super) fn opaque(word: u64) -> u64 {
    word
}

/// The pointer, hidden from the optimiser. LLVM would assemble a register that was partly loaded before from what is in
/// other registers, which takes several times as long as to load it again.
#[inline(always)]
#[cfg(not(miri))]
#[allow(clippy::pointers_in_nomem_asm_block, reason = "the pointer is passed on, and nothing is read")]
pub(super) fn hidden<T>(mut from: *const T) -> *const T {
    // SAFETY: no instruction.
    unsafe { core::arch::asm!("/* {0} */", inout(reg) from, options(pure, nomem, nostack, preserves_flags)) };
    from
}

/// The pointer. Miri does not interpret assembly, and does not optimise.
#[cfg(miri)]
pub(super) fn hidden<T>(from: *const T) -> *const T {
    from
}
