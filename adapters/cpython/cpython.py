"""An adapter for the decoders in Python's standard library, for CPython and PyPy alike. With `--minor` as the first
argument, the names say the version of the language."""

import codecs, io, json, os, pickle, platform, struct, sys, urllib.parse

DOCS = "https://docs.python.org/3/library/"
CANNOT = 3, -1, -1


def utf_8(text):  # Lone surrogates, which Python's strings may hold, are written as three bytes each.
    return text.encode("utf-8", "surrogatepass")


def verdict(errors):  # A decoder that repairs its input does not say whether it had to.
    return 1 if errors in ("strict", "surrogatepass") else 2


def whole(encoding, errors):
    """`bytes.decode`: what it rejects, it rejects with a position."""

    def decode(data):
        try:
            text = data.decode(encoding, errors)
        except UnicodeDecodeError as e:
            skipped = len(data) - len(e.object)  # the byte order mark, which utf-8-sig has taken away
            return 0, e.start + skipped, e.end - e.start, None
        return verdict(errors), -1, -1, utf_8(text)

    return decode


class Stream:
    """An incremental decoder: `reset` makes it ready for the next stream."""

    def __init__(self, encoding, errors):
        self.verdict = verdict(errors)
        self.decoder = codecs.getincrementaldecoder(encoding)(errors)

    def push(self, data):
        try:
            return 2, -1, -1, utf_8(self.decoder.decode(data))
        except UnicodeDecodeError:
            return 0, -1, -1, None

    def finish(self):
        try:
            return self.verdict, -1, -1, utf_8(self.decoder.decode(b"", True))
        except UnicodeDecodeError:
            return 0, -1, -1, None
        finally:
            self.decoder.reset()


def quoted(load, forbidden, before, after, error):
    """A string literal that holds the bytes as they are; some bytes would end or change the literal."""

    def decode(data):
        if any(byte in forbidden for byte in data):
            return *CANNOT, b"the literal cannot hold this byte"
        try:
            text = load(before + data + after)
        except error:
            return 0, -1, -1, None
        return 1, -1, -1, utf_8(text)

    return decode


def text_file(errors):
    def decode(data):
        try:
            return verdict(errors), -1, -1, utf_8(io.TextIOWrapper(io.BytesIO(data), "utf-8", errors, "").read())
        except UnicodeDecodeError:
            return 0, -1, -1, None

    return decode


def characters(errors):
    def decode(data):
        try:
            file = io.TextIOWrapper(io.BytesIO(data), "utf-8", errors, "")
            return verdict(errors), -1, -1, utf_8("".join(iter(lambda: file.read(1), "")))
        except UnicodeDecodeError:
            return 0, -1, -1, None

    return decode


def pickled(data):
    try:
        return 1, -1, -1, utf_8(pickle.loads(b"X" + struct.pack("<I", len(data)) + data + b"."))
    except UnicodeDecodeError as e:
        return 0, e.start, e.end - e.start, None


def unquote(errors):
    def decode(data):
        try:
            text = urllib.parse.unquote("".join("%%%02X" % byte for byte in data), errors=errors)
        except UnicodeDecodeError as e:
            return 0, e.start, e.end - e.start, None
        return verdict(errors), -1, -1, utf_8(text)

    return decode


def file_name(data):
    return 2, -1, -1, utf_8(os.fsdecode(data))


controls = bytes(range(32))
handlers = DOCS + "codecs.html#error-handlers"
strict, lossy = "rfc3629 no-output incomplete-is-error", "rfc3629 U+FFFD incomplete-is-error"
surrogates = "rfc3629-with-surrogates no-output incomplete-is-error"
# name, answers, contract, source, decode, and what makes a stream or None
ENTRIES = [
    ("strict", "verdict offset length output stream", strict, handlers, whole("utf-8", "strict"), lambda: Stream("utf-8", "strict")),
    ("replace", "output stream", lossy, handlers, whole("utf-8", "replace"), lambda: Stream("utf-8", "replace")),
    ("ignore", "output stream", lossy.replace("U+FFFD", "drop"), handlers, whole("utf-8", "ignore"), lambda: Stream("utf-8", "ignore")),
    ("surrogateescape", "output stream", lossy.replace("U+FFFD", "surrogateescape"), handlers, whole("utf-8", "surrogateescape"), lambda: Stream("utf-8", "surrogateescape")),
    ("surrogatepass", "verdict offset output stream", surrogates, handlers, whole("utf-8", "surrogatepass"), lambda: Stream("utf-8", "surrogatepass")),
    ("utf-8-sig", "verdict offset length output stream", strict + " bom-stripped", DOCS + "codecs.html#module-encodings.utf_8_sig", whole("utf-8-sig", "strict"), lambda: Stream("utf-8-sig", "strict")),
    ("utf-8-sig-replace", "output stream", lossy + " bom-stripped", DOCS + "codecs.html#module-encodings.utf_8_sig", whole("utf-8-sig", "replace"), lambda: Stream("utf-8-sig", "replace")),
    ("backslashreplace", "output", "", handlers, whole("utf-8", "backslashreplace"), None),
    ("textiowrapper", "verdict output", strict, DOCS + "io.html#io.TextIOWrapper", text_file("strict"), None),
    ("textiowrapper-replace", "output", lossy, DOCS + "io.html#io.TextIOWrapper", text_file("replace"), None),
    ("textiowrapper-read1-replace", "output", lossy, DOCS + "io.html#io.TextIOWrapper", characters("replace"), None),
    ("json-loads", "verdict output", surrogates, DOCS + "json.html#json.loads", quoted(json.loads, controls + b'"\\', b'"', b'"', ValueError), None),
    ("eval", "verdict output", strict, "https://docs.python.org/3/reference/lexical_analysis.html", quoted(eval, b"\0\r\n'\\", b"'", b"'", SyntaxError), None),
    ("pickle", "verdict offset output", surrogates, "https://github.com/python/cpython/blob/main/Lib/pickletools.py", pickled, None),
    ("unquote", "output", lossy, DOCS + "urllib.parse.html#urllib.parse.unquote", unquote("replace"), None),
    ("unquote-strict", "verdict offset length output", strict, DOCS + "urllib.parse.html#urllib.parse.unquote", unquote("strict"), None),
    ("fsdecode", "output", lossy.replace("U+FFFD", "surrogateescape"), DOCS + "os.html#os.fsdecode", file_name, None),
]
for encoding in "utf-16", "utf-16le", "utf-16be", "utf-32", "utf-32le", "utf-32be":
    for errors in "strict", "replace", "surrogatepass":
        answers = "verdict offset length output stream" if errors == "strict" else "output stream" if errors == "replace" else "verdict offset length output"
        new = lambda encoding=encoding, errors=errors: Stream(encoding, errors)
        ENTRIES.append((encoding + "-" + errors, answers + "\nencoding=" + encoding, "", handlers, whole(encoding, errors), new))


def main():
    package = platform.python_implementation().lower()
    version = platform.python_version() if package == "cpython" else "%d.%d.%d" % sys.pypy_version_info[:3]
    prefix, arguments = package + "-", sys.argv[1:]
    if arguments[:1] == ["--minor"]:
        prefix, arguments = "%s%d.%d-" % (package, *sys.version_info[:2]), arguments[1:]
    print("utfuzz 1 frames", "package=" + package, "version=" + version, sep="\n")
    for name, answers, contract, source, *functions in ENTRIES:
        if not arguments or arguments[0] == prefix + name:
            print("name=" + prefix + name, "answers=" + answers, "source=" + source, *["contract=" + contract] * (contract != ""), sep="\n")
            decode, new = functions
    print(flush=True)
    read, write, streams = sys.stdin.buffer.read, sys.stdout.buffer, {}
    while size := read(4):
        body, at, replies = read(int.from_bytes(size, "little")), 0, []
        while at < len(body):
            operation, stream, length = struct.unpack_from("<BII", body, at)
            at += 9 + length
            data = body[at - length : at]
            try:
                if operation == 0:
                    answer = decode(data)
                elif operation == 1:
                    answer = (streams.get(stream) or streams.setdefault(stream, new())).push(data)
                elif operation == 2:
                    answer = (streams.get(stream) or new()).finish()
                else:
                    streams.pop(stream, None)
                    answer = 2, -1, -1, None
            except Exception as e:
                answer = 4, -1, -1, repr(e).encode("utf-8", "replace")
            verdict, offset, length, text = answer
            replies.append(struct.pack("<Biii", verdict, offset, length, -1 if text is None else len(text)) + (text or b""))
        reply = b"".join(replies)
        write.write(struct.pack("<I", len(reply)) + reply)
        write.flush()


main()
