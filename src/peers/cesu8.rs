//! cesu8: `from_cesu8` and `from_java_cesu8`; and residua-mutf8, whose CESU-8 underneath is a rewrite of it.
//!
//! Each takes what is UTF-8 as a whole for what it decodes. They are held to their encodings; this is in the ledger.

use crate::decoder::{Decoder, Info};
use crate::peers::text::{STRICT, Text};
use crate::spec::Contract;
use crate::spec::grammar::{CESU8, MODIFIED_UTF8};

const INFO: Info = Info {
    name: "cesu8",
    version: "1.1.0",
    package: "cesu8",
    contract: Contract { grammar: &CESU8, ..STRICT },
    lineage: |_| "cesu8",
};

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    let java = Contract { grammar: &MODIFIED_UTF8, ..STRICT };
    let residua = Info { name: "residua-mutf8", version: "2.0.0", package: "residua-mutf8", contract: java, ..INFO };
    vec![
        Box::new(Text { info: INFO, decode: |bytes| cesu8::from_cesu8(bytes).ok() }),
        Box::new(Text {
            info: Info { name: "cesu8-java", contract: java, ..INFO },
            decode: |bytes| cesu8::from_java_cesu8(bytes).ok(),
        }),
        Box::new(Text { info: residua, decode: |bytes| residua_mutf8::decode(bytes).ok() }),
    ]
}
