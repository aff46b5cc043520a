//! The text of the regression test that is printed with a divergence.

use crate::case::{Case, Cuts};
use crate::decoder::Info;
use crate::explain::signature::Signature;
use crate::judge::Law;

/// A test that fails while the decoder diverges on this case, to be pasted into a test file. Without `cuts`, the case
/// is only its bytes.
pub(super) fn printed_test(signature: &Signature, info: &Info, case: &Case<'_>, cuts: Option<Cuts>) -> String {
    let name: String = signature.to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let decoder = match &info.expression {
        Some(expression) => format!("let decoder = &{expression};"),
        None => format!(
            "// Construct the decoder here if it is not one of the peers.\n    \
             let peers = utfuzz::peers::all();\n    \
             let decoder = &**peers.iter().find(|peer| peer.info().name == {:?}).unwrap();",
            signature.decoder
        ),
    };
    let bytes = case.bytes.escape_ascii();
    let case = match (signature.law, cuts) {
        (Law::Placement, _) => {
            let (alignment, poisoned) = case.placement();
            format!("placed(bytes, {alignment}, {poisoned})")
        }
        (_, None) => "new(bytes)".to_owned(),
        (_, Some(cuts)) => match cuts.step() {
            Some(step) => format!("with_cuts(bytes, utfuzz::Cuts::every({step}, bytes.len()))"),
            None => format!("with_cuts(bytes, utfuzz::Cuts::new({:?}, bytes.len()))", cuts.offsets()),
        },
    };
    format!(
        "#[test]\nfn {name}() {{\n    \
         {decoder}\n    \
         let bytes = b\"{bytes}\";\n    \
         let divergence = utfuzz::first_divergence(decoder, &utfuzz::Case::{case});\n    \
         assert!(divergence.is_none(), \"{{}}\", divergence.unwrap());\n}}\n"
    )
}
