"""Opens DIRECTORY/report.html in Chromium and compares what it shows with report.json; checks report.sarif by SCHEMA.

Chromium is controlled over a pipe with its DevTools protocol: JSON objects, each followed by a NUL byte.
"""

import json
import os
import pathlib
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
CLUSTERS = """Array.from(document.querySelectorAll(".group")).filter((of) => of.checkVisibility()).length"""
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


def check(right, what):
    if not right:
        sys.exit(f"{DIRECTORY}: {what}")


def equal(got, wanted, what):
    check(got == wanted, f"{what}: {got!r}, not {wanted!r}")


def page(chromium, record):
    for domain in ("Page", "Runtime", "Log", "Network"):
        chromium.call(f"{domain}.enable")
    address = (DIRECTORY / "report.html").resolve().as_uri()
    chromium.load("Page.navigate", url=address)

    members = [member for cluster in record["clusters"] for member in cluster["members"]]
    everything = chromium.run(SHOWN)
    equal(len(everything), len(members), "signatures shown")
    check(len(members) > 1, "a record with one signature tests no filter")
    equal(chromium.run(CLUSTERS), len(record["clusters"]), "clusters shown")
    equal(chromium.run("""document.querySelectorAll(".grid tbody td").length"""),
          len(record["agreement"]["decoders"]) ** 2, "cells of the grid")
    equal(chromium.run("""document.querySelectorAll("svg.chart circle").length"""), 5 * len(record["history"]),
          "points of the charts")
    text = chromium.run("document.body.textContent")
    lines = [line for member in members for line in member["annotated"].splitlines()]
    for wanted in lines + record["machine"]["features"] + [file for member in members for file in member["files"]]:
        check(not wanted.isprintable() or wanted in text, f"{wanted!r} is not shown")

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
    foreign = "img, iframe, link, a, base, object, [onerror]"
    equal(chromium.run(f"""document.querySelectorAll("{foreign}").length"""), 0, "elements")
    console = [event for event in chromium.events
               if event["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")]
    equal(console, [], "console")
    requests = {event["params"]["request"]["url"] for event in chromium.events
                if event["method"] == "Network.requestWillBeSent"}
    equal(requests, {address}, "requests")


DIRECTORY = pathlib.Path(sys.argv[1])
RECORD = json.loads((DIRECTORY / "report.json").read_text())
SCHEMA = json.loads(pathlib.Path(sys.argv[2]).read_text())
for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(json.loads((DIRECTORY / "report.sarif").read_text())):
    check(False, f"report.sarif: {error.json_path}: {error.message}")
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    chromium = Chromium(profile)
    try:
        page(chromium, RECORD)
    finally:
        chromium.close()
print(f"{DIRECTORY}: passed")
