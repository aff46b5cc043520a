"""The comparisons of .ci/convert. Arguments: megabytes of text, of random bytes, of stream."""

import hashlib
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

UTFUZZ = os.environ.get("PROGRAMS", "target/release") + "/utfuzz"
TEXT, RANDOM, STREAM = (int(size) * 1_000_000 for size in sys.argv[1:4])
FASTER = float(os.environ.get("FASTER", 0))
LIMIT = 64 << 10  # KiB

# The name for utfuzz and iconv; the name for CPython, or None; and the last of the texts below that it can represent.
ENCODINGS = [
    ("UTF-8", "utf-8", "mixed"),
    ("UTF-16", "utf-16", "mixed"),
    ("UTF-16LE", "utf-16-le", "mixed"),
    ("UTF-16BE", "utf-16-be", "mixed"),
    ("UTF-32", "utf-32", "mixed"),
    ("UTF-32LE", "utf-32-le", "mixed"),
    ("UTF-32BE", "utf-32-be", "mixed"),
    ("UCS-4LE", "utf-32-le", "mixed"),
    ("UCS-4BE", "utf-32-be", "mixed"),
    ("UCS-2LE", None, "plane"),
    ("UCS-2BE", None, "plane"),
    ("windows-1252", "cp1252", "western"),
    ("ISO-8859-1", "latin-1", "latin"),
    ("US-ASCII", "ascii", "ascii"),
]
# The parts of each text, in addition to those of the texts before it.
PARTS = {
    "ascii": ["The quick brown fox jumps over the lazy dog. ", "{\"key\": [1, 2, 3]}", "\n"],
    "latin": ["Grüße aus Köln, naïve façade. ", "El niño comió jalapeños, ¿no? "],
    "western": ["“Œuvre” – 5 € … ‘š’ "],
    "plane": ["Съешь ещё этих мягких французских булок. ", "世界你好，这是一个测试。", "مرحبا بالعالم ", "नमस्ते दुनिया "],
    "mixed": ["😀🎉👍", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ", "a\0b"],
}
TEXTS = list(PARTS)
failures = []


def text(name, size):
    """At least `size` bytes of UTF-8, the same on every machine."""
    dice = random.Random(name)
    parts = [part for known in TEXTS[: TEXTS.index(name) + 1] for part in PARTS[known]]
    # Some of it in short pieces, some in long runs of one script.
    blocks = ["".join(dice.choice(parts) * dice.choice([1, 1, 2, 5, 40]) for _ in range(2000)) for _ in range(4)]
    block = "".join(blocks)
    return (block * (size // len(block.encode()) + 1))


def timed(command, path):
    """CPU seconds and elapsed seconds to convert a file and discard the output; the better of two runs."""
    best = None
    for _ in range(2):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        with open(path, "rb") as file:
            subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, check=True)
        after, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - start
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best or (used, clock), (used, clock))
    return best


def output(command, path):
    with open(path, "rb") as file:
        return subprocess.run(command, stdin=file, stdout=subprocess.PIPE, check=True).stdout


def same(what, ours, theirs):
    if ours != theirs:
        failures.append(what)
        print(f"{what}: DIFFERS")


def pairs(directory):
    """Converts between every two encodings, and compares with iconv and CPython."""
    slowest = []
    print(f"{'from':14}{'to':14}{'text':9}{'utfuzz GB/s':>12}{'iconv GB/s':>12}{'ratio':>8}{'clock':>8}")
    inputs = {}
    for source, source_python, source_text in ENCODINGS:
        for target, target_python, target_text in ENCODINGS:
            name = TEXTS[min(TEXTS.index(source_text), TEXTS.index(target_text))]
            if (source, name) not in inputs:
                inputs[source, name] = f"{directory}/{source}-{name}"
                words = text(name, TEXT)
                codec = source_python or {"UCS-2LE": "utf-16-le", "UCS-2BE": "utf-16-be"}[source]
                with open(inputs[source, name], "wb") as file:
                    file.write(words.encode(codec))
                del words
            path = inputs[source, name]
            size = os.path.getsize(path)
            our_command = [UTFUZZ, "convert", "-f", source, "-t", target]
            their_command = ["iconv", "-f", source, "-t", target]
            us, them = timed(our_command, path), timed(their_command, path)
            ours = output(our_command, path)
            same(f"{source} to {target}, iconv", ours, output(their_command, path))
            if source_python and target_python:
                with open(path, "rb") as file:
                    same(f"{source} to {target}, CPython", ours, file.read().decode(source_python).encode(target_python))
            ratio, clock = them[0] / us[0], them[1] / us[1]
            slowest.append((ratio, f"{source} to {target}"))
            speeds = f"{size / us[0] / 1e9:12.2f}{size / them[0] / 1e9:12.2f}"
            print(f"{source:14}{target:14}{name:9}{speeds}{ratio:8.1f}{clock:8.1f}", flush=True)
        for path in [path for (known, _), path in inputs.items() if known == source]:
            os.remove(path)
    slowest.sort()
    median = slowest[len(slowest) // 2][0]
    print(f"{len(slowest)} pairs, {TEXT / 1e6:.0f} MB each: median {median:.1f} times the speed of iconv, least "
          f"{slowest[0][0]:.1f} ({slowest[0][1]})")
    if slowest[0][0] < FASTER:
        failures.append(f"{slowest[0][1]} at {slowest[0][0]:.1f} times the speed of iconv")


def utf_8b(directory):
    """Converts random bytes from UTF-8B to WTF-8 and back, and compares with CPython's surrogateescape."""
    start = time.monotonic()
    block = 4_000_000
    raw, there, back = (f"{directory}/{name}" for name in ("raw", "there", "back"))
    with open(raw, "wb") as file:
        dice = random.Random(1)
        for at in range(0, RANDOM, block):
            file.write(dice.randbytes(min(block, RANDOM - at)))
    with open(there, "wb") as stdout:
        subprocess.run([UTFUZZ, "convert", "-f", "utf-8b", "-t", "wtf-8", raw], stdout=stdout, check=True)
    with open(back, "wb") as stdout:
        subprocess.run([UTFUZZ, "convert", "-f", "wtf-8", "-t", "utf-8b", there], stdout=stdout, check=True)
    same("UTF-8B round trip", digest(back), digest(raw))
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    with open(raw, "rb") as file, open(there, "rb") as ours:
        while True:
            chunk = file.read(block)
            expected = decoder.decode(chunk, not chunk).encode("utf-8", "surrogatepass")
            if ours.read(len(expected)) != expected:
                same("UTF-8B, CPython", 0, 1)
                break
            if not chunk:
                same("UTF-8B, CPython, length", ours.read(1), b"")
                break
    print(f"UTF-8B: {RANDOM / 1e6:.0f} MB of random bytes converted there and back, compared with CPython, in {time.monotonic() - start:.0f} s")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def memory():
    """Peak memory during the conversion of a long stream, on several paths."""
    block = text("mixed", 1_000_000).encode()
    for source, target, more in [
        ("UTF-8", "UTF-16LE", []),
        ("UTF-8", "windows-1252", ["--on-error", "replace"]),
        ("windows-1252", "UTF-8", []),
    ]:
        command = [UTFUZZ, "convert", "-f", source, "-t", target, *more]
        null = subprocess.DEVNULL
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=null, stderr=null) as process:
            for _ in range(STREAM // len(block) + 1):
                process.stdin.write(block)
            process.stdin.flush()
            with open(f"/proc/{process.pid}/status") as status:
                most = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
            process.stdin.close()
            if process.wait() != 0:
                failures.append(f"a stream of {source} to {target}")
        print(f"{STREAM / 1e6:.0f} MB of stream, {source} to {target}: {most / 1024:.1f} MB of memory")
        if most > LIMIT:
            failures.append(f"{most} KiB of memory")


with tempfile.TemporaryDirectory(dir="target") as scratch:
    pairs(scratch)
    utf_8b(scratch)
    memory()
for failure in failures:
    print(f"failed: {failure}", file=sys.stderr)
sys.exit(bool(failures))
