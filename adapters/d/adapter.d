// The decoders of D: std.utf, std.encoding, the foreach loop of the language, and std.json. Output is UTF-32, because
// a dchar can be anything.
import std.stdio, std.utf;
import std.typecons : Yes;
static import std.encoding, std.json;
import core.exception : UnicodeException;

struct Answer { ubyte verdict; int offset, length; immutable(ubyte)[] text; bool states; }
struct Entry { string name, lineage, answers; Answer function(string) run; }
enum site = "https://dlang.org/phobos/";
enum strict = "\ncontract=rfc3629 no-output incomplete-is-error\nsource=" ~ site;

Answer verdict(bool good) { return Answer(good ? 1 : 0, -1, -1, null); }
// Text in UTF-32, or, where a function returns UTF-8, its bytes as they are.
Answer output(T)(immutable(T)[] text, ubyte verdict = 2) { return Answer(verdict, -1, -1, text.length ? cast(immutable(ubyte)[]) text : [], true); }

immutable Entry[] entries = [
    Entry("d-utf-validate", "phobos-utf", "verdict" ~ strict ~ "std_utf.html#validate", (s) { validate(s); return verdict(true); }),
    Entry("d-utf-decode", "phobos-utf", "verdict offset output" ~ strict ~ "std_utf.html#decode", (s) {
        dstring text = ""; size_t at = 0;
        while (at < s.length) {
            immutable before = at;
            try text ~= decode(s, at); catch (UTFException) return Answer(0, cast(int) before, -1, null);
        }
        return output(text, 1);
    }),
    Entry("d-utf-decode-replacement", "phobos-utf", "output", (s) {
        dstring text = ""; size_t at = 0;
        while (at < s.length) text ~= decode!(Yes.useReplacementDchar)(s, at);
        return output(text);
    }),
    Entry("d-utf-decodeback", "phobos-utf", "verdict output" ~ strict ~ "std_utf.html#decodeBack", (s) {
        dstring text = "";
        while (s.length) text = [decodeBack(s)].idup ~ text;
        return output(text, 1);
    }),
    Entry("d-utf-bydchar", "phobos-utf", "output", (s) { dstring text = ""; foreach (c; s.byDchar) text ~= c; return output(text); }),
    Entry("d-utf-toutf32", "phobos-utf", "output", (s) => output(toUTF32(s))),
    Entry("d-range", "phobos-utf", "verdict output", (s) {       // what ranges make of a string
        import std.range : empty, front, popFront; import std.algorithm : map;
        dstring text = ""; foreach (c; s.map!(c => c)) text ~= c; return output(text, 1);
    }),
    Entry("d-foreach", "druntime", "verdict output", (s) { dstring text = ""; foreach (dchar c; s) text ~= c; return output(text, 1); }),
    Entry("d-foreach-reverse", "druntime", "verdict output", (s) { dstring text = ""; foreach_reverse (dchar c; s) text = [c].idup ~ text; return output(text, 1); }),
    Entry("d-encoding-isvalid", "phobos-encoding", "verdict" ~ strict ~ "std_encoding.html#isValid", (s) => verdict(std.encoding.isValid(s))),
    Entry("d-encoding-validlength", "phobos-encoding", "verdict offset" ~ strict ~ "std_encoding.html#validLength", (s) {
        immutable good = std.encoding.validLength(s);
        return good == s.length ? verdict(true) : Answer(0, cast(int) good, -1, null);
    }),
    Entry("d-encoding-sanitize", "phobos-encoding", "output\noutput=utf-8", (s) => output(std.encoding.sanitize(s))),
    Entry("d-encoding-safedecode", "phobos-encoding", "output", (s) {
        dstring text = "";
        while (s.length) { immutable c = std.encoding.safeDecode(s); text ~= c == std.encoding.INVALID_SEQUENCE ? '\uFFFD' : c; }
        return output(text);
    }),
    Entry("d-json", "phobos-json", "verdict output\noutput=utf-8", (s) {
        foreach (c; cast(immutable(ubyte)[]) s) if (c < ' ' || c == '"' || c == '\\') return output("a JSON string cannot hold this", 3);
        return output(std.json.parseJSON("\"" ~ s ~ "\"").str, 1);
    }),
];

Answer ask(const Entry entry, string bytes) {
    try return entry.run(bytes);
    catch (UTFException) return verdict(false);
    catch (UnicodeException) return verdict(false);
    catch (std.json.JSONException) return verdict(false);
    catch (std.encoding.EncodingException) return verdict(false);
    catch (Throwable other) return output(typeid(other).name ~ ": " ~ other.msg, 4);
}
void main(string[] arguments) {
    const(Entry)[] wanted;
    foreach (entry; entries) if (arguments.length < 2 || arguments[1] == entry.name) wanted ~= entry;
    import std.compiler;
    writef("utfuzz 1 frames\npackage=d\nversion=%s %s, D %d.%03d\noutput=utf-32le\n", name, vendor, version_major, version_minor);
    foreach (entry; wanted) writef("name=%s\nlineage=%s\nanswers=%s\n", entry.name, entry.lineage, entry.answers);
    write("\n"); stdout.flush();
    uint[1] size;
    while (stdin.rawRead(size[]).length == 1) {
        auto body_ = new ubyte[size[0]];
        if (size[0]) stdin.rawRead(body_);
        ubyte[] reply;
        void number(int n) { reply ~= cast(ubyte) n; reply ~= cast(ubyte)(n >> 8); reply ~= cast(ubyte)(n >> 16); reply ~= cast(ubyte)(n >> 24); }
        while (body_.length) {
            immutable length = *cast(uint*) &body_[5];
            auto answer = ask(wanted[0], cast(string) body_[9 .. 9 + length].idup);
            body_ = body_[9 + length .. $];
            reply ~= answer.verdict; number(answer.offset); number(answer.length);
            number(answer.states ? cast(int) answer.text.length : -1);
            reply ~= answer.text;
        }
        size[0] = cast(uint) reply.length;
        stdout.rawWrite(size[]); stdout.rawWrite(reply); stdout.flush();
    }
}
