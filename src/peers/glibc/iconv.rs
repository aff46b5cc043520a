//! `iconv`: three descriptors, each whole and in chunks.

use crate::decoder::{Decoder, Info, Stream};
use crate::peers::glibc::{Ended, info, verdict};
use crate::peers::push_utf16;
use crate::spec::Contract;
use crate::spec::grammar::RFC2279_NO_SURROGATES;
use crate::spec::model::push_generalised;
use crate::utf8::Validity;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::{NonNull, null_mut};
use std::io;
use std::sync::{Mutex, PoisonError};

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    let wide = Contract { grammar: &RFC2279_NO_SURROGATES, ..Contract::VALIDATOR };
    let all = [
        Iconv::new("glibc-iconv-utf16", Contract::VALIDATOR, c"UTF-16LE", |bytes, out| {
            let units: Vec<u16> = bytes.as_chunks().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
            push_utf16(&units, out);
        }),
        Iconv::new("glibc-iconv-utf32", Contract::VALIDATOR, c"UTF-32LE", push_utf32),
        Iconv::new("glibc-iconv-ucs4", wide, c"UCS-4LE", push_utf32),
    ];
    // A converter may be a file that is not installed.
    let here = all.into_iter().filter(|iconv| iconv.take().is_some());
    here.map(|iconv| Box::new(iconv) as Box<dyn Decoder>).collect()
}

fn push_utf32(bytes: &[u8], out: &mut Vec<u8>) {
    bytes.as_chunks().0.iter().for_each(|unit| push_generalised(u32::from_le_bytes(*unit), out));
}

struct Iconv {
    info: Info,
    to: &'static CStr,
    /// Appends the output in generalised UTF-8.
    push: fn(&[u8], &mut Vec<u8>),
    /// Opening one takes longer than most inputs.
    idle: Mutex<Vec<Descriptor>>,
}

impl Iconv {
    fn new(name: &'static str, contract: Contract, to: &'static CStr, push: fn(&[u8], &mut Vec<u8>)) -> Self {
        Self { info: info(name, contract), to, push, idle: Mutex::default() }
    }

    /// A descriptor nobody uses.
    fn take(&self) -> Option<Descriptor> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.or_else(|| Descriptor::open(self.to))
    }

    /// Converts the whole, and says how it ended and where.
    fn whole(&self, bytes: &[u8], write: impl FnMut(&[u8])) -> Option<(Ended, usize)> {
        let mut descriptor = self.take()?;
        let ended = descriptor.convert(bytes, write);
        descriptor.reset();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(descriptor);
        Some(ended)
    }
}

impl Decoder for Iconv {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.whole(bytes, |_| ()).map(|(ended, at)| verdict(ended, at))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let (ended, _) = self.whole(bytes, |output| (self.push)(output, out))?;
        (ended == Ended::Whole).then_some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        let descriptor = self.take()?;
        Some(Box::new(Chunked { descriptor, pending: Vec::new(), read: 0, refused: false }))
    }
}

/// What a descriptor leaves unread at the end of a chunk is put before the next, as its callers do.
struct Chunked {
    descriptor: Descriptor,
    pending: Vec<u8>,
    read: usize,
    refused: bool,
}

impl Stream for Chunked {
    fn push(&mut self, chunk: &[u8], _out: &mut Vec<u8>) {
        if !self.refused {
            self.pending.extend_from_slice(chunk);
            let (ended, at) = self.descriptor.convert(&self.pending, |_| ());
            self.pending.drain(..at);
            self.read += at;
            self.refused = ended == Ended::IllFormed;
        }
    }

    fn finish(&mut self, _out: &mut Vec<u8>) -> Option<Validity> {
        let ended = match (self.refused, self.pending.is_empty()) {
            (true, _) => Ended::IllFormed,
            (false, true) => Ended::Whole,
            (false, false) => Ended::Incomplete,
        };
        let verdict = verdict(ended, self.read);
        self.descriptor.reset();
        self.pending.clear();
        (self.read, self.refused) = (0, false);
        Some(verdict)
    }
}

unsafe extern "C" {
    fn iconv_open(to: *const c_char, from: *const c_char) -> *mut c_void;
    fn iconv(
        descriptor: *mut c_void,
        input: *mut *mut c_char,
        input_left: *mut usize,
        output: *mut *mut c_char,
        output_left: *mut usize,
    ) -> usize;
    fn iconv_close(descriptor: *mut c_void) -> c_int;
}

/// An open descriptor from UTF-8.
struct Descriptor(NonNull<c_void>);

// SAFETY: a descriptor is bound to no thread, and who holds it by `&mut` is its only user.
unsafe impl Send for Descriptor {}

impl Descriptor {
    fn open(to: &CStr) -> Option<Self> {
        // SAFETY: both are strings that end in zero.
        let descriptor = unsafe { iconv_open(to.as_ptr(), c"UTF-8".as_ptr()) };
        (descriptor.addr() != usize::MAX).then(|| NonNull::new(descriptor).map(Self)).flatten()
    }

    /// Converts from the start of `bytes`, and says how that ended, and after how many bytes of whole characters.
    fn convert(&mut self, bytes: &[u8], mut write: impl FnMut(&[u8])) -> (Ended, usize) {
        let mut buffer = [0u8; 512];
        let (mut input, mut left) = (bytes.as_ptr().cast_mut().cast::<c_char>(), bytes.len());
        loop {
            let (mut output, mut room) = (buffer.as_mut_ptr().cast::<c_char>(), buffer.len());
            // SAFETY: the descriptor is open; input and output are slices with their lengths, and the input is only read.
            let result = unsafe { iconv(self.0.as_ptr(), &mut input, &mut left, &mut output, &mut room) };
            let error = io::Error::last_os_error().raw_os_error();
            write(&buffer[..buffer.len() - room]);
            let ended = match (result, error) {
                (usize::MAX, Some(libc::E2BIG)) => continue,
                (usize::MAX, Some(libc::EINVAL)) => Ended::Incomplete,
                (usize::MAX, _) => Ended::IllFormed,
                _ => Ended::Whole,
            };
            return (ended, bytes.len() - left);
        }
    }

    fn reset(&mut self) {
        // SAFETY: the descriptor is open; without input and output it goes back to its initial state.
        unsafe { iconv(self.0.as_ptr(), null_mut(), null_mut(), null_mut(), null_mut()) };
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody has it any more.
        unsafe { iconv_close(self.0.as_ptr()) };
    }
}
