"""Renders reports/coverage.json and .md from what llvm-cov exports; called by .ci/coverage.

coverage.json: `schema` (1), `command`, `toolchain {rustc, llvm}`, `target`, `measured[] {corpus, files, bytes,
directories {NAME: total}, sources {PATH: total}}`, where a total is `{lines, covered, percent, entered, missed}`:
`lines` have code, `covered` of them were run; `entered` are those that stand in a function that was run at all, and
`missed` the entered ones that were not run (for a source, ranges of them).
"""

import json
import re
import sys
from pathlib import Path

DIRECTORIES = ["src/spec", "src/decode", "src/judge"]


def lines_run(lcov):
    """Of each source, how often each line with code was run."""
    sources = {}
    for line in lcov.splitlines():
        if line.startswith("SF:"):
            counts = sources.setdefault(relative(line[3:]), {})
        elif line.startswith("DA:"):
            number, count = map(int, line[3:].split(",")[:2])
            counts[number] = max(counts.get(number, 0), count)
    return sources


def lines_entered(export):
    """Of each source, the lines of functions that were run at all."""
    entered = {}
    for function in export["data"][0]["functions"]:
        if function["count"]:
            first, last = function["regions"][0][0], function["regions"][0][2]
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


def measured(corpus, work):
    run = lines_run((work / "lcov").read_text())
    entered = lines_entered(json.loads((work / "json").read_text()))
    sources, parts = {}, {}
    for source in sorted(run):
        directory = str(Path(source).parent)
        if directory not in DIRECTORIES:
            continue
        code = set(run[source])
        covered = {line for line in code if run[source][line]}
        inside = (code & entered.get(source, set())) | covered
        part = (len(code), len(covered), len(inside), len(inside - covered))
        parts.setdefault(directory, []).append(part)
        sources[source] = total([part]) | {"missed": ranges(inside - covered)}
    files = [file for directory in corpus.split() for file in Path(directory).iterdir() if file.is_file()]
    return {
        "corpus": re.sub(r"\S*/found", "what a run found", corpus),
        "files": len(files),
        "bytes": sum(file.stat().st_size for file in files),
        "directories": {directory: total(parts[directory]) for directory in DIRECTORIES},
        "sources": sources,
    }


