//! The GNU C library this program is linked with: `iconv` from UTF-8 to UTF-16, UTF-32 and UCS-4, and `mbrtowc` in the
//! locale C.UTF-8. Feature `glibc`.
//!
//! Toward UCS-4 and in `mbrtowc` it knows nothing of U+10FFFF: there it is RFC 2279 without surrogates.
#![allow(unsafe_code, reason = "a C library")]

mod iconv;
mod mbrtowc;

use crate::decoder::{Decoder, Info};
use crate::spec::Contract;
use crate::utf8::{ErrorLen, Malformed, Validity};
use std::ffi::CStr;

/// The decoders that the library and its modules can run here.
pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    iconv::family().into_iter().chain(mbrtowc::family()).collect()
}

fn info(name: &'static str, contract: Contract) -> Info {
    Info::new("glibc", "").name(name).version(version()).contract(contract)
}

/// The version of the library that is loaded, with a third part, since it has two and a ledger compares three.
fn version() -> String {
    // SAFETY: it takes nothing and returns a string that is never freed.
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

/// The verdict, where so many bytes were whole characters. How long an ill-formed sequence is, nobody says.
fn verdict(ended: Ended, valid_up_to: usize) -> Validity {
    match ended {
        Ended::Whole => Validity::Valid,
        Ended::Incomplete => Malformed::at(valid_up_to, ErrorLen::Incomplete).into(),
        Ended::IllFormed => Malformed { valid_up_to: Some(valid_up_to), len: None, kind: None }.into(),
    }
}
