#!/usr/bin/env python3
"""The cost curve: what more machines find in the same time, and what that costs in executions.

Replays the recorded runs of reports/score/score.json: shards share nothing while they run, so N machines are N draws from
the recorded runs of an engine against a planted decoder. A fault is found in time T if any of the N runs caught it by
then. Prints Markdown. Usage: .ci/cost.py [ENGINE]
"""

import json
import sys

ENGINE = sys.argv[1] if len(sys.argv) > 1 else "behaviour"
MACHINES = [1, 2, 4, 8, 16]
SECONDS = [0.1, 0.3, 1, 3, 10, 30]

with open("reports/score/score.json", encoding="utf-8") as file:
    record = json.load(file)
score = record["score"]
faults = []
for row in score["rows"]:
    for cell in row["cells"]:
        if cell["engine"] == ENGINE and cell["runs"]:
            faults.append(cell["runs"])
if not faults:
    sys.exit(f"reports/score/score.json has no runs of {ENGINE}")


def caught(run, time):
    return run["outcome"] == "caught" and run["seconds"] <= time


def expected(time, machines):
    """The expected number of faults found, over all choices of that many recorded runs, with repetition."""
    total = 0.0
    for runs in faults:
        share = sum(caught(run, time) for run in runs) / len(runs)
        total += 1 - (1 - share) ** machines
    return total


def rate():
    """Executions per second of one machine, over all recorded runs."""
    runs = [run for fault in faults for run in fault if run["seconds"] > 0]
    return sum(run["executions"] for run in runs) / sum(run["seconds"] for run in runs)


count = sum(map(len, faults))
print("# What more machines find\n")
print(f"{count} recorded runs of the engine `{ENGINE}` against {len(faults)} planted decoders, replayed as shards that share")
print(f"nothing: expected number of the {len(faults)} faults found within a time, by the number of machines. One machine runs")
print(f"about {rate():,.0f} executions per second.\n")
print("| seconds | " + " | ".join(f"{machines} machine" + "s" * (machines > 1) for machines in MACHINES) + " |")
print("| --: |" + " --: |" * len(MACHINES))
for time in SECONDS:
    cells = (f"{expected(time, machines):.1f}" for machines in MACHINES)
    print(f"| {time:g} | " + " | ".join(cells) + " |")
print("\nThe same executions on more machines, from left to right, at constant machine-seconds:\n")
print("| machine-seconds | " + " | ".join(f"{machines}" for machines in MACHINES) + " |")
print("| --: |" + " --: |" * len(MACHINES))
for budget in (1, 4, 16, 64):
    cells = (f"{expected(budget / machines, machines):.1f}" for machines in MACHINES)
    print(f"| {budget} | " + " | ".join(cells) + " |")
