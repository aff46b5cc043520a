//! After warm-up, a judge allocates nothing per case or per decoder. There are two exceptions. After cases with long
//! outputs their buffers are freed, since a decoder may scan the whole buffer on every short case that follows. And some
//! cases ask for what is new: streams, output buffers, threads.
#![cfg(feature = "peers")]

use utfuzz::case::Case;
use utfuzz::generate::seeds;
use utfuzz::judge::Judge;

#[test]
fn judging_does_not_allocate() {
    let decoders = utfuzz::peers::all();
    // Decoders that break laws on the seeds are left out, since locating a violation may allocate. So are decoders that
    // cannot answer without an allocation.
    let left_out =
        ["utf8-decode", "planted", "simd_cesu8", "cesu8", "residua-mutf8", "mutf8", "java_string", "wtf8", "glibc"];
    let quiet = decoders.iter().filter(|decoder| !left_out.contains(&&*decoder.info().package));
    let mut judge = Judge::new(quiet.map(|decoder| &**decoder));
    // Three bytes of output for each byte, and some more, fit into 4 KiB.
    let is_short = |case: &Case<'_>| case.bytes.len().max(case.prefix()) <= 1200;
    let all = seeds::differential();
    let is_quiet = |bytes: &&Vec<u8>| {
        let case = Case::new(bytes);
        is_short(&case) && !case.allocates()
    };
    let seeds: Vec<Vec<u8>> = all.values().filter(is_quiet).cloned().collect();
    assert!(seeds.len() > all.len() / 8, "{} of {} seeds allocate nothing", seeds.len(), all.len());
    let mut run = || {
        for bytes in &seeds {
            let case = Case::new(bytes);
            assert!(judge.judge(&case).is_empty());
            assert!(judge.judge_novelty(&case, |_| {}).broken.is_empty());
        }
    };
    run();
    let allocations = allocation_counter::measure(run);
    assert_eq!(allocations.count_total, 0, "{} seeds, {} decoders", seeds.len(), decoders.len());
    assert!(allocation_counter::measure(|| drop(vec![1])).count_total > 0, "the counter counts nothing");
}
