//! What the algorithms need from an instruction set: a register of bytes and its primitives, and the names of the functions that
//! are compiled on their own. There are no algorithms in this file.
//!
//! `compress.rs` and `to_utf8.rs` are written with operations on registers of 16 bytes under Intel's names: those of SSE4.1,
//! and the same in NEON. In NEON they have Intel's results where the kernels use them, with these limits: masks have all bits
//! of a lane or none, and the indices of a shuffle are below 16, or 80 (hexadecimal) and above.

#[cfg(target_arch = "x86_64")]
pub(super) use core::arch::x86_64::*;
#[cfg(target_arch = "aarch64")]
pub(super) use in_neon::*;
#[cfg(target_arch = "x86_64")]
pub(super) use in_sse::*;

/// Functions that `compile!` in the kernels' `mod.rs` compiles on their own: each calls the generic function of its name for this
/// register. Inlined, the constants of that function would take registers from the loops around it, and short inputs would pay
/// for a stack frame that only long ones need.
///
/// # Safety
/// Each function calls the one that it names and returns its result, from which callers compute which memory they access. Each has
/// the precondition of that function.
pub(super) unsafe trait Apart: Vector {
    /// `long_prefix` of `validate.rs`.
    unsafe fn long_prefix(bytes: &[u8], at: usize) -> usize;

    /// `good_groups` of `validate.rs`.
    unsafe fn good_groups(from: *const u8, most: usize) -> usize;

    /// `sparse_run` of `window.rs`.
    unsafe fn sparse_run(from: *const u8, at: usize, end: usize, to: *mut u8) -> (usize, *mut u8);
}

/// A table that begins at a cache line, so that none of its registers lies in two lines and takes two loads.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Aligned<T>(pub(super) T);

impl<T> core::ops::Deref for Aligned<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// A register of [`Vector::LEN`] bytes.
///
/// # Safety
/// An implementation has registers of `LEN` bytes, and its functions have the results described here: the algorithms
/// compute from them which memory they access. Every function may be called only on a processor with the instructions of
/// the implementing file; they have no other precondition except:
/// * [`load`](Vector::load) and [`load_aligned`](Vector::load_aligned) read `from..from + LEN`, which must be readable;
/// * [`store`](Vector::store) writes `to..to + LEN`, which must be writable;
/// * `limit` of [`is_below`](Vector::is_below) is not zero;
/// * what is said of [`continuations_of`](Vector::continuations_of) and [`leads_of_4_of`](Vector::leads_of_4_of).
///
/// None of these needs alignment, except that `from` of `load_aligned` is a multiple of `LEN`. No other function touches memory of
/// the caller.
///
/// The functions are inlined into code compiled for the instruction set (the table in the kernels' `mod.rs`), which is
/// reached only through a [`Kernel`](crate::Kernel), which is created only after the processor was found to have
/// the features.
pub(super) unsafe trait Vector: Copy {
    /// Bytes in a register: 16, 32 or 64.
    const LEN: usize;

    /// The name of the kernel with these registers.
    const NAME: &'static str;

    /// Errors found so far in one or more registers.
    type Errors: Copy;

    /// The register with which memory outside the caches is read fastest: on Zen 5, registers of 64 bytes took up to a quarter longer
    /// than those of 32. It is as long as this one or half as long, and needs no other instructions.
    type Far: Vector;

    unsafe fn no_errors() -> Self::Errors;

    /// Reads a register.
    unsafe fn load(from: *const u8) -> Self;

    /// As [`Self::load`], where `from` is a multiple of `LEN`. Instructions of SSE4.1 compute with such a register without an
    /// instruction to load it.
    #[inline(always)]
    unsafe fn load_aligned(from: *const u8) -> Self {
        // SAFETY: the same contract.
        unsafe { Self::load(from) }
    }

    /// Writes a register.
    unsafe fn store(self, to: *mut u8);

    /// Hints that the cache line at `from`, if there is one, will soon be read or written.
    #[inline(always)]
    unsafe fn prefetch(from: *const u8) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: a hint, which loads nothing from places that cannot be read.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(from.cast());
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let _ = from;
    }

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
    /// byte exactly where one of those needs one, and the byte before it does not refuse it. Adds the errors to `errors`. A refusal
    /// by C0 or C1 need not be found where that byte stands in place of a continuation byte, which is an error already.
    unsafe fn check(self, before: [Self; 3], errors: Self::Errors) -> Self::Errors;

    /// As [`Self::check`], for text with no byte above DF; `one` holds the bytes one place earlier. C0 and C1 in `self` are errors; in
    /// `one` they need not be found.
    unsafe fn check_pairs(self, one: Self, errors: Self::Errors) -> Self::Errors;

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

/// The word, hidden from the optimiser. LLVM would merge a pair of shifts that moves bits between words into `shld`, which is
/// slower than the three instructions it replaces, and turn arithmetic on words that came from vectors into arithmetic on
/// vectors of bits, which takes several times as long.
#[inline(always)]
#[cfg(not(miri))]
pub(super) fn opaque(mut word: u64) -> u64 {
    // SAFETY: the assembly is a comment without any instruction.
    unsafe { core::arch::asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags)) };
    word
}

/// The word. Miri does not interpret assembly, and does not optimise.
#[cfg(miri)]
pub(super) fn opaque(word: u64) -> u64 {
    word
}

/// The pointer, hidden from the optimiser. LLVM would assemble a register that was partly loaded before from what is in
/// other registers, which takes several times as long as loading it again.
#[inline(always)]
#[cfg(not(miri))]
#[allow(clippy::pointers_in_nomem_asm_block, reason = "the pointer is passed on, and nothing is read")]
pub(super) fn hidden<T>(mut from: *const T) -> *const T {
    // SAFETY: the assembly is a comment without any instruction.
    unsafe { core::arch::asm!("/* {0} */", inout(reg) from, options(pure, nomem, nostack, preserves_flags)) };
    from
}

/// The pointer. Miri does not interpret assembly, and does not optimise.
#[cfg(miri)]
pub(super) fn hidden<T>(from: *const T) -> *const T {
    from
}

/// What SSE4.1 and NEON do with different operations.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_op_in_unsafe_fn, reason = "the callers' contracts state the instructions")]
mod in_sse {
    use core::arch::x86_64::*;

    /// For each place the bits of a byte, those of the byte before moved by six, and those of the byte before that moved by
    /// twelve, in units of sixteen bits.
    #[inline(always)]
    pub(crate) unsafe fn joined(own: __m128i, second: __m128i, third: __m128i) -> [__m128i; 2] {
        let zero = _mm_setzero_si128();
        let join =
            |pairs, third| _mm_or_si128(_mm_maddubs_epi16(pairs, _mm_set1_epi16(0x4001)), _mm_slli_epi16::<4>(third));
        [
            join(_mm_unpacklo_epi8(own, second), _mm_unpacklo_epi8(zero, third)),
            join(_mm_unpackhi_epi8(own, second), _mm_unpackhi_epi8(zero, third)),
        ]
    }

    /// Whether every byte is below 80.
    #[inline(always)]
    pub(crate) unsafe fn are_ascii(bytes: __m128i) -> bool {
        _mm_movemask_epi8(bytes) == 0
    }

    /// The bits from the seventeenth on of a scalar value: bits four and five of its second byte, and the lowest three of its lead.
    #[inline(always)]
    pub(crate) unsafe fn upper_bits(second: __m128i, lead: __m128i) -> __m128i {
        let second = _mm_and_si128(_mm_srli_epi16::<4>(second), _mm_set1_epi8(3));
        _mm_or_si128(second, _mm_and_si128(_mm_slli_epi16::<2>(lead), _mm_set1_epi8(0x1C)))
    }

    /// Which of eight lanes are set: lane `i` is bit `i`.
    #[inline(always)]
    pub(crate) unsafe fn lanes_of_eight(set: __m128i) -> usize {
        _mm_movemask_epi8(_mm_packs_epi16(set, _mm_setzero_si128())) as usize
    }

    /// Which of eight lanes are set in each: lane `i` is bit `2 * i` for the first and bit `2 * i + 1` for the second.
    #[inline(always)]
    pub(crate) unsafe fn lanes_of_both(first: __m128i, second: __m128i) -> usize {
        (_mm_movemask_epi8(first) & 0x5555 | _mm_movemask_epi8(second) & 0xAAAA) as usize
    }
}

#[cfg(target_arch = "aarch64")]
#[allow(non_camel_case_types, reason = "Intel's names")]
#[allow(
    unsafe_op_in_unsafe_fn,
    reason = "NEON is part of every AArch64 processor; the callers' contracts state the memory"
)]
mod in_neon {
    use core::arch::aarch64::*;

    pub(crate) type __m128i = uint8x16_t;
    type __m128 = uint8x16_t;

    /// A register as lanes of this type.
    macro_rules! lanes {
        (u8 $register:expr) => {
            $register
        };
        (s8 $register:expr) => {
            vreinterpretq_s8_u8($register)
        };
        (u16 $register:expr) => {
            vreinterpretq_u16_u8($register)
        };
        (s16 $register:expr) => {
            vreinterpretq_s16_u8($register)
        };
        (u32 $register:expr) => {
            vreinterpretq_u32_u8($register)
        };
        (s32 $register:expr) => {
            vreinterpretq_s32_u8($register)
        };
    }

    /// Lanes of this type as a register.
    macro_rules! bytes {
        (u8 $lanes:expr) => {
            $lanes
        };
        (s8 $lanes:expr) => {
            vreinterpretq_u8_s8($lanes)
        };
        (u16 $lanes:expr) => {
            vreinterpretq_u8_u16($lanes)
        };
        (s16 $lanes:expr) => {
            vreinterpretq_u8_s16($lanes)
        };
        (u32 $lanes:expr) => {
            vreinterpretq_u8_u32($lanes)
        };
        (s32 $lanes:expr) => {
            vreinterpretq_u8_s32($lanes)
        };
    }

    /// Operations on lanes of one type, with results of another: `name(arguments) = operation: from => to;`, and with a constant
    /// number of bits `name<BITS>(argument) = ...`.
    macro_rules! operations {
    ($($name:ident($($argument:ident),+) = $operation:ident: $from:tt => $to:tt;)*) => { $(
        #[inline(always)]
        pub(crate) unsafe fn $name($($argument: __m128i),+) -> __m128i {
            bytes!($to $operation($(lanes!($from $argument)),+))
        }
    )* };
    (shift $($name:ident = $operation:ident: $kind:tt;)*) => { $(
        #[inline(always)]
        pub(crate) unsafe fn $name<const BITS: i32>(lanes: __m128i) -> __m128i {
            bytes!($kind $operation::<BITS>(lanes!($kind lanes)))
        }
    )* };
}

    operations! {
        _mm_and_si128(a, b) = vandq_u8: u8 => u8;
        _mm_or_si128(a, b) = vorrq_u8: u8 => u8;
        _mm_xor_si128(a, b) = veorq_u8: u8 => u8;
        _mm_max_epu8(a, b) = vmaxq_u8: u8 => u8;
        _mm_max_epu16(a, b) = vmaxq_u16: u16 => u16;
        _mm_max_epu32(a, b) = vmaxq_u32: u32 => u32;
        _mm_subs_epu8(a, b) = vqsubq_u8: u8 => u8;
        _mm_add_epi16(a, b) = vaddq_u16: u16 => u16;
        _mm_add_epi32(a, b) = vaddq_u32: u32 => u32;
        _mm_cmpeq_epi8(a, b) = vceqq_u8: u8 => u8;
        _mm_cmpeq_epi16(a, b) = vceqq_u16: u16 => u16;
        _mm_cmpeq_epi32(a, b) = vceqq_u32: u32 => u32;
        _mm_cmpgt_epi8(a, b) = vcgtq_s8: s8 => u8;
        _mm_cmpgt_epi16(a, b) = vcgtq_s16: s16 => u16;
        _mm_cmpgt_epi32(a, b) = vcgtq_s32: s32 => u32;
        _mm_unpacklo_epi8(a, b) = vzip1q_u8: u8 => u8;
        _mm_unpackhi_epi8(a, b) = vzip2q_u8: u8 => u8;
        _mm_unpacklo_epi16(a, b) = vzip1q_u16: u16 => u16;
        _mm_unpackhi_epi16(a, b) = vzip2q_u16: u16 => u16;
        _mm_shuffle_epi8(bytes, places) = vqtbl1q_u8: u8 => u8;
    }

    operations! { shift
        _mm_slli_epi16 = vshlq_n_u16: u16;
        _mm_srli_epi16 = vshrq_n_u16: u16;
        _mm_slli_epi32 = vshlq_n_u32: u32;
        _mm_srli_epi32 = vshrq_n_u32: u32;
    }

    /// The register, hidden from the optimiser. LLVM would turn a multiply-add into a shift and an addition, and a sum of
    /// pairs whose bits are never set together into two shuffles and an `or`.
    #[inline(always)]
    unsafe fn hidden(mut register: __m128i) -> __m128i {
        #[cfg(not(miri))]
        core::arch::asm!("/* {0:v} */", inout(vreg) register, options(pure, nomem, nostack, preserves_flags));
        register
    }

    /// For each place the bits of a byte, those of the byte before moved by six, and those of the byte before that moved by
    /// twelve, in units of sixteen bits.
    #[inline(always)]
    pub(crate) unsafe fn joined(own: __m128i, second: __m128i, third: __m128i) -> [__m128i; 2] {
        let (third, moved) = (vshlq_n_u8::<4>(third), hidden(vdupq_n_u8(1 << 6)));
        let low = vreinterpretq_u16_u8(vzip1q_u8(own, third));
        let high = vreinterpretq_u16_u8(vzip2q_u8(own, third));
        [
            bytes!(u16 vmlal_u8(low, vget_low_u8(second), vget_low_u8(moved))),
            bytes!(u16 vmlal_high_u8(high, second, moved)),
        ]
    }

    /// Whether every byte is below 80.
    #[inline(always)]
    pub(crate) unsafe fn are_ascii(bytes: __m128i) -> bool {
        vmaxvq_u8(bytes) < 0x80
    }

    /// The bits from the seventeenth on of a scalar value: bits four and five of its second byte, and the lowest three of its lead.
    #[inline(always)]
    pub(crate) unsafe fn upper_bits(second: __m128i, lead: __m128i) -> __m128i {
        vandq_u8(vsliq_n_u8::<2>(vshrq_n_u8::<4>(second), lead), vdupq_n_u8(0x1F))
    }

    /// Which of eight lanes are set: lane `i` is bit `i`.
    #[inline(always)]
    pub(crate) unsafe fn lanes_of_eight(set: __m128i) -> usize {
        let bits = vld1q_u16([1, 2, 4, 8, 16, 32, 64, 128].as_ptr());
        usize::from(vaddvq_u16(vandq_u16(lanes!(u16 set), bits)))
    }

    /// For each byte that is set, a single bit: bit `i` in byte `i` and in byte `8 + i`. Sums of pairs of these are masks.
    #[inline(always)]
    pub(crate) unsafe fn bits_to_add(set: __m128i) -> __m128i {
        hidden(vandq_u8(set, vld1q_u8([1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128].as_ptr())))
    }

    /// Which of the eight bytes of each half are set: byte `i` is bit `i`.
    #[inline(always)]
    pub(crate) unsafe fn bytes_of_halves(set: __m128i) -> [u8; 2] {
        let bits = bits_to_add(set);
        [vaddv_u8(vget_low_u8(bits)), vaddv_u8(vget_high_u8(bits))]
    }

    /// Which of eight lanes are set in each: lane `i` is bit `2 * i` for the first and bit `2 * i + 1` for the second.
    #[inline(always)]
    pub(crate) unsafe fn lanes_of_both(first: __m128i, second: __m128i) -> usize {
        let bits = vld1q_u16([1, 1 << 2, 1 << 4, 1 << 6, 1 << 8, 1 << 10, 1 << 12, 1 << 14].as_ptr());
        let first = vandq_u16(lanes!(u16 first), bits);
        let second = vandq_u16(lanes!(u16 second), vaddq_u16(bits, bits));
        usize::from(vaddvq_u16(vorrq_u16(first, second)))
    }

    #[inline(always)]
    pub(crate) unsafe fn _mm_andnot_si128(not: __m128i, of: __m128i) -> __m128i {
        vbicq_u8(of, not)
    }

    #[inline(always)]
    pub(crate) unsafe fn _mm_blendv_epi8(without: __m128i, with: __m128i, mask: __m128i) -> __m128i {
        vbslq_u8(mask, with, without)
    }

    #[inline(always)]
    pub(crate) unsafe fn _mm_setzero_si128() -> __m128i {
        vdupq_n_u8(0)
    }

    #[inline(always)]
    pub(crate) unsafe fn _mm_set1_epi8(byte: i8) -> __m128i {
        vdupq_n_u8(byte as u8)
    }

    #[inline(always)]
    pub(crate) unsafe fn _mm_set1_epi16(unit: i16) -> __m128i {
        bytes!(u16 vdupq_n_u16(unit as u16))
    }

    #[inline(always)]
    pub(crate) unsafe fn _mm_set1_epi32(unit: i32) -> __m128i {
        bytes!(u32 vdupq_n_u32(unit as u32))
    }

    /// The sixteen bytes, each an argument as in Intel's function.
    macro_rules! set_in_order {
    ($($byte:ident)*) => {
        #[inline(always)]
        #[allow(clippy::too_many_arguments, reason = "as Intel's")]
        pub(crate) unsafe fn _mm_setr_epi8($($byte: i8),*) -> __m128i {
            vreinterpretq_u8_s8(vld1q_s8([$($byte),*].as_ptr()))
        }
    };
}

    set_in_order!(b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 b10 b11 b12 b13 b14 b15);

    /// # Safety
    /// 16 bytes can be read.
    #[inline(always)]
    pub(crate) unsafe fn _mm_loadu_si128(from: *const __m128i) -> __m128i {
        vld1q_u8(from.cast())
    }

    /// # Safety
    /// 16 bytes can be read; Intel's function needs them aligned.
    #[inline(always)]
    pub(crate) unsafe fn _mm_load_si128(from: *const __m128i) -> __m128i {
        vld1q_u8(from.cast())
    }

    /// # Safety
    /// 16 bytes can be written.
    #[inline(always)]
    pub(crate) unsafe fn _mm_storeu_si128(to: *mut __m128i, register: __m128i) {
        vst1q_u8(to.cast(), register);
    }

    /// The bytes moved towards the end by up to three places.
    #[inline(always)]
    pub(crate) unsafe fn _mm_slli_si128<const PLACES: i32>(bytes: __m128i) -> __m128i {
        let zero = vdupq_n_u8(0);
        match PLACES {
            1 => vextq_u8::<15>(zero, bytes),
            2 => vextq_u8::<14>(zero, bytes),
            _ => vextq_u8::<13>(zero, bytes),
        }
    }

    #[inline(always)]
    pub(crate) unsafe fn _mm_packus_epi16(a: __m128i, b: __m128i) -> __m128i {
        vqmovun_high_s16(vqmovun_s16(lanes!(s16 a)), lanes!(s16 b))
    }

    #[inline(always)]
    pub(crate) unsafe fn _mm_packus_epi32(a: __m128i, b: __m128i) -> __m128i {
        bytes!(u16 vqmovun_high_s32(vqmovun_s32(lanes!(s32 a)), lanes!(s32 b)))
    }

    #[inline(always)]
    pub(crate) unsafe fn _mm_packs_epi32(a: __m128i, b: __m128i) -> __m128i {
        bytes!(s16 vqmovn_high_s32(vqmovn_s32(lanes!(s32 a)), lanes!(s32 b)))
    }

    /// Whether the two have no bit in common.
    #[inline(always)]
    pub(crate) unsafe fn _mm_testz_si128(a: __m128i, b: __m128i) -> i32 {
        i32::from(vmaxvq_u32(lanes!(u32 vandq_u8(a, b))) == 0)
    }

    #[inline(always)]
    pub(crate) unsafe fn _mm_movemask_epi8(bytes: __m128i) -> i32 {
        u16::from_le_bytes(bytes_of_halves(bytes!(s8 vshrq_n_s8::<7>(lanes!(s8 bytes))))).into()
    }

    #[inline(always)]
    pub(crate) unsafe fn _mm_castsi128_ps(lanes: __m128i) -> __m128 {
        lanes
    }

    /// The highest bit of each lane of four bytes.
    #[inline(always)]
    pub(crate) unsafe fn _mm_movemask_ps(lanes: __m128) -> i32 {
        let bits =
            vandq_u32(lanes!(u32 bytes!(s32 vshrq_n_s32::<31>(lanes!(s32 lanes)))), vld1q_u32([1, 2, 4, 8].as_ptr()));
        vaddvq_u32(bits) as i32
    }
}
