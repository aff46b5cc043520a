//! UTF-16, UTF-32 and Latin-1 to UTF-8, and UTF-32 to UTF-16, with replacement, for SSE4.1, AVX2 and NEON.
//!
//! # Idea
//!
//! Every character gets a lane of four bytes, or of two if no sequence is longer, and its sequence is computed there
//! for whatever length it has, at the end of the lane (of a lane of two bytes, at its start). A shuffle, looked up by the lengths, moves the sequences together:
//!
//! ```text
//! scalar values  00E9      4E16      0061      1F600
//! lanes          . . C3 A9 . E4 B8 96 . . . 61 F0 9F 98 80
//! shuffled       C3 A9 E4 B8 96 61 F0 9F 98 80
//! ```
//!
//! # Cost
//!
//! Four characters take some twenty instructions, whatever their lengths; so do eight of at most two bytes. Blocks of
//! ASCII are only narrowed. From UTF-16, each half of a surrogate pair makes two bytes. From UTF-32 to UTF-16, two or four bytes
//! of a lane are used.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "register intrinsics need the instructions only, as the contract of each function states"
)]

use crate::kernel::portable;
use crate::kernel::vector::*;
use crate::scalar;

/// Code units for which room is made at a time.
const STRETCH: usize = 0x1000;

/// Units in a block. What follows a block may be overwritten by as many bytes as a register has.
const BLOCK: usize = 8;
const REGISTER: usize = 16;

/// Which bytes of a register are kept, in order, and how many those are. No register of the places lies in two cache lines.
#[repr(C, align(16))]
pub(super) struct Packing {
    pub(super) places: [[u8; REGISTER]; 256],
    pub(super) lengths: [u8; 256],
}

impl Packing {
    /// For lanes of `LANE` bytes. The length of the sequence in a lane, less one, has two bits: the higher is bit `lane` of the
    /// index, the lower bit `4 + lane`. If lengths are `counted`, it is how many of the bits `2 * lane` and `2 * lane + 1` are set.
    /// With lanes of two bytes it has one bit, bit `lane`, for each of eight lanes. A sequence is at the end of its lane, or at its start if lanes
    /// have two bytes.
    const fn of<const LANE: usize>(counted: bool) -> Self {
        let mut packing = Self { places: [[0x80; REGISTER]; 256], lengths: [0; 256] };
        let mut index = 0;
        while index < 256 {
            let (mut lane, mut to) = (0, 0);
            while lane < REGISTER / LANE {
                let len = match LANE {
                    2 => 1 + (index >> lane & 1),
                    _ if counted => 1 + (index >> (2 * lane) & 1) + (index >> (2 * lane + 1) & 1),
                    _ => 1 + 2 * (index >> lane & 1) + (index >> (4 + lane) & 1),
                };
                let mut at = if LANE == 2 { 0 } else { LANE - len };
                let end = at + len;
                while at < end {
                    packing.places[index][to] = (lane * LANE + at) as u8;
                    (at, to) = (at + 1, to + 1);
                }
                lane += 1;
            }
            packing.lengths[index] = to as u8;
            index += 1;
        }
        packing
    }
}

static OF_FOUR: Packing = Packing::of::<4>(false);
pub(super) static OF_UP_TO_THREE: Packing = Packing::of::<4>(true);
pub(super) static OF_EIGHT: Packing = Packing::of::<2>(false);

/// Writes the sequences of a register that the packing keeps at this index, of which the lowest eight bits count, and returns
/// their end.
///
/// # Safety
/// The processor has SSE4.1 or NEON. `to..to + REGISTER` can be written.
#[inline(always)]
pub(super) unsafe fn pack(lanes: __m128i, packing: &Packing, index: usize, to: *mut u8) -> *mut u8 {
    // SAFETY: reads an entry of the table; writes a register at `to`, and at most that many bytes are kept.
    unsafe {
        let places = _mm_loadu_si128(packing.places[index & 0xFF].as_ptr().cast());
        _mm_storeu_si128(to.cast(), _mm_shuffle_epi8(lanes, places));
        to.add(usize::from(packing.lengths[index & 0xFF]))
    }
}

/// Writes four scalar values.
///
/// # Safety
/// As of [`pack`].
#[inline(always)]
unsafe fn write_four(scalars: __m128i, to: *mut u8) -> *mut u8 {
    let set = |bits: u32| _mm_set1_epi32(bits as i32);
    let above = |last: i32| _mm_cmpgt_epi32(scalars, _mm_set1_epi32(last));
    let (two, three, four) = (above(0x7F), above(0x7FF), above(0xFFFF));
    let low = _mm_or_si128(
        _mm_slli_epi32::<24>(_mm_and_si128(scalars, set(0x3F))),
        _mm_slli_epi32::<10>(_mm_and_si128(scalars, set(0xFC0))),
    );
    let high = _mm_or_si128(_mm_srli_epi32::<4>(_mm_and_si128(scalars, set(0x3_F000))), _mm_srli_epi32::<18>(scalars));
    // The marks of leads and continuation bytes: 80C00000 for two bytes, and what is different for three and four.
    let marks = _mm_xor_si128(set(0x80C0_0000), _mm_and_si128(three, set(0x0040_E000)));
    let marks = _mm_xor_si128(marks, _mm_and_si128(four, set(0x0000_60F0)));
    let sequences = _mm_or_si128(_mm_or_si128(low, high), marks);
    let lanes = _mm_blendv_epi8(_mm_slli_epi32::<24>(scalars), sequences, two);
    let bits = |lanes| _mm_movemask_ps(_mm_castsi128_ps(lanes)) as usize;
    let odd = _mm_xor_si128(_mm_xor_si128(two, three), four);
    // SAFETY: the same contract; both masks have four bits.
    unsafe { pack(lanes, &OF_FOUR, bits(three) | bits(odd) << 4, to) }
}

/// Writes eight scalar values below 800.
///
/// # Safety
/// As of [`pack`].
#[inline(always)]
unsafe fn write_eight(scalars: __m128i, to: *mut u8) -> *mut u8 {
    let two = _mm_cmpgt_epi16(scalars, _mm_set1_epi16(0x7F));
    let tails = _mm_slli_epi16::<8>(_mm_and_si128(scalars, _mm_set1_epi16(0x3F)));
    let sequences = _mm_or_si128(_mm_or_si128(_mm_srli_epi16::<6>(scalars), tails), _mm_set1_epi16(0x80C0_u16 as i16));
    let lanes = _mm_blendv_epi8(scalars, sequences, two);
    // SAFETY: the same contract.
    unsafe { pack(lanes, &OF_EIGHT, lanes_of_eight(two), to) }
}

/// The places of sequences of three bytes, in lanes of four.
#[inline(always)]
pub(super) unsafe fn all_of_three() -> __m128i {
    _mm_setr_epi8(1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, -1, -1, -1, -1)
}

/// Writes eight scalar values below 10000.
///
/// # Safety
/// As of [`pack`]; two registers can be written.
#[inline(always)]
unsafe fn write_eight_of_three(scalars: __m128i, to: *mut u8) -> *mut u8 {
    let none = _mm_setzero_si128();
    // SAFETY: the same contract.
    unsafe { write_eight_units(scalars, none, none, to) }
}

/// Writes eight units of UTF-16. Those in `halves` are halves of pairs, and the two bytes that each makes are in `of_halves`; there
/// are no other surrogates.
///
/// # Safety
/// As of [`write_eight_of_three`].
#[inline(always)]
unsafe fn write_eight_units(units: __m128i, halves: __m128i, of_halves: __m128i, to: *mut u8) -> *mut u8 {
    let set = |bits: u16| _mm_set1_epi16(bits as i16);
    let at_least = |first: u16| _mm_cmpeq_epi16(_mm_max_epu16(units, set(first)), units);
    let (two, three) = (at_least(0x80), _mm_andnot_si128(halves, at_least(0x800)));
    // The last two bytes of a lane, and the first two, of which one is not used.
    let raised = _mm_slli_epi16::<8>(units);
    let tails =
        _mm_or_si128(_mm_and_si128(raised, set(0x3F00)), _mm_and_si128(_mm_srli_epi16::<6>(units), set(0x003F)));
    let leads = _mm_or_si128(_mm_srli_epi16::<4>(units), set(0xE000));
    let lengths = lanes_of_both(two, three);
    if lengths == 0xFFFF {
        let tails = _mm_or_si128(tails, set(0x8080));
        let order = all_of_three();
        // SAFETY: the same contract.
        unsafe {
            _mm_storeu_si128(to.cast(), _mm_shuffle_epi8(_mm_unpacklo_epi16(leads, tails), order));
            _mm_storeu_si128(to.add(12).cast(), _mm_shuffle_epi8(_mm_unpackhi_epi16(leads, tails), order));
            return to.add(24);
        }
    }
    let marks = _mm_or_si128(set(0x8080), _mm_andnot_si128(three, set(0x0040)));
    let tails = _mm_blendv_epi8(raised, _mm_or_si128(tails, marks), two);
    let tails = _mm_blendv_epi8(tails, of_halves, halves);
    // SAFETY: the same contract; both indices have eight bits.
    unsafe {
        let to = pack(_mm_unpacklo_epi16(leads, tails), &OF_UP_TO_THREE, lengths & 0xFF, to);
        pack(_mm_unpackhi_epi16(leads, tails), &OF_UP_TO_THREE, lengths >> 8, to)
    }
}

/// Writes eight units of UTF-16, the `first` of the input or later ones. Each half of a pair makes two bytes, with two bits that the
/// low surrogate takes from the high one:
///
/// ```text
/// units   110110wwwwzzzzyy    110111yyyyxxxxxx
/// bytes   11110uuu 10uuzzzz   10yyyyyy 10xxxxxx     uuuuu = wwww + 1
/// ```
///
/// # Safety
/// As of [`write_eight_of_three`]. Nine units can be read, and the one before them unless they are the first.
#[inline(always)]
unsafe fn write_eight_with_pairs(from: *const u16, first: bool, to: *mut u8) -> *mut u8 {
    // SAFETY: the loads read eight units, and those one place before and after.
    let (units, before, next) = unsafe {
        let load = |from: *const u16| _mm_loadu_si128(from.cast());
        let units = load(from);
        let before = if first { _mm_slli_si128::<2>(units) } else { load(from.sub(1)) };
        (units, before, load(from.add(1)))
    };
    let set = |bits: u16| _mm_set1_epi16(bits as i16);
    let are = |units: __m128i, surrogate: u16| _mm_cmpeq_epi16(_mm_and_si128(units, set(0xFC00)), set(surrogate));
    let (high, low) = (are(units, 0xD800), are(units, 0xDC00));
    let (first_half, second_half) = (_mm_and_si128(high, are(next, 0xDC00)), _mm_and_si128(low, are(before, 0xD800)));
    let halves = _mm_or_si128(first_half, second_half);
    // uuuuuzzzzyy
    let number = _mm_add_epi16(units, set(0x40_u16.wrapping_sub(0xD800)));
    let of_first = _mm_or_si128(_mm_srli_epi16::<8>(number), _mm_and_si128(_mm_slli_epi16::<6>(number), set(0x3F00)));
    let third = _mm_or_si128(
        _mm_and_si128(_mm_slli_epi16::<4>(before), set(0x0030)),
        _mm_and_si128(_mm_srli_epi16::<6>(units), set(0x000F)),
    );
    let of_second = _mm_or_si128(third, _mm_and_si128(_mm_slli_epi16::<8>(units), set(0x3F00)));
    let of_halves =
        _mm_blendv_epi8(_mm_or_si128(of_second, set(0x8080)), _mm_or_si128(of_first, set(0x80F0)), first_half);
    let lone = _mm_andnot_si128(halves, _mm_or_si128(high, low));
    // SAFETY: the same contract.
    unsafe { write_eight_units(_mm_blendv_epi8(units, set(0xFFFD), lone), halves, of_halves, to) }
}

/// Registers that write several blocks of scalar values at once.
///
/// # Safety
/// An implementation writes only where its contract says that memory can be written, and returns the end of the sequences, all of
/// which it has written; if `narrow_ascii` returns true, it has written all bytes. `have_none` and `have_no_surrogate` have the
/// results described: otherwise the output may be ill-formed.
pub(super) unsafe trait SequenceWriter {
    /// Whether no unit of two registers has any of these bits.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`, and SSE4.1 or NEON.
    #[inline(always)]
    unsafe fn have_none(first: __m128i, second: __m128i, bits: u16) -> bool {
        has_none(_mm_or_si128(first, second), bits)
    }

    /// Whether no unit of two registers is a surrogate.
    ///
    /// # Safety
    /// As for [`Self::have_none`].
    #[inline(always)]
    unsafe fn have_no_surrogate(first: __m128i, second: __m128i) -> bool {
        is_none_set(_mm_or_si128(are_surrogates(first), are_surrogates(second)))
    }

    /// Writes four blocks of UTF-16 if they are ASCII.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`, and SSE4.1 or NEON. The blocks can be read, and as many bytes written.
    #[inline(always)]
    unsafe fn narrow_ascii(from: *const u16, to: *mut u8) -> bool {
        // SAFETY: each register is one of the blocks.
        unsafe {
            let [a, b, c, d] = [0, 1, 2, 3].map(|block| _mm_loadu_si128(from.add(BLOCK * block).cast()));
            let are_ascii = has_none(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d)), 0xFF80);
            if are_ascii {
                _mm_storeu_si128(to.cast(), _mm_packus_epi16(a, b));
                _mm_storeu_si128(to.add(2 * BLOCK).cast(), _mm_packus_epi16(c, d));
            }
            are_ascii
        }
    }

    /// Writes the sixteen scalar values of two registers, all below 800.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`, and SSE4.1 or NEON. Two registers can be written at `to`.
    #[inline(always)]
    unsafe fn write_sixteen_of_two(first: __m128i, second: __m128i, to: *mut u8) -> *mut u8 {
        // SAFETY: each block makes at most a register.
        unsafe { write_eight(second, write_eight(first, to)) }
    }

    /// Writes sixteen bytes of Latin-1.
    ///
    /// # Safety
    /// As for [`Self::write_sixteen_of_two`].
    unsafe fn write_sixteen_bytes(bytes: __m128i, to: *mut u8) -> *mut u8;

    /// Writes the sixteen scalar values of two registers, all below 10000.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`, and SSE4.1 or NEON. 64 bytes can be written at `to`.
    #[inline(always)]
    unsafe fn write_sixteen_of_three(first: __m128i, second: __m128i, to: *mut u8) -> *mut u8 {
        // SAFETY: the first block makes at most 24 bytes, and at most two registers are written for each.
        unsafe { write_eight_of_three(second, write_eight_of_three(first, to)) }
    }
}

/// Whether no unit of 16 bits has any of these bits.
#[inline(always)]
unsafe fn has_none(units: __m128i, bits: u16) -> bool {
    _mm_testz_si128(units, _mm_set1_epi16(bits as i16)) == 1
}

/// Whether no bit is set.
#[inline(always)]
unsafe fn is_none_set(lanes: __m128i) -> bool {
    _mm_testz_si128(lanes, lanes) == 1
}

/// The units of 16 bits that are surrogates: all bits or none.
#[inline(always)]
unsafe fn are_surrogates(units: __m128i) -> __m128i {
    let highest = _mm_and_si128(units, _mm_set1_epi16(0xF800_u16 as i16));
    _mm_cmpeq_epi16(highest, _mm_set1_epi16(0xD800_u16 as i16))
}

/// Appends UTF-16 as UTF-8, with U+FFFD for every lone surrogate.
///
/// # Safety
/// The processor has the instructions of `V`, and SSE4.1 or NEON.
#[inline(always)]
pub(super) unsafe fn from_utf16<V: SequenceWriter>(units: &[u16], out: &mut Vec<u8>) {
    let mut at = 0;
    while units.len() - at >= 2 * BLOCK {
        let end = units.len().min(at + STRETCH);
        out.reserve(3 * (end - at) + 2 * REGISTER);
        // SAFETY: each step reads up to `at + 2 * BLOCK` or `at + 4 * BLOCK`, which are at most `end`, and the unit before unless
        // `at` is 0. A unit makes at most three bytes, and a step writes at most a register more than that for its units, or two
        // registers.
        unsafe {
            let mut to = out.as_mut_ptr().add(out.len());
            while at + 2 * BLOCK <= end {
                let from = units.as_ptr().add(at);
                let (block, next) = (_mm_loadu_si128(from.cast()), _mm_loadu_si128(from.add(BLOCK).cast()));
                if !V::have_none(block, next, 0xF800) {
                    if V::have_no_surrogate(block, next) {
                        to = V::write_sixteen_of_three(block, next, to);
                        at += 2 * BLOCK;
                    } else {
                        to = write_eight_with_pairs(from, at == 0, to);
                        at += BLOCK;
                    }
                } else if V::have_none(block, next, 0xFF80) {
                    _mm_storeu_si128(to.cast(), _mm_packus_epi16(block, next));
                    (at, to) = (at + 2 * BLOCK, to.add(2 * BLOCK));
                    // More is likely.
                    while at + 4 * BLOCK <= end && V::narrow_ascii(units.as_ptr().add(at), to) {
                        (at, to) = (at + 4 * BLOCK, to.add(4 * BLOCK));
                    }
                } else {
                    to = V::write_sixteen_of_two(block, next, to);
                    at += 2 * BLOCK;
                }
            }
            out.set_len(to.offset_from_unsigned(out.as_ptr()));
        }
        if end == units.len() {
            break;
        }
    }
    // Of a pair that is cut off here, half is written; all of it is written with the rest.
    if let [.., 0xD800..=0xDBFF] = units[..at]
        && let [0xDC00..=0xDFFF, ..] = units[at..]
    {
        at -= 1;
        out.truncate(out.len() - 2);
    }
    portable::from_utf16(&units[at..], out);
}

/// Appends UTF-32 as UTF-8, with U+FFFD for every number that is not a scalar value.
///
/// # Safety
/// The processor has the instructions of `V`, and SSE4.1 or NEON.
#[inline(always)]
pub(super) unsafe fn from_utf32<V: SequenceWriter>(units: &[u32], out: &mut Vec<u8>) {
    let mut at = 0;
    while units.len() - at >= 2 * BLOCK {
        let end = units.len().min(at + STRETCH);
        out.reserve(4 * (end - at) + REGISTER);
        // SAFETY: every step reads two blocks that end at `end` at most; they make at most 64 bytes, and at most a register more
        // than that is written.
        unsafe {
            let mut to = out.as_mut_ptr().add(out.len());
            while end - at >= 2 * BLOCK {
                let fours = [0, 4, 8, 12].map(|place| _mm_loadu_si128(units.as_ptr().add(at + place).cast()));
                let [a, b, c, d] = fours;
                at += 2 * BLOCK;
                let all = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d));
                let are_up_to = |last: i32| _mm_testz_si128(all, _mm_set1_epi32(!last)) == 1;
                if are_up_to(0x7F) {
                    _mm_storeu_si128(to.cast(), _mm_packus_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
                    to = to.add(2 * BLOCK);
                    continue;
                }
                if are_up_to(0xFFFF) {
                    let (first, second) = (_mm_packus_epi32(a, b), _mm_packus_epi32(c, d));
                    if are_up_to(0x7FF) {
                        to = V::write_sixteen_of_two(first, second, to);
                        continue;
                    }
                    if V::have_no_surrogate(first, second) {
                        to = V::write_sixteen_of_three(first, second, to);
                        continue;
                    }
                }
                for four in fours {
                    to = write_four(replaced(four), to);
                }
            }
            out.set_len(to.offset_from_unsigned(out.as_ptr()));
        }
        if end == units.len() {
            break;
        }
    }
    portable::from_utf32(&units[at..], out);
}

/// Writes four scalar values as UTF-16.
///
/// # Safety
/// As of [`pack`].
#[inline(always)]
unsafe fn write_four_as_utf16(scalars: __m128i, to: *mut u8) -> *mut u8 {
    let set = |bits: u32| _mm_set1_epi32(bits as i32);
    let are_pairs = _mm_cmpgt_epi32(scalars, set(0xFFFF));
    let raised = _mm_slli_epi32::<16>(scalars);
    let high = _mm_add_epi32(_mm_srli_epi32::<10>(scalars), set(0xD7C0));
    let low = _mm_or_si128(_mm_and_si128(raised, set(0x03FF_0000)), set(0xDC00_0000));
    let lanes = _mm_blendv_epi8(raised, _mm_or_si128(high, low), are_pairs);
    let pairs = _mm_movemask_ps(_mm_castsi128_ps(are_pairs)) as usize;
    // SAFETY: the same contract; the mask has four bits. A length of two or four bytes, less one, is odd.
    unsafe { pack(lanes, &OF_FOUR, pairs | 0xF0, to) }
}

/// Appends UTF-32 as UTF-16, with U+FFFD for every number that is not a scalar value.
///
/// # Safety
/// The processor has SSE4.1 or NEON.
#[inline(always)]
pub(super) unsafe fn utf16_from_utf32(units: &[u32], out: &mut Vec<u16>) {
    let (steps, rest) = units.as_chunks::<{ 2 * BLOCK }>();
    // A number makes at least one unit.
    out.reserve(units.len());
    for stretch in steps.chunks(STRETCH / (2 * BLOCK)) {
        out.reserve(2 * stretch.as_flattened().len());
        // SAFETY: a step is four registers. Each makes at most eight units, and eight units are written from where the last ended.
        unsafe {
            let mut to = out.as_mut_ptr().add(out.len()).cast::<u8>();
            for step in stretch {
                let fours = [0, 4, 8, 12].map(|place| _mm_loadu_si128(step.as_ptr().add(place).cast()));
                let [a, b, c, d] = fours;
                let all = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d));
                if _mm_testz_si128(all, _mm_set1_epi32(!0xFFFF)) == 1 {
                    for (half, units) in [_mm_packus_epi32(a, b), _mm_packus_epi32(c, d)].into_iter().enumerate() {
                        let units = _mm_blendv_epi8(units, _mm_set1_epi16(0xFFFD_u16 as i16), are_surrogates(units));
                        _mm_storeu_si128(to.add(REGISTER * half).cast(), units);
                    }
                    to = to.add(2 * REGISTER);
                } else {
                    for four in fours {
                        to = write_four_as_utf16(replaced(four), to);
                    }
                }
            }
            out.set_len(to.cast::<u16>().offset_from_unsigned(out.as_ptr()));
        }
    }
    scalar::utf16_from_utf32(rest, out);
}

/// The numbers, with U+FFFD for those that are not scalar values.
#[inline(always)]
unsafe fn replaced(numbers: __m128i) -> __m128i {
    let set = |bits: u32| _mm_set1_epi32(bits as i32);
    let surrogate = _mm_cmpeq_epi32(_mm_and_si128(numbers, set(0xFFFF_F800)), set(0xD800));
    let too_large = _mm_cmpeq_epi32(_mm_max_epu32(numbers, set(0x11_0000)), numbers);
    _mm_blendv_epi8(numbers, set(0xFFFD), _mm_or_si128(surrogate, too_large))
}

/// Appends Latin-1 as UTF-8.
///
/// # Safety
/// The processor has the instructions of `V`, and SSE4.1 or NEON.
#[inline(always)]
pub(super) unsafe fn from_latin_1<V: SequenceWriter>(bytes: &[u8], out: &mut Vec<u8>) {
    let (steps, rest) = bytes.as_chunks::<{ 4 * REGISTER }>();
    for stretch in steps.chunks(STRETCH / (4 * REGISTER)) {
        out.reserve(2 * stretch.as_flattened().len() + REGISTER);
        // SAFETY: a step is four registers. Each makes at most two of output, and at most one more is written from where the last
        // ended.
        unsafe {
            let mut to = out.as_mut_ptr().add(out.len());
            for step in stretch {
                let blocks = [0, 1, 2, 3].map(|block| _mm_loadu_si128(step.as_ptr().add(REGISTER * block).cast()));
                let [a, b, c, d] = blocks;
                // One branch for all four: blocks of text are ASCII and not ASCII in turns, which cannot be predicted.
                if are_ascii(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d))) {
                    for (block, bytes) in blocks.into_iter().enumerate() {
                        _mm_storeu_si128(to.add(REGISTER * block).cast(), bytes);
                    }
                    to = to.add(4 * REGISTER);
                } else {
                    for block in blocks {
                        to = V::write_sixteen_bytes(block, to);
                    }
                }
            }
            out.set_len(to.offset_from_unsigned(out.as_ptr()));
        }
    }
    portable::from_latin_1(rest, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every combination of lengths has the shuffle that concatenates the ends, or the starts, of the lanes.
    #[test]
    fn a_packing_concatenates_the_sequences() {
        let packings = [Packing::of::<4>(false), Packing::of::<4>(true), Packing::of::<2>(false)];
        let lens = |index: usize| (0..4).map(move |lane| 1 + 2 * (index >> lane & 1) + (index >> (4 + lane) & 1));
        for index in 0..256 {
            let four: Vec<u8> =
                lens(index).zip(1..).flat_map(|(len, end)| (4 * end - len) as u8..4 * end as u8).collect();
            let eight: Vec<u8> =
                (0..8).flat_map(|lane| (2 * lane..2 * lane + 1 + (index >> lane & 1)).map(|at| at as u8)).collect();
            let counted = (0..4).map(|lane| 1 + (index >> (2 * lane) & 3).count_ones() as usize);
            let counted: Vec<u8> =
                counted.zip(1..).flat_map(|(len, end)| (4 * end - len) as u8..4 * end as u8).collect();
            for (packing, expected) in packings.iter().zip([four, counted, eight]) {
                assert_eq!(usize::from(packing.lengths[index]), expected.len());
                assert_eq!(packing.places[index][..expected.len()], expected);
            }
        }
    }
}
