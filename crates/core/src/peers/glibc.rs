//! The GNU C library this program is linked with: `iconv` from UTF-8 to UTF-16, UTF-32 and UCS-4, and `mbrtowc` in the
//! locale C.UTF-8. Feature `glibc`.
//!
//! The conversion to UCS-4 and `mbrtowc` accept code points above U+10FFFF: their grammar is RFC 2279 without
//! surrogates.
#![cfg(all(feature = "glibc", target_os = "linux", target_env = "gnu"))]
#![allow(unsafe_code, reason = "a C library")]

use crate::decoder::{Decoder, Info, Stream};
use crate::peers::adapter::{invalid, invalid_at, push_utf16};
use crate::spec::Contract;
use crate::spec::grammar::RFC2279_WITHOUT_SURROGATES;
use crate::utf8::Validity;
use crate::utf8::push_extended;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr::{NonNull, null_mut};
use std::io;
use std::sync::{Mutex, PoisonError};

/// The decoders for which the library and its conversion modules are installed.
pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    iconv_family().into_iter().chain(mbrtowc_family()).collect()
}

pub(super) fn info(name: &'static str, contract: Contract) -> Info {
    Info::new("glibc", "").name(name).version(version()).contract(contract)
}

/// The version of the loaded library, with `.0` added, since it has two numbers and Cargo versions have three.
fn version() -> String {
    // SAFETY: the function takes no arguments and returns a string that is never freed.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    format!("{}.0", version.to_string_lossy())
}

/// How reading ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Whole,
    Incomplete,
    IllFormed,
}

/// The verdict after `valid_up_to` bytes of complete characters. The functions do not report the length of an error.
fn verdict(ended: Ended, valid_up_to: usize) -> Validity {
    match ended {
        Ended::Whole => Validity::Valid,
        Ended::Incomplete => invalid(valid_up_to, None),
        Ended::IllFormed => invalid_at(valid_up_to),
    }
}

fn iconv_family() -> Vec<Box<dyn Decoder>> {
    let wide = Contract { grammar: &RFC2279_WITHOUT_SURROGATES, ..Contract::VALIDATOR };
    let all = [
        Iconv::new("glibc-iconv-utf16", Contract::VALIDATOR, c"UTF-16LE", |bytes, out| {
            let units: Vec<u16> = bytes.as_chunks().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
            push_utf16(&units, out);
        }),
        Iconv::new("glibc-iconv-utf32", Contract::VALIDATOR, c"UTF-32LE", push_utf32),
        Iconv::new("glibc-iconv-ucs4", wide, c"UCS-4LE", push_utf32),
    ];
    // A converter may be a module that is not installed.
    let here = all.into_iter().filter(|iconv| iconv.take().is_some());
    here.map(|iconv| Box::new(iconv) as Box<dyn Decoder>).collect()
}

fn push_utf32(bytes: &[u8], out: &mut Vec<u8>) {
    bytes.as_chunks().0.iter().for_each(|unit| push_extended(u32::from_le_bytes(*unit), out));
}

/// A function that takes chunks in another encoding, and whether each is the last, and appends their text; `None` if this
/// iconv does not know the encoding.
pub(super) fn reader(from: &CStr) -> Option<impl FnMut(&[u8], bool, &mut Vec<u8>) -> Validity + use<>> {
    let mut descriptor = Descriptor::open(c"UCS-4LE", from)?;
    let (mut pending, mut read) = (Vec::new(), 0);
    Some(move |chunk: &[u8], last: bool, out: &mut Vec<u8>| {
        pending.extend_from_slice(chunk);
        let (ended, at) = descriptor.convert(&pending, |units| push_utf32(units, out));
        pending.drain(..at);
        read += at;
        verdict(if last || ended == Ended::IllFormed { ended } else { Ended::Whole }, read)
    })
}

struct Iconv {
    info: Info,
    to: &'static CStr,
    /// Appends the output in extended UTF-8.
    push: fn(&[u8], &mut Vec<u8>),
    /// Open descriptors, for reuse: opening one takes longer than converting most inputs.
    idle: Mutex<Vec<Descriptor>>,
}

impl Iconv {
    fn new(name: &'static str, contract: Contract, to: &'static CStr, push: fn(&[u8], &mut Vec<u8>)) -> Self {
        Self { info: info(name, contract), to, push, idle: Mutex::default() }
    }

    /// An idle descriptor, or a new one.
    fn take(&self) -> Option<Descriptor> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.or_else(|| Descriptor::open(self.to, c"UTF-8"))
    }

    /// Converts the whole input; returns how the conversion ended and where.
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
        Some(Box::new(IconvStream { descriptor, pending: Vec::new(), read: 0, refused: false }))
    }
}

/// Prepends the bytes that a descriptor leaves unread at the end of a chunk to the next chunk, as callers of `iconv`
/// do.
struct IconvStream {
    descriptor: Descriptor,
    pending: Vec<u8>,
    read: usize,
    refused: bool,
}

impl Stream for IconvStream {
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

/// An open descriptor.
struct Descriptor(NonNull<c_void>);

// SAFETY: a descriptor is not bound to a thread, and the holder of `&mut` is its only user.
unsafe impl Send for Descriptor {}

impl Descriptor {
    fn open(to: &CStr, from: &CStr) -> Option<Self> {
        // SAFETY: both are null-terminated strings.
        let descriptor = unsafe { iconv_open(to.as_ptr(), from.as_ptr()) };
        (descriptor.addr() != usize::MAX).then(|| NonNull::new(descriptor).map(Self)).flatten()
    }

    /// Converts `bytes` from the start; returns how that ended, and the number of bytes in complete characters.
    fn convert(&mut self, bytes: &[u8], mut write: impl FnMut(&[u8])) -> (Ended, usize) {
        let mut buffer = [0u8; 512];
        let (mut input, mut left) = (bytes.as_ptr().cast_mut().cast::<c_char>(), bytes.len());
        loop {
            let (mut output, mut room) = (buffer.as_mut_ptr().cast::<c_char>(), buffer.len());
            // SAFETY: the descriptor is open; input and output are slices with their lengths, and the input is only
            // read.
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
        // SAFETY: the descriptor is open; without input and output it is reset to its initial state.
        unsafe { iconv(self.0.as_ptr(), null_mut(), null_mut(), null_mut(), null_mut()) };
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: it is open, and this is its last use.
        unsafe { iconv_close(self.0.as_ptr()) };
    }
}

fn mbrtowc_family() -> Option<Box<dyn Decoder>> {
    let locale = Locale::utf8()?;
    let contract = Contract { grammar: &RFC2279_WITHOUT_SURROGATES, ..Contract::VALIDATOR };
    Some(Box::new(Mbrtowc { info: info("glibc-mbrtowc", contract), locale }))
}

struct Mbrtowc {
    info: Info,
    locale: Locale,
}

impl Decoder for Mbrtowc {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let mut reader = Reader::default();
        reader.read(&self.locale, bytes, |_| ());
        Some(reader.verdict())
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let mut reader = Reader::default();
        reader.read(&self.locale, bytes, |code_point| push_extended(code_point, out));
        reader.verdict().is_valid().then_some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(MbrtowcStream { locale: &self.locale, reader: Reader::default() }))
    }
}

struct MbrtowcStream<'d> {
    locale: &'d Locale,
    reader: Reader,
}

impl Stream for MbrtowcStream<'_> {
    fn push(&mut self, chunk: &[u8], _out: &mut Vec<u8>) {
        self.reader.read(self.locale, chunk, |_| ());
    }

    fn finish(&mut self, _out: &mut Vec<u8>) -> Option<Validity> {
        Some(core::mem::take(&mut self.reader).verdict())
    }
}

/// Reads up to the first error.
#[derive(Default)]
struct Reader {
    state: State,
    /// The number of bytes read before this chunk.
    before: usize,
    /// The number of bytes in complete characters.
    whole: usize,
    refused: bool,
}

impl Reader {
    fn read(&mut self, locale: &Locale, bytes: &[u8], mut write: impl FnMut(u32)) {
        const ILL_FORMED: usize = usize::MAX;
        const INCOMPLETE: usize = usize::MAX - 1;
        let _inside = Inside::of(locale);
        let mut at = 0;
        while at < bytes.len() && !self.refused {
            let rest = &bytes[at..];
            let mut character = 0;
            // SAFETY: the slice is passed with its length; `character` and `self.state` are borrowed exclusively.
            let read = unsafe { mbrtowc(&mut character, rest.as_ptr().cast(), rest.len(), &mut self.state) };
            match read {
                ILL_FORMED => self.refused = true,
                INCOMPLETE => break,
                // For U+0000, which is one byte, 0 is returned.
                _ => {
                    at += read.max(1);
                    self.whole = self.before + at;
                    write(character.cast_unsigned());
                }
            }
        }
        self.before += bytes.len();
    }

    fn verdict(&self) -> Validity {
        let ended = match (self.refused, self.whole == self.before) {
            (true, _) => Ended::IllFormed,
            (false, true) => Ended::Whole,
            (false, false) => Ended::Incomplete,
        };
        verdict(ended, self.whole)
    }
}

/// `mbstate_t`; zeros are its initial state.
#[derive(Default)]
#[repr(C)]
struct State {
    count: c_int,
    value: c_uint,
}

unsafe extern "C" {
    fn mbrtowc(character: *mut libc::wchar_t, bytes: *const c_char, len: usize, state: *mut State) -> usize;
}

/// A locale whose characters are UTF-8.
struct Locale(libc::locale_t);

// SAFETY: a locale is not changed once it is made.
unsafe impl Send for Locale {}
// SAFETY: as above.
unsafe impl Sync for Locale {}

impl Locale {
    fn utf8() -> Option<Self> {
        // SAFETY: the name is null-terminated, and the base locale is null.
        let locale = unsafe { libc::newlocale(libc::LC_CTYPE_MASK, c"C.UTF-8".as_ptr(), null_mut()) };
        (!locale.is_null()).then_some(Self(locale))
    }
}

impl Drop for Locale {
    fn drop(&mut self) {
        // SAFETY: every thread that uses the locale borrows it, so none does.
        unsafe { libc::freelocale(self.0) };
    }
}

/// Makes a locale the current one of this thread; restores the previous one when dropped.
struct Inside<'l> {
    _locale: &'l Locale,
    before: libc::locale_t,
}

impl<'l> Inside<'l> {
    fn of(locale: &'l Locale) -> Self {
        // SAFETY: the locale outlives this value.
        let before = unsafe { libc::uselocale(locale.0) };
        Self { _locale: locale, before }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        // SAFETY: it was the current locale of this thread before.
        unsafe { libc::uselocale(self.before) };
    }
}
