//! Where code units are written: memory of a given length, at the end of a vector or in another place.

use core::mem::MaybeUninit;

/// How many units of room a kernel needs beyond one for each byte: it writes whole windows, the last of them padded.
pub(crate) const MARGIN: usize = 192;

/// Room for units, which are written from its start on. It does not grow.
pub(crate) struct Room<'a, U> {
    units: &'a mut [MaybeUninit<U>],
    /// How many are written.
    len: usize,
}

impl<'a, U> Room<'a, U> {
    pub(crate) fn new(units: &'a mut [MaybeUninit<U>]) -> Self {
        Self { units, len: 0 }
    }

    /// Appends to a vector what `write` writes into room for at least `most` units.
    pub(super) fn append(out: &mut Vec<U>, most: usize, write: impl FnOnce(&mut Room<'_, U>)) {
        out.reserve(most);
        let mut room = Room::new(out.spare_capacity_mut());
        write(&mut room);
        let len = room.len();
        // SAFETY: the room is the spare capacity of the vector, and its first `len` units are written, as `end_at` requires.
        unsafe { out.set_len(out.len() + len) };
    }

    /// How many units are written.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where the next unit is written, with room for `most` units.
    ///
    /// # Panics
    /// If there is less room.
    #[inline]
    pub(super) fn next(&mut self, most: usize) -> *mut U {
        self.units[self.len..][..most].as_mut_ptr().cast()
    }

    /// Sets what is written: the units before `end`, without the last `left_out` of them.
    ///
    /// # Safety
    /// `end` is in this room or at its end, at least `left_out` units from its start. The units that count are written.
    #[inline]
    pub(super) unsafe fn end_at(&mut self, end: *const U, left_out: usize) {
        // SAFETY: `end` is in this room or at its end, so it is not before the start.
        self.len = unsafe { end.offset_from_unsigned(self.units.as_ptr().cast()) } - left_out;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;

    /// Inputs of many lengths: each kind of sequence, all of them, errors, and sequences that are cut off.
    fn inputs() -> impl Iterator<Item = Vec<u8>> {
        const MIXED: &str = "é世😀a世é😀😀aé";
        const SEQUENCES: [&[u8]; 8] = [
            b"a",
            "é".as_bytes(),
            "世".as_bytes(),
            "😀".as_bytes(),
            MIXED.as_bytes(),
            b"\xFF",
            b"\xE4\xB8",
            b"a\x80\xC3",
        ];
        let inputs = |sequence: &'static [u8]| {
            let bytes = sequence.repeat(800 / sequence.len());
            (0..bytes.len()).map(move |len| bytes[..len].to_vec())
        };
        SEQUENCES.into_iter().flat_map(inputs)
    }

    /// The units that `write` writes where there is as much room as needed, and no more.
    fn with_margin<U: Copy>(bytes: &[u8], write: impl Fn(&mut Room<'_, U>)) -> Vec<U> {
        let mut units = vec![MaybeUninit::uninit(); bytes.len() + MARGIN];
        let mut room = Room::new(&mut units);
        write(&mut room);
        let len = room.len();
        // SAFETY: the first `len` are written.
        units[..len].iter().map(|unit| unsafe { unit.assume_init() }).collect()
    }

    #[test]
    fn the_margin_is_enough_for_every_kernel() {
        for kernel in Kernel::available() {
            for bytes in inputs() {
                let text = String::from_utf8_lossy(&bytes);
                let utf16 = with_margin(&bytes, |room| kernel.utf16_lossy(&bytes, room));
                assert!(text.encode_utf16().eq(utf16), "{kernel}: {bytes:02X?}");
                let utf32 = with_margin(&bytes, |room| kernel.utf32_lossy(&bytes, room));
                assert!(text.chars().map(u32::from).eq(utf32), "{kernel}: {bytes:02X?}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn a_kernel_panics_before_it_writes_past_the_room() {
        let mut units = [MaybeUninit::<u16>::uninit(); 99];
        Kernel::best().utf16_lossy(&[b'a'; 100], &mut Room::new(&mut units));
    }
}
