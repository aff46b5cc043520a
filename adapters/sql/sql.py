"""An adapter for query engines that run in the process: DuckDB, ClickHouse and SQLite. A batch is one query if it can be."""

import platform, re, struct, sys

STRICT = "rfc3629 no-output incomplete-is-error"


def duckdb(function, fails):
    import duckdb

    connection = duckdb.connect()
    query = "select %s from (select unnest(?::blob[]) as b, generate_subscripts(?::blob[], 1) as i) order by i" % function

    def ask(batch):
        rows = connection.execute(query, [batch, batch]).fetchall()
        return [(0, -1, -1, None) if text is None else (int(fails) or 2, -1, -1, text) for (text,) in rows]

    return duckdb.__version__, ask


def clickhouse(function):
    import chdb

    session = chdb.connect(":memory:")

    def ask(batch):
        values = ",".join("('%s')" % data.hex() for data in batch)
        query = "select hex(%s) from values('h String', %s)" % (function % "unhex(h)", values)
        rows = str(session.query(query + " settings max_query_size = 1000000000", "TSV")).split("\n")[: len(batch)]
        return [bytes.fromhex(row) for row in rows]

    return str(session.query("select version()", "TSV")).strip(), ask


def valid(engine):
    version, ask = engine
    return version, lambda batch: [(int(answer != b"\0"), -1, -1, None) for answer in ask(batch)]


def repaired(engine):
    version, ask = engine
    return version, lambda batch: [(2, -1, -1, answer) for answer in ask(batch)]


def sqlite(module):
    if module == "apsw":
        import apsw

        version, execute = apsw.sqlite_lib_version(), apsw.Connection(":memory:").cursor().execute
    else:
        import sqlite3

        version, execute = sqlite3.sqlite_version, sqlite3.connect(":memory:").execute

    def one(data):  # SQLite's text ends at its first NUL, by its documentation.
        if b"\0" in data:
            return 3, -1, -1, b"the text would end at the NUL"
        ((length,),) = execute("select length(cast(? as text))", (data,)).fetchall()
        points = [execute("select unicode(substr(cast(? as text), ?, 1))", (data, i + 1)).fetchall()[0][0] for i in range(length)]
        try:
            return 2, -1, -1, b"".join(struct.pack("<I", point) for point in points)
        except struct.error:
            return 4, -1, -1, b"unicode() is not an unsigned number of 32 bits: %d" % min(points)

    return version, lambda batch: [one(data) for data in batch]


DUCKDB = "https://duckdb.org/docs/stable/sql/functions/blob#decodeblob"
CLICKHOUSE = "https://clickhouse.com/docs/sql-reference/functions/string-functions#"
# Name, package, answers, form of the output, contract, source, and what opens the engine.
ENTRIES = [
    ("duckdb-decode", "duckdb", "verdict output", "utf-8", STRICT, DUCKDB, lambda: duckdb("encode(try(decode(b)))", True)),
    ("duckdb-decode-ignore", "duckdb", "output", "utf-8", "rfc3629 drop incomplete-is-error", DUCKDB, lambda: duckdb("encode(decode(b, 'ignore'))", False)),
    ("duckdb-decode-replace", "duckdb", "output", "utf-8", "", DUCKDB, lambda: duckdb("encode(decode(b, 'replace'))", False)),
    ("clickhouse-isvalidutf8", "clickhouse", "verdict", "utf-8", STRICT, CLICKHOUSE + "isValidUTF8", lambda: valid(clickhouse("char(isValidUTF8(%s))"))),
    ("clickhouse-tovalidutf8", "clickhouse", "output", "utf-8", "rfc3629 run U+FFFD incomplete-is-error", CLICKHOUSE + "toValidUTF8", lambda: repaired(clickhouse("toValidUTF8(%s)"))),
    ("sqlite-unicode", "sqlite", "output", "utf-32le", "", "https://sqlite.org/invalidutf.html", lambda: sqlite("apsw")),
    ("sqlite%s-unicode", "sqlite", "output", "utf-32le", "", "https://sqlite.org/invalidutf.html", lambda: sqlite("sqlite3")),
]


def greet():
    print("utfuzz 1 frames", "environment=CPython " + platform.python_version(), sep="\n")
    engine = None
    for name, package, answers, output, contract, source, start in ENTRIES:
        if len(sys.argv) > 1 and not re.fullmatch(name.replace("%s", r"[\d.]+"), sys.argv[1]):
            continue
        try:
            version, engine = start()
        except ImportError as e:
            print(name, "is left out:", e, file=sys.stderr)
            continue
        name = name.replace("%s", ".".join(version.split(".")[:2]))
        said = {"package": package, "version": version, "answers": answers, "output": output, "contract": contract, "source": source}
        print("name=" + name, *("%s=%s" % pair for pair in said.items() if pair[1]), sep="\n")
    print(flush=True)
    return engine


def main():
    ask = greet()
    read, write = sys.stdin.buffer.read, sys.stdout.buffer
    while size := read(4):
        body, at, batch = read(int.from_bytes(size, "little")), 0, []
        while at < len(body):
            _, _, length = struct.unpack_from("<BII", body, at)
            at += 9 + length
            batch.append(body[at - length : at])
        try:
            answers = ask(batch) if batch else []
        except Exception as e:
            answers = [(4, -1, -1, repr(e).encode("utf-8", "replace"))] * len(batch)
        reply = b"".join(struct.pack("<Biii", v, o, l, -1 if text is None else len(text)) + (text or b"") for v, o, l, text in answers)
        write.write(struct.pack("<I", len(reply)) + reply)
        write.flush()


main()
