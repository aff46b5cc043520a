//! cesu8: `from_cesu8` and `from_java_cesu8`; and residua-mutf8, whose CESU-8 underneath is a rewrite of it.
//!
//! Each takes what is UTF-8 as a whole for what it decodes. They are held to their encodings; this is in the ledger.

use crate::decoder::{Decoder, Info};
use crate::peers::text::{STRICT, Text};
use crate::spec::Contract;
use crate::spec::grammar::{CESU8, MODIFIED_UTF8};

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    let java = Contract { grammar: &MODIFIED_UTF8, ..STRICT };
    let info = Info::new("cesu8", "1.1.0").contract(Contract { grammar: &CESU8, ..STRICT });
    let info_java = info.clone().name("cesu8-java").contract(java);
    let residua = Info::new("residua-mutf8", "2.0.0").contract(java).lineage("cesu8");
    vec![
        Box::new(Text { info, decode: |bytes| cesu8::from_cesu8(bytes).ok() }),
        Box::new(Text { info: info_java, decode: |bytes| cesu8::from_java_cesu8(bytes).ok() }),
        Box::new(Text { info: residua, decode: |bytes| residua_mutf8::decode(bytes).ok() }),
    ]
}
