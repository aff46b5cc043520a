//! Memory between two inaccessible pages, to catch a decoder that reads outside its slice.
//!
//! AddressSanitizer does this only for its own heap and in code it has instrumented. Here the page table does it: an
//! access to a guard page raises SIGSEGV; the handler notes it and makes the page accessible, so that the decoder runs
//! on and the judge can name it.
#![allow(unsafe_code, reason = "pages are protected and signals handled by the operating system")]

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::Once;

/// The number of accessible pages between the two guard pages.
const INNER_PAGES: usize = 8;
const PAGES: usize = INNER_PAGES + 2;

/// Memory with an inaccessible page at both ends.
pub struct GuardedBuffer {
    slot: &'static Slot,
    base: *mut u8,
    page: usize,
}

// SAFETY: the mapping belongs to this value alone; the slot it is listed in is atomic.
unsafe impl Send for GuardedBuffer {}

/// Where the handler looks up buffers: the address of the first page, or 0 if the slot is free. Each has a cache line
/// of its own, since the buffers of several threads are queried at every question.
#[repr(align(128))]
struct Slot {
    base: AtomicUsize,
    touched: AtomicBool,
}

static SLOTS: [Slot; 256] = [const { Slot { base: AtomicUsize::new(0), touched: AtomicBool::new(false) } }; 256];
static PAGE: AtomicUsize = AtomicUsize::new(0);

impl GuardedBuffer {
    /// A new buffer; `None` if the system refuses it, or if all 256 places are in use.
    pub fn new() -> Option<Self> {
        let page = install_handler()?;
        // SAFETY: a fresh anonymous mapping at an address of the system's choice.
        let base = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                PAGES * page,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = base.cast::<u8>();
        // SAFETY: pages 1 to INNER_PAGES of the mapping just made.
        let opened =
            unsafe { libc::mprotect(base.add(page).cast(), INNER_PAGES * page, libc::PROT_READ | libc::PROT_WRITE) };
        let claim =
            |slot: &&Slot| slot.base.compare_exchange(0, base as usize, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        match SLOTS.iter().filter(|_| opened == 0).find(claim) {
            Some(slot) => {
                slot.touched.store(false, Ordering::SeqCst);
                Some(Self { slot, base, page })
            }
            None => {
                // SAFETY: the mapping made above, which is not listed in any slot.
                unsafe { libc::munmap(base.cast(), PAGES * page) };
                None
            }
        }
    }

    /// The longest input it can hold, in bytes.
    pub fn room(&self) -> usize {
        INNER_PAGES * self.page
    }

    /// A copy of `bytes` at the start of accessible memory; `None` if it does not fit.
    pub fn at_start(&mut self, bytes: &[u8]) -> Option<&[u8]> {
        (bytes.len() <= self.room()).then(|| self.write(bytes, 0))
    }

    /// A copy of `bytes` at the end of accessible memory; `None` if it does not fit.
    pub fn at_end(&mut self, bytes: &[u8]) -> Option<&[u8]> {
        (bytes.len() <= self.room()).then(|| self.write(bytes, self.room() - bytes.len()))
    }

    fn write(&mut self, bytes: &[u8], offset: usize) -> &[u8] {
        // SAFETY: the accessible pages belong to this value alone; both callers have checked that `bytes` fits.
        unsafe {
            let start = self.base.add(self.page + offset);
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len());
            core::slice::from_raw_parts(start, bytes.len())
        }
    }

    /// Whether a guard page was accessed since the last call. Both are made inaccessible again.
    pub fn out_of_bounds_access(&mut self) -> bool {
        let touched = self.slot.touched.load(Ordering::SeqCst);
        if touched {
            self.slot.touched.store(false, Ordering::SeqCst);
            for page in [0, PAGES - 1] {
                // SAFETY: the first and the last page of the mapping.
                unsafe { libc::mprotect(self.base.add(page * self.page).cast(), self.page, libc::PROT_NONE) };
            }
        }
        touched
    }
}

impl Drop for GuardedBuffer {
    fn drop(&mut self) {
        self.slot.base.store(0, Ordering::SeqCst);
        // SAFETY: the mapping of this value, which no slice outlives.
        unsafe { libc::munmap(self.base.cast(), PAGES * self.page) };
    }
}

/// The previous handler of SIGSEGV.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(core::ptr::null_mut());

/// Installs the handler once; returns the size of a page.
fn install_handler() -> Option<usize> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: plain queries and the installation of a handler that is async-signal-safe. Both
        // structures are plain data for which zero is a value.
        unsafe {
            let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE));
            let mut before: libc::sigaction = core::mem::zeroed();
            let mut ours: libc::sigaction = core::mem::zeroed();
            ours.sa_sigaction = on_fault as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            if let Ok(page) = page
                && libc::sigaction(libc::SIGSEGV, &ours, &mut before) == 0
            {
                BEFORE.store(Box::into_raw(Box::new(before)), Ordering::SeqCst);
                PAGE.store(page, Ordering::SeqCst);
            }
        }
    });
    Some(PAGE.load(Ordering::SeqCst)).filter(|&page| page != 0)
}

/// Opens the guard page that was accessed; restores the previous handler for every other fault.
extern "C" fn on_fault(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system passes a valid `info`; `mprotect` is given pages of a listed buffer; `BEFORE` holds null or a
    // structure that is never freed. Nothing here allocates or locks.
    unsafe {
        let address = (*info).si_addr() as usize;
        let page = PAGE.load(Ordering::SeqCst);
        for slot in &SLOTS {
            let base = slot.base.load(Ordering::SeqCst);
            for outer in [base, base + (PAGES - 1) * page] {
                if base != 0 && (outer..outer + page).contains(&address) {
                    slot.touched.store(true, Ordering::SeqCst);
                    // Writable as well, so that a decoder that writes there continues too.
                    if libc::mprotect(outer as *mut libc::c_void, page, libc::PROT_READ | libc::PROT_WRITE) == 0 {
                        return;
                    }
                }
            }
        }
        // The faulting instruction runs again, under the previous handler.
        let before = BEFORE.load(Ordering::SeqCst);
        let default: libc::sigaction = core::mem::zeroed();
        libc::sigaction(libc::SIGSEGV, if before.is_null() { &default } else { before }, core::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_access_outside_is_detected() {
        let mut buffer = GuardedBuffer::new().unwrap();
        for bytes in [&b""[..], b"a", b"abc", &[0x80; 4096], &vec![0xFF; buffer.room()]] {
            assert_eq!(buffer.at_end(bytes), Some(bytes));
            assert_eq!(buffer.at_start(bytes), Some(bytes));
            assert!(!buffer.out_of_bounds_access());
            let end = buffer.at_end(bytes).unwrap().as_ptr_range().end;
            // SAFETY: the page after the buffer is mapped; the handler opens it.
            unsafe { end.read_volatile() };
            assert!(buffer.out_of_bounds_access());
            assert!(!buffer.out_of_bounds_access());
            let start = buffer.at_start(bytes).unwrap().as_ptr();
            // SAFETY: as above, for the page before.
            unsafe { start.sub(1).read_volatile() };
            assert!(buffer.out_of_bounds_access());
        }
        assert_eq!(buffer.at_end(&vec![0; buffer.room() + 1]), None);
    }

    #[test]
    fn many_buffers_are_created_and_freed() {
        for _ in 0..10 {
            let buffers: Vec<_> = (0..100).map(|_| GuardedBuffer::new()).collect();
            assert!(buffers.iter().all(Option::is_some));
        }
    }
}
