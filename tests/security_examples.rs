//! The sequences that RFC 2279 §6 and RFC 3629 §3 and §10 warn of are refused, at every offset, by every decoder that
//! promises RFC 3629 and by every kernel.

use utfuzz::codec::Kernel;
use utfuzz::spec::Contract;
use utfuzz::spec::grammar::RFC3629;
use utfuzz::{Decoder, peers, spec};

/// The bytes, and what a careless decoder reads in them.
const WARNINGS: [(&[u8], &[u8]); 3] =
    [(b"\x2F\xC0\xAE\x2E\x2F", b"/../"), (b"\xC0\x80", b"\0"), (b"\xED\xA1\x8C\xED\xBE\xB4", b"\xF0\xA3\x8E\xB4")];

/// The decoder that promises RFC 3629 and accepts overlong forms, a known difference in `corpus/known.toml`.
const KNOWN: &str = "utf8-decode";

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The ways in which this decoder accepts such bytes.
fn accepted(decoder: &dyn Decoder, bytes: &[u8], careless: &[u8], answers: &mut usize) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut judge = |question: &str, accepts: Option<bool>| {
        *answers += usize::from(accepts.is_some());
        if accepts == Some(true) {
            wrong.push(format!("{} accepts {bytes:02X?}: {question}", decoder.info().name));
        }
    };
    judge("validate", decoder.validate(bytes).map(|verdict| verdict.is_valid()));
    let mut out = Vec::new();
    let lossy = decoder.decode_lossy(bytes, &mut out);
    judge("lossy", lossy.map(|()| contains(&out, careless)));
    if let Some(mut stream) = decoder.stream() {
        out.clear();
        bytes.iter().for_each(|&byte| stream.push(&[byte], &mut out));
        judge("stream", stream.finish(&mut out).map(|verdict| verdict.is_valid()));
        judge("stream's output", Some(contains(&out, careless)));
    }
    wrong
}

#[test]
fn every_strict_decoder_refuses_what_the_standards_warn_of() {
    let decoders = peers::all();
    let strict =
        |decoder: &&dyn Decoder| decoder.info().contract.grammar == &RFC3629 && decoder.info().package != "planted";
    let decoders: Vec<&dyn Decoder> = decoders.iter().map(|decoder| &**decoder).filter(strict).collect();
    let (mut answers, mut wrong, mut known) = (0, Vec::new(), 0);
    for decoder in &decoders {
        for (bytes, careless) in WARNINGS {
            assert!(!spec::validity(&Contract::VALIDATOR, bytes).is_valid());
            for (before, after) in (0..=65).flat_map(|before| [(before, 0), (before, 70)]) {
                let bytes = [&vec![b'a'; before][..], bytes, &vec![b'a'; after]].concat();
                let accepted = accepted(*decoder, &bytes, careless, &mut answers);
                match &*decoder.info().name {
                    KNOWN => known += accepted.len(),
                    _ => wrong.extend(accepted),
                }
            }
        }
    }
    println!("{} decoders gave {answers} answers", decoders.len());
    assert!(wrong.is_empty(), "{} accepted:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    let has_known = decoders.iter().any(|decoder| decoder.info().name == KNOWN);
    assert_eq!(known > 0, has_known, "{KNOWN} has been fixed; remove it here and from the ledger");
    assert!(answers >= decoders.len() * WARNINGS.len() * 132, "{answers} answers of {} decoders", decoders.len());
}

#[test]
fn every_kernel_refuses_what_the_standards_warn_of() {
    let mut out = Vec::new();
    for kernel in Kernel::available() {
        for (bytes, careless) in WARNINGS {
            for before in 0..=130 {
                let bytes = [&vec![b'a'; before][..], bytes, &[b'a'; 70]].concat();
                assert!(kernel.validate(&bytes).is_err(), "{kernel}: {bytes:02X?}");
                assert!(kernel.from_utf8(&bytes).is_err(), "{kernel}: {bytes:02X?}");
                out.clear();
                kernel.lossy_into(&bytes, &mut out);
                assert!(!contains(&out, careless), "{kernel}: {bytes:02X?}");
                let mut units = Vec::new();
                kernel.utf16_lossy_into(&bytes, &mut units);
                let text = String::from_utf16(&units).unwrap();
                assert!(!contains(text.as_bytes(), careless), "{kernel}: {bytes:02X?}");
            }
        }
    }
}
