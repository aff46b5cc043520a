"""Renders reports/coverage.json and .md from what llvm-cov exports. Called by .ci/coverage.

Usage: coverage.py RUSTC LLVM KEPT [NAME WORK DIRECTORY...]; in WORK `lcov` and `json` are what llvm-cov exported, and
`start` is what libFuzzer reports that the corpus reaches, guided by code coverage and by features. `--` separates two corpora.

coverage.json: `schema` (1), `target`, `toolchain {rustc, llvm}`, `kept`, `corpora[] {name, files, bytes, edges,
features, directories {PATH: total}, sources {PATH: total}}`, where a total is `{lines, covered, percent, entered,
missed}`: of the `lines` with code, `covered` were run; `entered` are the lines of functions that were run at all,
`missed` those of them that were not run: a number, and for a source the lines. `kept` is how many of the committed files
libFuzzer's merge keeps; `edges` and `features` are libFuzzer's: those of the code, and those of the behaviour; null where it did not report them.
"""

import json
import re
import sys
from itertools import groupby
from pathlib import Path

DIRECTORIES = ["crates/core/src/spec", "crates/codec/src", "crates/core/src/codec", "crates/core/src/judge", "crates/core/src/explain"]


def lines_run(lcov):
    """For each source, how often each line with code ran."""
    sources = {}
    for line in lcov.splitlines():
        if line.startswith("SF:"):
            counts = sources.setdefault(relative(line[3:]), {})
        elif line.startswith("DA:"):
            number, count = map(int, line[3:].split(",")[:2])
            counts[number] = max(counts.get(number, 0), count)
    return sources


def lines_entered(export):
    """For each source, the lines of functions that ran at all."""
    entered = {}
    for function in export["data"][0]["functions"]:
        if function["count"]:
            first = min(region[0] for region in function["regions"])
            last = max(region[2] for region in function["regions"])
            entered.setdefault(relative(function["filenames"][0]), set()).update(range(first, last + 1))
    return entered


def relative(path):
    return str(Path(path).relative_to(Path.cwd())) if Path(path).is_relative_to(Path.cwd()) else path


def total(parts):
    """Sums (lines, covered, entered, missed lines)."""
    lines, covered, entered, missed = (sum(column) for column in zip(*parts))
    percent = round(100 * covered / lines, 1) if lines else 100.0
    return {"lines": lines, "covered": covered, "percent": percent, "entered": entered, "missed": missed}


def ranges(numbers):
    """12, 13, 14, 20 as ["12-14", "20"]."""
    runs = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return [f"{first}-{last}" if first < last else str(first) for first, last in runs]


def corpus(name, work, *directories):
    work = Path(work)
    run = lines_run((work / "lcov").read_text())
    entered = lines_entered(json.loads((work / "json").read_text()))
    sources, parts = {}, {directory: [] for directory in DIRECTORIES}
    for source in sorted(run):
        directory = next((one for one in DIRECTORIES if Path(source).is_relative_to(one)), None)
        if directory:
            code = set(run[source])
            covered = {line for line in code if run[source][line]}
            missed = code & entered.get(source, set()) - covered
            part = (len(code), len(covered), len(covered | missed), len(missed))
            parts[directory].append(part)
            sources[source] = total([part]) | {"missed": ranges(missed)}
    for directory in DIRECTORIES:
        if not parts[directory]:
            sys.exit(f"coverage: llvm-cov exported no line of {directory}; was it renamed?")
    reached = re.search(r"cov: (\d+)\n.*ft: (\d+)", (work / "start").read_text())
    edges, features = map(int, reached.groups()) if reached else (None, None)
    files = [file.stat().st_size for directory in directories for file in Path(directory).iterdir() if file.is_file()]
    return {
        "name": name,
        "files": len(files),
        "bytes": sum(files),
        "edges": edges,
        "features": features,
        "directories": {directory: total(parts[directory]) for directory in DIRECTORIES},
        "sources": sources,
    }


def markdown(report):
    committed = report["corpora"][0]
    yield "# Coverage\n"
    yield "Lines that the target `differential` runs, AddressSanitizer build; written by `.ci/coverage`."
    yield f"{report['toolchain']['rustc']}, {report['toolchain']['llvm']}.\n"
    yield "`lines` have code. Not all of them can run in the target: some run only once a divergence is found (its"
    yield "explanation), some serve other commands (`check`), some run in the compiler (the tables of `spec`). The last two"
    yield "columns are therefore about the functions that the target enters: how many lines they have, and how many of these"
    yield "no input of the corpus reaches.\n"
    yield f"libFuzzer's merge of the {committed['files']} committed files keeps {report['kept']}; the others are examples"
    yield "from the standards and of text, kept for readers.\n"
    for one in report["corpora"]:
        yield f"## {one['name']}: {one['files']} files, {one['bytes']} bytes\n"
        if one["edges"]:
            yield f"libFuzzer: {one['edges']} edges, {one['features']} features.\n"
        yield "| | lines | run | | of functions entered | not run |"
        yield "| --- | ---: | ---: | ---: | ---: | ---: |"
        for name, t in one["directories"].items():
            yield f"| `{name}` | {t['lines']} | {t['covered']} | {t['percent']} % | {t['entered']} | {t['missed']} |"
        yield ""
    yield f"## By file: {committed['name']}\n"
    yield "| | lines | run | | not run, of functions entered |"
    yield "| --- | ---: | ---: | ---: | --- |"
    for name, t in committed["sources"].items():
        yield f"| `{name}` | {t['lines']} | {t['covered']} | {t['percent']} % | {', '.join(t['missed'])} |"


def main(rustc, llvm, kept, *rest):
    groups = [list(group) for end, group in groupby(rest, lambda word: word == "--") if not end]
    corpora = [corpus(*group) for group in groups]
    report = {
        "schema": 1,
        "target": "differential",
        "toolchain": {"rustc": rustc, "llvm": llvm},
        "kept": int(kept),
        "corpora": corpora,
    }
    Path("reports/coverage.json").write_text(json.dumps(report, indent=1) + "\n")
    Path("reports/coverage.md").write_text("".join(line + "\n" for line in markdown(report)))


main(*sys.argv[1:])
