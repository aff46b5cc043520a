"""Opens every page below some directories in Chromium: it must fit its window, be readable, pass axe-core (the file AXE), log
nothing and fetch nothing. The page of a triage is also compared with report.json beside it, and report.sarif with SCHEMA.

Chromium is controlled over a pipe with its DevTools protocol: JSON objects, each followed by a NUL byte.
"""

import base64
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema


class Chromium:
    def __init__(self, profile):
        to_browser, self.write = os.pipe()
        self.read, from_browser = os.pipe()
        arguments = [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
            f"--user-data-dir={profile}", "about:blank",
        ]
        # The browser reads descriptor 3 and writes descriptor 4.
        pipes = f'exec 3<&{to_browser} 4>&{from_browser}; exec "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", pipes, "bash", *arguments],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.last, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def next(self):
        while b"\0" not in self.rest:
            part = os.read(self.read, 1 << 16)
            if not part:
                raise RuntimeError("Chromium has exited")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(message)
        if "method" in message:
            self.events.append(message)
        return message

    def load(self, method, **parameters):
        """Calls a method that loads a page, and waits until it is loaded."""
        loads = lambda: sum(event["method"] == "Page.loadEventFired" for event in self.events)
        before = loads()
        self.call(method, **parameters)
        while loads() == before:
            self.next()

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(timeout=20)


# The values of each visible signature.
SHOWN = """Array.from(document.querySelectorAll(".item"))
    .filter((member) => member.checkVisibility())
    .map((member) => [member.dataset.decoder, member.dataset.law, member.dataset.kind, member.dataset.status])"""
CLUSTERS = """Array.from(document.querySelectorAll(".group .group")).filter((of) => of.checkVisibility()).length"""
CHOOSE = """(() => {{
    const select = document.querySelector("select[name=" + {name} + "]");
    select.selectedIndex = {index};
    select.dispatchEvent(new Event("change"));
    return select.value;
}})()"""

# Changes the fragment of the address. The page's own listener was added first, so it has run when this one is called.
GO_TO = """new Promise((done) => {{
    addEventListener("hashchange", done, {{ once: true }});
    location.hash = {};
}}).then(() => undefined)"""


# Text whose contrast with its background is under 4.5, as a list of descriptions.
CONTRAST = """(() => {
    const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => channels(colour).slice(0, 3).map((value) => value / 255)
        .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
        .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
    const behind = (element) => {
        for (let of = element; of; of = of.parentElement) {
            const colour = getComputedStyle(of).backgroundColor;
            if ((channels(colour)[3] ?? 1) > 0) return colour;
        }
        return "rgb(255, 255, 255)";
    };
    const faults = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
        const style = getComputedStyle(element);
        const text = element instanceof SVGElement ? style.fill : style.color;
        const [low, high] = [light(text), light(behind(element))].sort((a, b) => a - b);
        const ratio = (high + 0.05) / (low + 0.05);
        if (ratio < 4.5) faults.add(`${text} on ${behind(element)}, ${ratio.toFixed(2)}: ${walker.currentNode.data.trim().slice(0, 30)}`);
    }
    return Array.from(faults).slice(0, 5);
})()"""
# The widest elements that make the page wider than its window.
OVERFLOW = """(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const wide = Array.from(document.body.querySelectorAll("*"))
        .filter((of) => of.getBoundingClientRect().right > width && !of.closest(".wide, figure"));
    return ["the page is " + document.documentElement.scrollWidth + " wide"]
        .concat(wide.slice(-3).map((of) => of.outerHTML.slice(0, 100)));
})()"""
AXE = """axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map((of) =>
    of.id + ": " + of.help + " " + of.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" ")))"""


def check(right, what):
    if not right:
        sys.exit(f"{DIRECTORY}: {what}")


def equal(got, wanted, what):
    check(got == wanted, f"{what}: {got!r}, not {wanted!r}")


def look(chromium, path, shots=None):
    """What is wrong with how a page looks, at each width and in each colour scheme."""
    address = path.resolve().as_uri()
    chromium.events.clear()
    chromium.load("Page.navigate", url=address)
    chromium.run(pathlib.Path(os.environ["AXE"]).read_text() + "; undefined")
    faults = []
    for width, height in ((1280, 900), (390, 844)):
        chromium.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        for scheme in ("light", "dark"):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            chromium.call("Emulation.setEmulatedMedia", features=[feature])
            chromium.run("""document.querySelectorAll("details[data-opened]").forEach((of) => { of.open = false; })""")
            if shots:
                tall = min(chromium.run("document.documentElement.scrollHeight"), 3200)
                clip = {"x": 0, "y": 0, "width": width, "height": tall, "scale": 1}
                shot = chromium.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
                name = f"{path.parent.name}-{path.stem}-{width}-{scheme}.png"
                (shots / name).write_bytes(base64.b64decode(shot["data"]))
            chromium.run("""document.querySelectorAll("details:not([open])").forEach((of) => {
                of.open = true;
                of.dataset.opened = "";
            })""")
            for kind, script in (("overflow", OVERFLOW), ("contrast", CONTRAST), ("axe", AXE)):
                faults += [f"{width} {scheme}: {kind}: {fault}" for fault in chromium.run(script)]
    return faults + noise(chromium, address)


def noise(chromium, address):
    """What a page logged, and what it fetched besides itself."""
    loud = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
    faults = [f"console: {event['params']}" for event in chromium.events if event["method"] in loud]
    sent = (event["params"] for event in chromium.events if event["method"] == "Network.requestWillBeSent")
    requests = {event["request"]["url"].split("#")[0] for event in sent}
    return faults + [f"request: {request}" for request in requests - {address}]


def page(chromium, record):
    """Compares the page of a triage with its record."""
    address = (DIRECTORY / "report.html").resolve().as_uri()
    chromium.events.clear()
    chromium.load("Page.navigate", url=address)

    members = [member for cluster in record["clusters"] for member in cluster["members"]]
    everything = chromium.run(SHOWN)
    equal(len(everything), len(members), "signatures shown")
    check(len(members) > 1, "a record with one signature tests no filter")
    equal(chromium.run(CLUSTERS), len(record["clusters"]), "clusters shown")
    grammar = {decoder["name"]: decoder["contract"].split(" ")[0] for decoder in record["decoders"]}
    families = collections.Counter(grammar.get(name, "") for name in record["agreement"]["decoders"])
    equal(chromium.run("""document.querySelectorAll(".grid tbody td").length"""),
          sum(count ** 2 for count in families.values() if count > 1), "cells of the grids")
    equal(chromium.run("""document.querySelectorAll("svg.chart circle").length"""), 5 * len(record["history"]),
          "points of the charts")
    text = " ".join(chromium.run("document.body.textContent").split())
    words = [word for member in members for line in member["annotated"].splitlines() for word in line.split("  ")]
    for wanted in words + record["machine"]["features"] + [file for member in members for file in member["files"]]:
        shown = not wanted.isprintable() or " ".join(wanted.lstrip("! ").split()) in text
        check(shown or len(wanted) > 500, f"{wanted!r} is not shown")

    for column, name in enumerate(("decoder", "law", "kind", "status")):
        options = chromium.run(f"""Array.from(document.querySelector("select[name={name}]").options, (o) => o.value)""")
        named = {choice for member in everything for choice in member[column].split("\n")}
        equal(sorted(options[1:]), sorted(named), f"choices of {name}")
        for index, option in list(enumerate(options))[1:]:
            chromium.run(CHOOSE.format(name=json.dumps(name), index=index))
            wanted = [member for member in everything if option in member[column].split("\n")]
            equal(chromium.run(SHOWN), wanted, f"{name} {option}")
            equal(chromium.run("""document.getElementById("shown").textContent"""), str(len(wanted)), "the count")
            check(0 < chromium.run(CLUSTERS) <= len(wanted), "clusters without a signature")
        # The address contains the choice.
        address_says = f"new URLSearchParams(location.hash.slice(1)).get({json.dumps(name)})"
        equal(chromium.run(address_says), options[-1], "address")
        chromium.run(GO_TO.format("''"))
        equal(chromium.run(SHOWN), everything, "without a choice")
    # Two choices at once, set by the address; they survive a reload.
    first = everything[0]
    choices = [("decoder", first[0].split("\n")[0]), ("kind", first[2].split("\n")[0])]
    fits = lambda member: all(choice in member[at].split("\n") for at, (_, choice) in zip((0, 2), choices))
    both = [member for member in everything if fits(member)]
    check(both != everything, "two choices hide nothing")
    chromium.run(GO_TO.format(f"new URLSearchParams({json.dumps(choices)})"))
    equal(chromium.run(SHOWN), both, "two choices")
    chromium.load("Page.reload")
    equal(chromium.run(SHOWN), both, "two choices, after a reload")

    # Hidden content may load only when it is shown, and a script may run only then.
    chromium.run("""document.querySelectorAll("details").forEach((details) => { details.open = true; })""")
    chromium.run(GO_TO.format("''"))
    chromium.call("Page.captureScreenshot")
    equal(chromium.run("document.scripts.length"), 1, "scripts")
    equal(chromium.run("document.documentElement.dataset.pwned"), None, "a script in the record ran")
    foreign = 'img, iframe, link, base, object, [onerror], a:not([href^="https://"]):not([href^="#cause-"])'
    equal(chromium.run(f"""document.querySelectorAll({json.dumps(foreign)}).length"""), 0, "elements")
    # A link to a finding opens it and shows it, whatever is chosen.
    chromium.run("""document.querySelectorAll("details").forEach((details) => { details.open = false; })""")
    chromium.run(GO_TO.format(f"new URLSearchParams({json.dumps(choices)})"))
    last = chromium.run("""Array.from(document.querySelectorAll('a[href^="#cause-"]')).at(-1).getAttribute("href")""")
    chromium.run(GO_TO.format(json.dumps(last)))
    check(chromium.run(f"""document.querySelector({json.dumps(last)}).open"""), "a link does not open the finding")
    equal(chromium.run(SHOWN), everything, "after a link")
    equal(noise(chromium, address), [], "noise")


def matrix(chromium, path, record):
    """Compares the page of a matrix with its record, and works with it by mouse and keyboard."""
    chromium.events.clear()
    chromium.load("Page.navigate", url=path.resolve().as_uri())
    rows, columns = record["rows"], record["columns"]
    seen = lambda row, at: columns[at]["answers"][row["cells"][at]]
    shown = """Array.from(document.querySelectorAll("tr.item")).filter((row) => row.checkVisibility())
        .map((row) => row.cells[0].firstChild.data)"""
    # Names are printed safely, so the rows are compared by their order.
    names = chromium.run(shown)
    equal(len(names), len(rows), "rows")
    symbols = """Array.from(document.querySelectorAll("tr.item"), (row) =>
        Array.from(row.cells).slice(1).map((cell) => cell.textContent))"""
    equal(chromium.run(symbols), [[seen(row, at)["symbol"] for at in range(len(columns))] for row in rows], "symbols")
    breaches = sum(len(row.get("broken", {})) for row in rows)
    equal(chromium.run("""document.querySelectorAll("td.breach").length"""), breaches, "broken contracts")

    # The question on which decoders differ most.
    at = max(range(len(columns)), key=lambda at: len({seen(row, at)["word"] for row in rows}))
    words = [seen(row, at)["word"] for row in rows]
    check(len(set(words)) > 1, "no question has two answers")
    chromium.run(CHOOSE.format(name='"question"', index=at + 1))
    answer = chromium.run(CHOOSE.format(name='"answer"', index=1))
    fits = [name for name, word in zip(names, words) if word == answer]
    check(0 < len(fits) < len(names), "an answer that hides nothing")
    equal(chromium.run(shown), fits, f"answer {answer}")
    equal(chromium.run("""document.getElementById("shown").textContent"""), str(len(fits)), "the count")
    chromium.run(CHOOSE.format(name='"answer"', index=0))
    chromium.run(CHOOSE.format(name='"unlike"', index=1))
    unlike = [name for name, word in zip(names, words) if word != words[0] or name == names[0]]
    equal(chromium.run(shown), unlike, "differs from the first in this question")
    chromium.run(CHOOSE.format(name='"question"', index=0))
    answers = lambda row: [seen(row, at)["word"] for at in range(len(columns))]
    unlike = [name for name, row in zip(names, rows) if answers(row) != answers(rows[0]) or name == names[0]]
    equal(chromium.run(shown), unlike, "differs from the first in any question")
    chromium.run(CHOOSE.format(name='"unlike"', index=0))
    equal(chromium.run(shown), names, "without a choice")

    # A cell opens, and the arrow keys go on from there.
    chromium.run("""document.querySelector("tr.item td").click()""")
    panel = """document.getElementById("cell").textContent"""
    first = chromium.run(panel)
    for wanted in (columns[0]["title"], seen(rows[0], 0)["word"], columns[0]["bytes"]):
        check(wanted in first, f"{wanted!r} is not in {first!r}")
    press = """document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {{ key: {}, bubbles: true }}))"""
    chromium.run(press.format('"ArrowRight"'))
    check(columns[1]["title"] in chromium.run(panel), "ArrowRight does not open the next cell")
    chromium.run(press.format('"ArrowDown"'))
    check(names[1] in chromium.run(panel), "ArrowDown does not open the cell below")
    equal(chromium.run("""document.querySelectorAll("td[tabindex]").length"""), 1, "cells in the order of the tabulator")

    # Home and End, and Escape, which closes the panel.
    chromium.run(press.format('"End"'))
    check(columns[-1]["title"] in chromium.run(panel), "End does not open the last cell")
    chromium.run(press.format('"Escape"'))
    equal(chromium.run(panel), "", "the panel after Escape")

    # By a part of the name; the cell in the order of the tabulator and the address follow.
    part = f"{names[-1][-4:].upper()} {rows[-1]['package'][:4]}"
    typed = """(() => { const input = document.querySelector("#choose [name=name]"); input.value = %s;
        input.dispatchEvent(new Event("input")); })()"""
    chromium.run("""document.querySelector("tr.item td").click()""")
    chromium.run(typed % json.dumps(part))
    text = {row["name"]: " ".join([row["name"], row["package"], row["lineage"]]).lower() for row in rows}
    parts = [word for word in re.split(r"[\s.,:;()-]+", part.lower()) if word]
    fits = [name for name in names if all(word in text[name] for word in parts)]
    check(0 < len(fits) < len(names), "a part of a name that hides nothing")
    equal(chromium.run(shown), fits, f"name contains {part}")
    tabbed = """document.querySelector("td[tabindex]").parentElement.cells[0].firstChild.data"""
    equal(chromium.run(tabbed), fits[0], "the cell in the order of the tabulator")
    chromium.run(CHOOSE.format(name='"question"', index=at + 1))
    equal(chromium.run("""document.querySelectorAll("td.asked").length"""), len(rows), "the column of the question")
    said = chromium.run("""Array.from(document.querySelectorAll("#said b"), (word) => word.textContent)""")
    beyond = chromium.run("""Array.from(document.querySelectorAll("tr.item:not([hidden])"), (row) => row.dataset.beyond)""")
    told = {f"shortest string accepted that strict UTF-8 rejects: {bytes}" for bytes in beyond if bytes}
    answers = {word for name, word in zip(names, words) if name in fits}
    equal(set(said), answers | told, "the answers in words")
    check(columns[at]["bytes"] in chromium.run("""document.getElementById("asked").textContent""").replace(" ", ""), "the question")
    chromium.run(CHOOSE.format(name='"question"', index=0))
    said = chromium.run("""Array.from(document.querySelectorAll("#said b"), (word) => word.textContent)""")
    equal(set(said), told, "what is accepted too much")
    chromium.run(CHOOSE.format(name='"question"', index=at + 1))
    chromium.load("Page.reload")
    equal(chromium.run(shown), fits, "after a reload")
    equal(chromium.run("""document.querySelector("#choose [name=question]").value"""), str(at), "the question after a reload")
    chromium.run(typed % json.dumps(part + " zzz"))
    equal(chromium.run(shown), fits, "with a word that no decoder has")
    told = chromium.run("""document.getElementById("said").textContent""")
    check("no decoder has these words, so they choose nothing: zzz" in told, "the word that no decoder has")
    chromium.run(typed % json.dumps("java mariadb"))
    equal(chromium.run("""document.querySelector("#said b").textContent"""), "nothing is shown", "without a decoder")
    chromium.run("""document.getElementById("all").click()""")
    equal(chromium.run(shown), names, "after 'show all'")
    # The script started anew.
    chromium.run("""document.querySelector("tr.item td").click()""")

    # By an answer, then back.
    chromium.run(f"""document.querySelectorAll("#matrix thead button")[{at + 1}].click()""")
    by_name = dict(zip(names, words))
    equal([by_name[name] for name in chromium.run(shown)], sorted(words), "sorted")
    chromium.run(f"""document.querySelectorAll("#matrix thead button")[{at + 1}].click()""")
    equal(chromium.run(shown), names, "sorted no more")
    equal(noise(chromium, path.resolve().as_uri()), [], "noise")


def hostile_matrix(chromium, path):
    """Opens every cell of a page whose texts are hostile."""
    chromium.events.clear()
    chromium.load("Page.navigate", url=path.resolve().as_uri())
    chromium.run("""document.querySelectorAll("td[data-a]").forEach((cell) => cell.click())""")
    equal(chromium.run("document.scripts.length"), 2, "scripts")
    equal(chromium.run("document.documentElement.dataset.pwned"), None, "a script in the record ran")
    foreign = 'img, iframe, base, object, [onerror], #cell a:not([href^="https://"])'
    equal(chromium.run(f"""document.querySelectorAll({json.dumps(foreign)}).length"""), 0, "elements")
    equal(noise(chromium, path.resolve().as_uri()), [], "noise")


def planted(chromium):
    """Faults planted in a page are found, so the checks above see something."""
    plants = {
        "overflow": '<p style="width: 2000px">wide</p>',
        "contrast": '<p style="color: #999; background: #fff">pale</p>',
        "axe": '<p><input type="text"></p>',
        "console": '<script>"use strict";</script>',
        "request": '<img alt="x" src="x.png">',
    }
    for name, plant in plants.items():
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "page.html"
            plain = (DIRECTORY / "index.html").read_text()
            # Without the policy, a page could fetch.
            plain = plain.replace("default-src 'none'", "img-src *; script-src 'none'")
            path.write_text(plain.replace("</main>", f"{plant}</main>"))
            faults = look(chromium, path)
            check(any(f"{name}:" in fault for fault in faults), f"planted {name} was not found: {faults}")


SHOTS = pathlib.Path(os.environ["SHOTS"]) if os.environ.get("SHOTS") else None
if SHOTS:
    SHOTS.mkdir(parents=True, exist_ok=True)
SCHEMA = json.loads(pathlib.Path(os.environ["SCHEMA"]).read_text())
PAGES = sorted(page for directory in sys.argv[1:] for page in pathlib.Path(directory).rglob("*.html"))
failed = False
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    chromium = Chromium(profile)
    try:
        for domain in ("Page", "Runtime", "Log", "Network"):
            chromium.call(f"{domain}.enable")
        DIRECTORY = next(path.parent for path in PAGES if path.name == "index.html")
        planted(chromium)
        for path in PAGES:
            faults = look(chromium, path, SHOTS)
            print(f"{path}: {'FAILED' if faults else 'passed'}")
            for fault in faults:
                print(f"  {fault}")
            failed |= bool(faults)
        for path in PAGES:
            DIRECTORY = path.parent
            if path.name == "report.html":
                chromium.call("Emulation.clearDeviceMetricsOverride")
                page(chromium, json.loads((DIRECTORY / "report.json").read_text()))
                sarif = json.loads((DIRECTORY / "report.sarif").read_text())
                for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(sarif):
                    check(False, f"report.sarif: {error.json_path}: {error.message}")
                print(f"{DIRECTORY}: passed")
            if path.name == "matrix.html":
                chromium.call("Emulation.clearDeviceMetricsOverride")
                if DIRECTORY.name == "committed":
                    matrix(chromium, path, json.loads(pathlib.Path("reports/matrix/matrix.json").read_text()))
                else:
                    hostile_matrix(chromium, path)
                print(f"{path}: works")
    finally:
        chromium.close()
sys.exit(failed)
