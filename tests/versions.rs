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
            let is_registry = !["core", "glibc", "planted"].contains(&&**package);
            // Fuzz targets do not have this peer.
            let is_there = package != "simdutf" || name == "Cargo.lock";
            if is_registry && is_there && !lock.contains(&format!("name = \"{package}\"\nversion = \"{version}\"\n")) {
                missing.push(format!("{name}: {package} {version}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
