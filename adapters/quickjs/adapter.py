"""An adapter for decodeURIComponent of QuickJS, which runs in the process. Its answer is in UTF-16, as hexadecimal digits."""

import importlib.metadata, platform, struct, sys

import quickjs

PROGRAM = """(escaped) => {
  try {
    const text = decodeURIComponent(escaped);
    return Array.from({ length: text.length }, (_, i) => ((text.charCodeAt(i) & 255) * 256 + (text.charCodeAt(i) >> 8) + 65536).toString(16).slice(1)).join("");
  } catch (e) {
    if (e instanceof URIError) return "rejected";
    throw e;
  }
}"""
context = quickjs.Context()
function = context.eval(PROGRAM)


def decode(data):
    answer = function("".join("%%%02X" % byte for byte in data))
    return (0, -1, -1, None) if answer == "rejected" else (1, -1, -1, bytes.fromhex(answer))


print("utfuzz 1 frames", "package=quickjs", "version=" + importlib.metadata.version("quickjs"), sep="\n")
print("environment=CPython " + platform.python_version())
print("name=quickjs-decodeuricomponent", "answers=verdict output", "output=utf-16le", sep="\n")
print("contract=rfc3629 no-output incomplete-is-error", "source=https://tc39.es/ecma262/#sec-decode", "", sep="\n", flush=True)
read, write = sys.stdin.buffer.read, sys.stdout.buffer
while size := read(4):
    body, at, replies = read(int.from_bytes(size, "little")), 0, []
    while at < len(body):
        _, _, length = struct.unpack_from("<BII", body, at)
        at += 9 + length
        try:
            answer = decode(body[at - length : at])
        except Exception as e:
            answer = 4, -1, -1, repr(e).encode()
        text = answer[3]
        replies.append(struct.pack("<Biii", *answer[:3], -1 if text is None else len(text)) + (text or b""))
    reply = b"".join(replies)
    write.write(struct.pack("<I", len(reply)) + reply)
    write.flush()
