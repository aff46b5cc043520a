//! The text of the regression test that is printed with a divergence.

use crate::case::Case;
use crate::explain::signature::Signature;
use crate::judge::Law;

/// A test that fails while the decoder diverges on this case, to be pasted into a test file.
pub(super) fn printed_test(signature: &Signature, case: &Case<'_>) -> String {
    let name: String = signature.to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let bytes = case.bytes.escape_ascii();
    let case = match (signature.law, case.cuts().step()) {
        (Law::Placement, _) => {
            let (alignment, poisoned) = case.placement();
            format!("placed(bytes, {alignment}, {poisoned})")
        }
        (_, Some(step)) => format!("with_cuts(bytes, utfuzz::case::Cuts::every({step}, bytes.len()))"),
        (_, None) => {
            format!("with_cuts(bytes, utfuzz::case::Cuts::new({:?}, bytes.len()))", case.cuts().offsets())
        }
    };
    format!(
        "#[test]\nfn {name}() {{\n    \
         // Construct the decoder here if it is not one of the peers.\n    \
         let peers = utfuzz::peers::all();\n    \
         let decoder = &**peers.iter().find(|peer| peer.info().name == {:?}).unwrap();\n    \
         let bytes = b\"{bytes}\";\n    \
         let case = utfuzz::case::Case::{case};\n    \
         let divergence = utfuzz::explain::first_divergence(decoder, &case);\n    \
         assert!(divergence.is_none(), \"{{}}\", divergence.unwrap());\n}}\n",
        signature.decoder
    )
}
