"""An adapter for the decoders in packages of PyPI. What cannot be imported is left out of the greeting."""

import importlib, importlib.metadata, io, os, platform, re, struct, sys

STRICT = "rfc3629 no-output incomplete-is-error"
LOSSY = "rfc3629 U+FFFD incomplete-is-error"  # "replaced by U+FFFD", but it does not say how many


def utf_8(text):  # Lone surrogates, which Python's strings may hold, are written as three bytes each.
    return text.encode("utf-8", "surrogatepass")


def strict(decode, *errors):
    """One of these errors says that the input is ill-formed; any other is a failure."""

    def ask(data):
        try:
            text = decode(data)
        except errors:
            return 0, -1, -1, None
        return 1, -1, -1, None if text is None else utf_8(text)

    return ask, None


def lossy(decode):
    return lambda data: (2, -1, -1, utf_8(decode(data))), None


def unless(pattern, decoder):
    """Some bytes would end or change the literal that holds the input, or are not allowed in it for another reason."""
    search, ask = re.compile(pattern).search, decoder[0]
    return lambda data: (3, -1, -1, b"the literal cannot hold this") if search(data) else ask(data), None


def quoted(load, *errors):
    return unless(rb'[\0-\x1f"\\]', strict(lambda data: load(b'"' + data + b'"'), *errors))


def header(short, limit, one, four):
    """The shortest header of a string in CBOR and in MessagePack."""

    def add(data):
        n = len(data)
        return (bytes([short + n]) if n < limit else bytes([one, n]) if n < 256 else bytes([four]) + n.to_bytes(4, "big")) + data

    return add


cbor, msgpack = header(0x60, 24, 0x78, 0x7A), header(0xA0, 32, 0xD9, 0xDB)


def varint(n):
    return bytes([n]) if n < 128 else bytes([n % 128 | 128]) + varint(n // 128)


def bson(data):
    return struct.pack("<IB2sI", len(data) + 13, 2, b"a\0", len(data) + 1) + data + b"\0\0"


def protobuf(m):
    from google.protobuf import wrappers_pb2, message

    return strict(lambda data: wrappers_pb2.StringValue.FromString(b"\x0a" + varint(len(data)) + data).value, message.DecodeError)


def arrow(m):
    def validate(data):
        buffers = [None, m.py_buffer(struct.pack("<ii", 0, len(data))), m.py_buffer(data)]
        m.Array.from_buffers(m.utf8(), 1, buffers).validate(full=True)

    return strict(validate, m.ArrowInvalid)


def csv(decoder):
    """A table with one column and one row, with a separator that the input does not have."""
    return unless(rb'[\r\n\x01"]', decoder)


def polars_csv(encoding, make):
    def load(m, data):
        table = b"a\n" + data + b"\n"
        options = dict(separator="\x01", quote_char=None, schema={"a": m.String}, empty_string_is_null=False)
        return m.read_csv(table, encoding=encoding, **options)["a"][0]

    return lambda m: csv(make(m, lambda data: load(m, data)))


def arrow_csv(m):
    parse = m.ParseOptions(delimiter="\x01", quote_char=False, ignore_empty_lines=False)
    convert = m.ConvertOptions(column_types={"a": "string"}, check_utf8=True)

    def load(data):
        return m.read_csv(io.BytesIO(b"a\n" + data + b"\n"), parse_options=parse, convert_options=convert)["a"][0].as_py()

    return csv(strict(load, ValueError))


class Validator:
    """The interface of Autobahn's validator: `validate` says whether the input is valid so far, and where it ends."""

    def __init__(self, new):
        self.validator = new()
        self.finish()

    def push(self, data):
        valid, self.complete, *_ = self.validator.validate(data)
        self.valid = self.valid and valid
        return 2 if valid else 0, -1, -1, None

    def finish(self):
        verdict = getattr(self, "valid", True) and getattr(self, "complete", True)
        self.validator.reset()
        self.valid = self.complete = True
        return int(verdict), -1, -1, None


def validator(new):
    def ask(data):
        v = new()
        valid, complete, *_ = v.validate(data)
        return int(valid and complete), -1, -1, None

    return ask, lambda: Validator(new)


def autobahn(m):
    os.environ["AUTOBAHN_USE_NVX"] = "0"
    return validator(importlib.import_module("autobahn.websocket.utf8validator").Utf8Validator)


class WebEncodings:
    def __init__(self, m):
        self.new = lambda: m.IncrementalDecoder("utf-8")
        self.decoder = self.new()

    def push(self, data):
        return 2, -1, -1, utf_8(self.decoder.decode(data))

    def finish(self):
        text, self.decoder = self.decoder.decode(b"", final=True), self.new()
        return 2, -1, -1, utf_8(text)


def qt_stream(m):
    def decode(data):
        buffer = m.QBuffer()
        buffer.setData(data)
        buffer.open(m.QIODevice.OpenModeFlag.ReadOnly)
        stream = m.QTextStream(buffer)
        stream.setEncoding(m.QStringConverter.Encoding.Utf8)
        stream.setAutoDetectUnicode(False)
        return stream.readAll()

    return lossy(decode)


def qt_json(m):
    def decode(data):
        error = m.QJsonParseError()
        document = m.QJsonDocument.fromJson(m.QByteArray(b'["' + data + b'"]'), error)
        if error.error != m.QJsonParseError.ParseError.NoError:
            raise ValueError(error.errorString())
        return document.array().first().toString()

    return unless(rb'[\0-\x1f"\\]', strict(decode, ValueError))


def percent(data):
    return b"".join(b"%%%02X" % byte for byte in data)


def xml(m):
    # XML has no control characters and no U+FFFE and U+FFFF; it translates line ends, and < & begin something else.
    load = lambda data: m.fromstring(b'<?xml version="1.0" encoding="UTF-8"?><a>' + data + b"</a>").text or ""
    return unless(rb"[\0-\x08\x0b-\x1f<&]|]]>|\xef\xbf[\xbe\xbf]", strict(load, m.XMLSyntaxError))


def yaml(loader):
    # In double quotes, YAML translates line ends and white space, and it forbids what it calls unprintable.
    def make(m):
        load = lambda data: m.load(b'"' + data + b'"', getattr(m, loader))
        return unless(rb'[\0-\x20"\\\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbf[\xbe\xbf]|\xef\xbb\xbf', strict(load, m.YAMLError))

    return make


PB, AUTOBAHN = "https://protobuf.dev/programming-guides/proto3/#scalar", "https://autobahn.readthedocs.io/en/latest/reference/autobahn.websocket.html"
POLARS = "https://docs.pola.rs/api/python/stable/reference/api/polars.read_csv.html"
# Name, package, module, lineage or None for its own, answers, contract, source, and what makes a decoder and a stream.
ENTRIES = [
    ("orjson-loads", "orjson", "orjson", "core::str", "verdict output", STRICT, "https://github.com/ijl/orjson#deserialize", lambda m: quoted(m.loads, m.JSONDecodeError)),
    ("msgspec-json-decode", "msgspec", "msgspec", "cpython", "verdict output", "", "https://jcristharif.com/msgspec/", lambda m: quoted(m.json.decode, m.DecodeError, UnicodeDecodeError)),
    ("msgspec-msgpack-decode", "msgspec", "msgspec", "cpython", "verdict output", "", "https://jcristharif.com/msgspec/", lambda m: strict(lambda data: m.msgpack.decode(msgpack(data)), m.DecodeError, UnicodeDecodeError)),
    ("msgpack-unpackb", "msgpack", "msgpack", "cpython", "verdict output", STRICT, "https://msgpack-python.readthedocs.io/en/latest/api.html#msgpack.Unpacker", lambda m: strict(lambda data: m.unpackb(msgpack(data)), UnicodeDecodeError)),
    ("msgpack-unpackb-replace", "msgpack", "msgpack", "cpython", "output", LOSSY, "https://msgpack-python.readthedocs.io/en/latest/api.html#msgpack.Unpacker", lambda m: lossy(lambda data: m.unpackb(msgpack(data), unicode_errors="replace"))),
    ("ormsgpack-unpackb", "ormsgpack", "ormsgpack", None, "verdict output", "", "https://github.com/aviramha/ormsgpack#deserialize", lambda m: strict(lambda data: m.unpackb(msgpack(data)), m.MsgpackDecodeError)),
    ("rapidjson-loads", "python-rapidjson", "rapidjson", "cpython", "verdict output", "", "https://python-rapidjson.readthedocs.io/en/latest/loads.html", lambda m: quoted(m.loads, UnicodeDecodeError, m.JSONDecodeError)),
    ("simdjson-parse", "pysimdjson", "simdjson", None, "verdict output", STRICT, "https://github.com/simdjson/simdjson#readme", lambda m: quoted(lambda data: m.Parser().parse(data), UnicodeDecodeError)),
    ("yyjson-document", "yyjson", "yyjson", None, "verdict output", STRICT, "https://github.com/ibireme/yyjson#features", lambda m: quoted(lambda data: m.Document(data).as_obj, ValueError)),
    ("ujson-loads", "ujson", "ujson", None, "verdict output", "", "https://github.com/ultrajson/ultrajson#readme", lambda m: quoted(m.loads, m.JSONDecodeError)),
    ("simplejson-loads", "simplejson", "simplejson", "cpython", "verdict output", STRICT, "https://simplejson.readthedocs.io/en/latest/#simplejson.loads", lambda m: quoted(m.loads, UnicodeDecodeError, m.JSONDecodeError)),
    ("cbor2-loads", "cbor2", "cbor2", "cpython", "verdict output", STRICT, "https://cbor2.readthedocs.io/en/latest/api.html#cbor2.CBORDecoder", lambda m: strict(lambda data: m.loads(cbor(data)), m.CBORDecodeError)),
    ("cbor2-loads-replace", "cbor2", "cbor2", "cpython", "output", LOSSY, "https://cbor2.readthedocs.io/en/latest/api.html#cbor2.CBORDecoder", lambda m: lossy(lambda data: m.loads(cbor(data), str_errors="replace"))),
    ("protobuf-stringvalue", "protobuf", "google.protobuf", "upb", "verdict output", STRICT, PB, protobuf),
    ("arrow-validate", "pyarrow", "pyarrow", None, "verdict", STRICT, "https://arrow.apache.org/docs/python/generated/pyarrow.Array.html#pyarrow.Array.validate", arrow),
    ("arrow-cast", "pyarrow", "pyarrow", None, "verdict output", STRICT, "https://arrow.apache.org/docs/python/generated/pyarrow.compute.CastOptions.html", lambda m: strict(lambda data: m.array([data], m.binary()).cast(m.string())[0].as_py(), m.ArrowInvalid)),
    ("polars-cast", "polars", "polars", "core::str", "verdict output", STRICT, "https://docs.pola.rs/api/python/stable/reference/api/polars.datatypes.String.html", lambda m: strict(lambda data: m.Series([data], dtype=m.Binary).cast(m.String)[0], m.exceptions.PolarsError)),
    ("arrow-csv", "pyarrow", "pyarrow.csv", None, "verdict output", STRICT, "https://arrow.apache.org/docs/python/generated/pyarrow.csv.ConvertOptions.html", arrow_csv),
    ("polars-csv", "polars", "polars", "core::str", "verdict output", STRICT, POLARS, polars_csv("utf8", lambda m, load: strict(load, m.exceptions.PolarsError))),
    ("polars-csv-lossy", "polars", "polars", "core::str", "output", LOSSY, POLARS, polars_csv("utf8-lossy", lambda m, load: lossy(load))),
    ("wsaccel-utf8validator", "wsaccel", "wsaccel.utf8validator", None, "verdict stream", STRICT, AUTOBAHN, lambda m: validator(m.Utf8Validator)),
    ("autobahn-utf8validator", "autobahn", "autobahn.websocket.utf8validator", None, "verdict stream", STRICT, AUTOBAHN, lambda m: validator(m.Utf8Validator)),
    ("autobahn-utf8validator-python", "autobahn", "sys", None, "verdict stream", STRICT, AUTOBAHN, autobahn),
    ("pymongo-bson-decode", "pymongo", "bson", "cpython", "verdict output", STRICT, "https://pymongo.readthedocs.io/en/stable/api/bson/codec_options.html", lambda m: strict(lambda data: m.decode(bson(data))["a"], m.errors.InvalidBSON)),
    ("pymongo-bson-decode-replace", "pymongo", "bson", "cpython", "output", LOSSY, "https://pymongo.readthedocs.io/en/stable/api/bson/codec_options.html", lambda m: lossy(lambda data, o=m.codec_options.CodecOptions(unicode_decode_error_handler="replace"): m.decode(bson(data), o)["a"])),
    ("pydantic-core-from-json", "pydantic_core", "pydantic_core", None, "verdict output", "", "https://docs.pydantic.dev/latest/api/pydantic_core/#pydantic_core.from_json", lambda m: quoted(m.from_json, ValueError)),
    ("pydantic-core-str", "pydantic_core", "pydantic_core", None, "verdict output", "", "https://docs.pydantic.dev/latest/concepts/conversion_table/", lambda m: strict(m.SchemaValidator({"type": "str"}).validate_python, m.ValidationError)),
    ("libyaml-load", "pyyaml", "yaml", "libyaml", "verdict output", STRICT, "https://yaml.org/spec/1.1/#id868742", yaml("CSafeLoader")),
    ("pyyaml-load", "pyyaml", "yaml", "cpython", "verdict output", STRICT, "https://yaml.org/spec/1.1/#id868742", yaml("SafeLoader")),
    ("lxml-fromstring", "lxml", "lxml.etree", "libxml2", "verdict output", STRICT, "https://www.w3.org/TR/xml/#charencoding", xml),
    ("webencodings-decode", "webencodings", "webencodings", "cpython", "output stream", "rfc3629 maximal-subpart U+FFFD incomplete-is-error bom-stripped", "https://pythonhosted.org/webencodings/", lambda m: (lossy(lambda data: m.decode(data, "utf-8")[0])[0], lambda: WebEncodings(m))),
    ("qt-isvalidutf8", "PySide6_Essentials", "PySide6.QtCore", "qt", "verdict", STRICT, "https://doc.qt.io/qt-6/qbytearray.html#isValidUtf8", lambda m: (lambda data: (int(m.QByteArray(data).isValidUtf8()), -1, -1, None), None)),
    ("qt-qtextstream", "PySide6_Essentials", "PySide6.QtCore", "qt", "output", "", "https://doc.qt.io/qt-6/qtextstream.html#setEncoding", qt_stream),
    ("qt-frompercentencoding", "PySide6_Essentials", "PySide6.QtCore", "qt", "output", "", "https://doc.qt.io/qt-6/qurl.html#fromPercentEncoding", lambda m: lossy(lambda data: m.QUrl.fromPercentEncoding(m.QByteArray(percent(data))))),
    ("qt-json", "PySide6_Essentials", "PySide6.QtCore", "qt", "verdict output", STRICT, "https://doc.qt.io/qt-6/qjsonparseerror.html#ParseError-enum", qt_json),
]


def greet():
    print("utfuzz 1 frames", "environment=CPython " + platform.python_version(), sep="\n")
    decoder = None
    for name, package, module, lineage, answers, contract, source, make in ENTRIES:
        if len(sys.argv) > 1 and sys.argv[1] != name:
            continue
        try:
            decoder = make(importlib.import_module(module))
        except (ImportError, AttributeError) as e:
            print(name, "is left out:", e, file=sys.stderr)
            continue
        said = {"package": package, "version": importlib.metadata.version(package), "lineage": lineage, "answers": answers}
        said.update(contract=contract, source=source)
        print("name=" + name, *("%s=%s" % pair for pair in said.items() if pair[1]), sep="\n")
    print(flush=True)
    return decoder


def main():
    decode, new = greet()
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
            except BaseException as e:  # also what a panic in Rust becomes
                answer = 4, -1, -1, repr(e).encode("utf-8", "replace")
            verdict, offset, length, text = answer
            replies.append(struct.pack("<Biii", verdict, offset, length, -1 if text is None else len(text)) + (text or b""))
        reply = b"".join(replies)
        write.write(struct.pack("<I", len(reply)) + reply)
        write.flush()


main()
