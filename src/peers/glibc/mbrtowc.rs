//! `mbrtowc`, whole and in chunks: a sequence that a chunk cuts off is kept in its state.

use crate::decoder::{Decoder, Info, Stream};
use crate::peers::glibc::{Ended, info, verdict};
use crate::spec::Contract;
use crate::spec::grammar::RFC2279_NO_SURROGATES;
use crate::spec::model::push_generalised;
use crate::utf8::Validity;
use core::ffi::{c_char, c_int, c_uint};
use core::ptr::null_mut;

pub(super) fn family() -> Option<Box<dyn Decoder>> {
    let locale = Locale::utf8()?;
    let contract = Contract { grammar: &RFC2279_NO_SURROGATES, ..Contract::VALIDATOR };
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
        reader.read(&self.locale, bytes, |code_point| push_generalised(code_point, out));
        reader.verdict().is_valid().then_some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(Chunked { locale: &self.locale, reader: Reader::default() }))
    }
}

struct Chunked<'d> {
    locale: &'d Locale,
    reader: Reader,
}

impl Stream for Chunked<'_> {
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
    /// Bytes read before this chunk.
    before: usize,
    /// Bytes that are whole characters.
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
            // SAFETY: the slice is given with its length, and state and character are the caller's own.
            let read = unsafe { mbrtowc(&mut character, rest.as_ptr().cast(), rest.len(), &mut self.state) };
            match read {
                ILL_FORMED => self.refused = true,
                INCOMPLETE => break,
                // U+0000 is said to be none.
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
        // SAFETY: the name ends in zero, and no locale is built upon.
        let locale = unsafe { libc::newlocale(libc::LC_CTYPE_MASK, c"C.UTF-8".as_ptr(), null_mut()) };
        (!locale.is_null()).then_some(Self(locale))
    }
}

impl Drop for Locale {
    fn drop(&mut self) {
        // SAFETY: who is inside it borrows it, so nobody is.
        unsafe { libc::freelocale(self.0) };
    }
}

/// This thread inside a locale; dropped, it is back where it was.
struct Inside<'l> {
    _locale: &'l Locale,
    before: libc::locale_t,
}

impl<'l> Inside<'l> {
    fn of(locale: &'l Locale) -> Self {
        // SAFETY: it lives as long as this thread is inside it.
        let before = unsafe { libc::uselocale(locale.0) };
        Self { _locale: locale, before }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        // SAFETY: this thread was inside it before.
        unsafe { libc::uselocale(self.before) };
    }
}
