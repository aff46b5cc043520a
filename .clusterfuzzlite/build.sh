#!/bin/bash -eu
# Builds the fuzz targets from $SRC into $OUT, each with its seeds, dictionary and options, as OSS-Fuzz and
# ClusterFuzzLite expect; intermediate files go to $WORK. Arguments go to `cargo fuzz build`.
cd "$SRC/utfuzz"
cargo fuzz build -O --no-trace-compares --target-dir "$WORK/target" "$@"
.ci/targets | while read -r target seeds _; do
    cp "$WORK/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
    cp fuzz/utf8.dict "$OUT/$target.dict"
    cp .clusterfuzzlite/libfuzzer.options "$OUT/$target.options"
    rm -f "$OUT/${target}_seed_corpus.zip"
    zip --quiet --junk-paths --recurse-paths "$OUT/${target}_seed_corpus.zip" "$seeds"
done
