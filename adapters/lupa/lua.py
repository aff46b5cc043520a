"""An adapter for the utf8 library of several versions of Lua, which run in the process. The decoders are in decoders.lua."""

import importlib, importlib.metadata, platform, struct, sys

STRICT, LAX = "rfc3629 no-output incomplete-is-error", "rfc2279 no-output incomplete-is-error"
VERSIONS = ("lua53", "lua54", "lua55")
FUNCTIONS = {"len": "verdict offset", "codes": "verdict output", "codepoint": "verdict output"}


def entries():
    for module in VERSIONS:
        try:
            runtime = importlib.import_module("lupa." + module).LuaRuntime(encoding=None)
        except ImportError:
            continue
        version = runtime.eval("_VERSION").decode().removeprefix("Lua ")
        with open("decoders.lua", "rb") as file:
            decoders = runtime.execute(file.read())
        for function, answers in FUNCTIONS.items():
            for suffix, contract in ("", STRICT), ("-lax", LAX):
                if version == "5.3" and suffix:
                    continue  # 5.3 has no such argument
                said = {"name": "lupa%s-%s%s" % (version, function, suffix), "version": version, "answers": answers}
                said["contract"] = "" if version == "5.3" else contract  # its manual does not say what it rejects
                said["source"] = "https://www.lua.org/manual/%s/manual.html#6.5" % version
                yield said, decoders[(function + suffix).encode()]


def main():
    print("utfuzz 1 frames", "package=lua", "output=utf-32le", sep="\n")
    print("environment=lupa %s, CPython %s" % (importlib.metadata.version("lupa"), platform.python_version()))
    for said, function in entries():
        if len(sys.argv) < 2 or sys.argv[1] == said["name"]:
            print(*("%s=%s" % pair for pair in said.items() if pair[1]), sep="\n")
            decode = function
    print(flush=True)
    read, write = sys.stdin.buffer.read, sys.stdout.buffer
    while size := read(4):
        body, at, replies = read(int.from_bytes(size, "little")), 0, []
        while at < len(body):
            _, _, length = struct.unpack_from("<BII", body, at)
            at += 9 + length
            try:
                verdict, offset, *text = decode(body[at - length : at])
                text = text[0] if text else None
            except Exception as e:
                verdict, offset, text = 4, -1, repr(e).encode()
            replies.append(struct.pack("<Biii", verdict, offset, -1, -1 if text is None else len(text)) + (text or b""))
        reply = b"".join(replies)
        write.write(struct.pack("<I", len(reply)) + reply)
        write.flush()


main()
