// The decoders of Java's standard library. Output is UTF-16LE, as Java's strings are, so that lone surrogates are kept.
// The names of the entry points begin with the property "prefix", because two versions of Java run this program.
import java.io.*;
import java.net.*;
import java.nio.*;
import java.nio.charset.*;
import java.util.*;
import static java.nio.charset.StandardCharsets.*;

public class Adapter {
    interface Run { Answer of(byte[] bytes) throws Exception; }
    record Answer(int verdict, int offset, int length, String text) {}
    record Entry(String head, Run run, Charset charset, CodingErrorAction action) {}
    static final Map<String, Entry> ENTRIES = new LinkedHashMap<>();
    static final Map<Integer, Stream> STREAMS = new HashMap<>();
    static final String API = "source=https://docs.oracle.com/en/java/javase/" + Runtime.version().feature() + "/docs/api/java.base/java/";
    static final String STRICT = "contract=rfc3629 no-output incomplete-is-error\n" + API + "nio/charset/Charset.html\n";

    static void entry(String name, String lineage, String answers, String more, Run run) { entry(name, lineage, answers, more, run, null, null); }
    static void entry(String name, String lineage, String answers, String more, Run run, Charset charset, CodingErrorAction action) {
        name = System.getProperty("prefix", "java") + "-" + name;
        ENTRIES.put(name, new Entry("name=" + name + "\nlineage=openjdk-" + lineage + "\nanswers=" + answers + "\n" + more, run, charset, action));
    }
    static Answer output(String text) { return new Answer(2, -1, -1, text); }
    static Answer cannot() { return new Answer(3, -1, -1, "the context cannot hold this"); }

    static Run decoder(Charset charset, CodingErrorAction action, boolean direct) {
        CharsetDecoder decoder = charset.newDecoder().onMalformedInput(action).onUnmappableCharacter(action);
        return bytes -> {
            ByteBuffer in = direct ? ByteBuffer.allocateDirect(bytes.length).put(bytes).flip() : ByteBuffer.wrap(bytes);
            CharBuffer out = direct ? ByteBuffer.allocateDirect(2 * bytes.length + 2).asCharBuffer() : CharBuffer.allocate(bytes.length + 1);
            CoderResult result = decoder.reset().decode(in, out, true);
            if (result.isError()) return new Answer(0, in.position(), result.length(), null);
            decoder.flush(out);
            return new Answer(action == CodingErrorAction.REPORT ? 1 : 2, -1, -1, out.flip().toString());
        };
    }
    static class Stream {                           // what a chunk leaves over belongs to the caller, not to the decoder
        final CharsetDecoder decoder; final CodingErrorAction action; byte[] rest = {}; long before = 0;
        Stream(Entry entry) { action = entry.action; decoder = entry.charset.newDecoder().onMalformedInput(action).onUnmappableCharacter(action); }
        Answer take(byte[] bytes, boolean end) {
            byte[] all = Arrays.copyOf(rest, rest.length + bytes.length);
            System.arraycopy(bytes, 0, all, rest.length, bytes.length);
            ByteBuffer in = ByteBuffer.wrap(all); CharBuffer out = CharBuffer.allocate(all.length + 1);
            CoderResult result = decoder.decode(in, out, end);
            rest = Arrays.copyOfRange(all, in.position(), all.length);
            long at = before + in.position(); before = at;
            if (!result.isError() && end) decoder.flush(out);
            if (end) { decoder.reset(); rest = new byte[0]; before = 0; }
            if (result.isError()) return new Answer(0, (int) at, result.length(), null);
            return new Answer(end && action == CodingErrorAction.REPORT ? 1 : 2, -1, -1, out.flip().toString());
        }
    }
    static String read(Reader reader) throws IOException { StringWriter to = new StringWriter(); reader.transferTo(to); return to.toString(); }
    static String percent(byte[] bytes) { StringBuilder text = new StringBuilder(); for (byte b : bytes) text.append(String.format("%%%02X", b)); return text.toString(); }

    static javax.xml.parsers.DocumentBuilder builder;

    static void entries() {
        for (Object[] kind : new Object[][] {{"", UTF_8, "utf8", STRICT}, {"cesu8-", Charset.forName("CESU-8"), "cesu8",
                "contract=cesu-8 no-output incomplete-is-error\nsource=https://docs.oracle.com/en/java/javase/17/intl/supported-encodings.html\n"}}) {
            String part = (String) kind[0], lineage = (String) kind[2]; Charset charset = (Charset) kind[1];
            entry(part + "string", lineage, "output", "", bytes -> output(new String(bytes, charset)));
            for (CodingErrorAction action : new CodingErrorAction[] {CodingErrorAction.REPORT, CodingErrorAction.REPLACE, CodingErrorAction.IGNORE}) {
                String word = action.toString().toLowerCase(); boolean report = action == CodingErrorAction.REPORT;
                entry(part + "charsetdecoder-" + word, lineage, (report ? "verdict offset output" : "output") + " stream", report ? (String) kind[3] : "",
                        decoder(charset, action, false), charset, action);
                entry(part + "charsetdecoder-" + word + "-direct", lineage, report ? "verdict offset output" : "output", report ? (String) kind[3] : "",
                        decoder(charset, action, true));
            }
            entry(part + "charsetdecoder-length", lineage, "verdict offset length", "", decoder(charset, CodingErrorAction.REPORT, false));
            entry(part + "inputstreamreader", lineage, "output", "", bytes -> output(read(new InputStreamReader(new ByteArrayInputStream(bytes), charset))));
        }
        for (String name : new String[] {"utf-16", "utf-16le", "utf-16be", "utf-32", "utf-32le", "utf-32be"}) {
            Charset charset = Charset.forName(name);
            String lineage = name.substring(0, 6).replace("-", ""), more = "encoding=" + name + "\n" + API + "nio/charset/Charset.html\n";
            entry(name + "-string", lineage, "output", more, bytes -> output(new String(bytes, charset)));
            entry(name + "-charsetdecoder-report", lineage, "verdict offset length output stream", more, decoder(charset, CodingErrorAction.REPORT, false), charset, CodingErrorAction.REPORT);
            entry(name + "-charsetdecoder-replace", lineage, "output stream", more, decoder(charset, CodingErrorAction.REPLACE, false), charset, CodingErrorAction.REPLACE);
        }
        entry("scanner", "utf8", "output", "", bytes -> output(new Scanner(new ByteArrayInputStream(bytes), UTF_8).useDelimiter("\\z").tokens().reduce("", String::concat)));
        entry("urldecoder", "utf8", "output", "", bytes -> output(URLDecoder.decode(percent(bytes), UTF_8)));
        entry("uri-getpath", "utf8", "output", "", bytes -> output(URI.create("a:/" + percent(bytes)).getPath().substring(1)));
        entry("datainput-readutf", "datainput", "verdict output", "", bytes -> {
            if (bytes.length > 65535) return cannot();
            ByteArrayOutputStream to = new ByteArrayOutputStream(); DataOutputStream data = new DataOutputStream(to);
            data.writeShort(bytes.length); data.write(bytes);
            return new Answer(1, -1, -1, new DataInputStream(new ByteArrayInputStream(to.toByteArray())).readUTF());
        });
        entry("objectinput-readutf", "objectinput", "verdict output", "", bytes -> {
            if (bytes.length > 65535) return cannot();
            ByteArrayOutputStream to = new ByteArrayOutputStream(); ObjectOutputStream data = new ObjectOutputStream(to);
            data.writeShort(bytes.length); data.write(bytes); data.flush();
            return new Answer(1, -1, -1, new ObjectInputStream(new ByteArrayInputStream(to.toByteArray())).readUTF());
        });
        entry("xml", "xerces", "verdict output", "", bytes -> {
            String raw = new String(bytes, ISO_8859_1);
            if (raw.matches("(?s).*([\\x00-\\x08\\x0B-\\x1F<>&]|\u00EF\u00BF[\u00BE\u00BF]).*")) return cannot();
            ByteArrayOutputStream to = new ByteArrayOutputStream(); to.write("<a>".getBytes()); to.write(bytes); to.write("</a>".getBytes());
            if (builder == null) builder = javax.xml.parsers.DocumentBuilderFactory.newInstance().newDocumentBuilder();
            builder.setErrorHandler(new org.xml.sax.helpers.DefaultHandler());
            return new Answer(1, -1, -1, builder.parse(new ByteArrayInputStream(to.toByteArray())).getDocumentElement().getTextContent());
        });
    }
    static Answer answer(Entry entry, int operation, int stream, byte[] bytes) {
        try {
            if (operation == 0) return entry.run.of(bytes);
            if (operation == 3) { STREAMS.remove(stream); return output(null); }
            return STREAMS.computeIfAbsent(stream, any -> new Stream(entry)).take(bytes, operation == 2);
        } catch (CharacterCodingException | UTFDataFormatException | org.xml.sax.SAXException rejected) {
            return new Answer(0, -1, -1, null);
        } catch (Throwable other) { return new Answer(4, -1, -1, other.toString()); }
    }
    public static void main(String[] arguments) throws IOException {
        PrintStream stdout = System.out; System.setOut(System.err);
        entries();
        StringBuilder head = new StringBuilder("utfuzz 1 frames\npackage=openjdk\nversion=" + Runtime.version() + "\noutput=utf-16le\n");
        for (String name : arguments.length > 0 ? List.of(arguments[0]) : ENTRIES.keySet()) head.append(ENTRIES.get(name).head);
        Entry entry = ENTRIES.get(arguments.length > 0 ? arguments[0] : ENTRIES.keySet().iterator().next());
        stdout.write(head.append("\n").toString().getBytes(UTF_8)); stdout.flush();
        DataInputStream stdin = new DataInputStream(new BufferedInputStream(System.in));
        for (byte[] number; (number = stdin.readNBytes(4)).length == 4; ) {
            ByteBuffer body = little(stdin.readNBytes(little(number).getInt()));
            ByteArrayOutputStream reply = new ByteArrayOutputStream();
            while (body.hasRemaining()) {
                int operation = body.get(), stream = body.getInt(); byte[] bytes = new byte[body.getInt()]; body.get(bytes);
                Answer answer = answer(entry, operation, stream, bytes);
                byte[] text = answer.text == null ? null : answer.verdict > 2 ? answer.text.getBytes(UTF_8) : units(answer.text);
                reply.write(answer.verdict); number(reply, answer.offset); number(reply, answer.length); number(reply, text == null ? -1 : text.length);
                if (text != null) reply.write(text);
            }
            ByteArrayOutputStream size = new ByteArrayOutputStream(); number(size, reply.size());
            size.writeTo(stdout); reply.writeTo(stdout); stdout.flush();
        }
    }
    static ByteBuffer little(byte[] bytes) { return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN); }
    static void number(ByteArrayOutputStream to, int number) { for (int shift = 0; shift < 32; shift += 8) to.write(number >> shift); }
    static byte[] units(String text) { ByteBuffer to = little(new byte[2 * text.length()]); to.asCharBuffer().put(text); return to.array(); }
}
