//! The versions that decoders report are those in every lock file of the checkout.
#![cfg(feature = "peers")]

use std::fs;
use std::path::Path;

use utfuzz::decoder::Info;
use utfuzz::peers;

#[test]
fn reported_versions_are_those_of_the_lock_files() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut missing = Vec::new();
    for name in ["Cargo.lock", "fuzz/Cargo.lock", "fuzz/afl/Cargo.lock"] {
        let lock = fs::read_to_string(top.join(name)).unwrap();
        for decoder in peers::all() {
            let Info { package, version, .. } = decoder.info();
            // These are not registry packages.
            if !["core", "glibc", "planted"].contains(&&**package)
                && !lock.contains(&format!("name = \"{package}\"\nversion = \"{version}\"\n"))
            {
                missing.push(format!("{name}: {package} {version}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
