// The decoders of .NET: Encoding, Decoder, StreamReader, Uri and, on .NET Core, Utf8, Rune and System.Text.Json.
// Mono runs it too, without the last three. Output is UTF-16LE, as strings of .NET are.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Text;

static class Adapter {
    class Answer { public byte Verdict; public int Offset = -1, Length = -1; public string Text; }
    class Entry { public string Name, Lineage, Answers; public Func<byte[], Answer> Run; public Encoding Stream; }
    class Open { public Decoder Decoder; public long Before; public Answer Rejection; }
    static readonly List<Entry> Entries = new List<Entry>();
    static readonly Dictionary<int, Open> Streams = new Dictionary<int, Open>();
#if CORE
    const string Prefix = "dotnet-", Package = "dotnet", Place = " offset";
    const string Replaces = "\ncontract=rfc3629 maximal-subpart U+FFFD incomplete-is-error\nsource=https://learn.microsoft.com/en-us/dotnet/core/compatibility/3.0";
#else
    const string Prefix = "mono-", Package = "mono", Replaces = "", Place = "";   // the Index of Mono is -1 or less
#endif
    const string Throws = "\ncontract=rfc3629 no-output incomplete-is-error\nsource=https://learn.microsoft.com/en-us/dotnet/api/system.text.utf8encoding.-ctor";
    static readonly Encoding Strict = new UTF8Encoding(false, true), Lossy = new UTF8Encoding(false, false);

    static void Add(string name, string lineage, string answers, Func<byte[], Answer> run, Encoding stream = null) {
        Entries.Add(new Entry { Name = Prefix + name, Lineage = lineage, Answers = answers, Run = run, Stream = stream });
    }
    static Answer Output(string text, byte verdict = 2) { return new Answer { Verdict = verdict, Text = text }; }
    static Answer Rejected(DecoderFallbackException e, long before) { return new Answer { Verdict = 0, Offset = Place == "" ? -1 : (int) (before + e.Index), Length = e.BytesUnknown == null ? -1 : e.BytesUnknown.Length }; }
    static string Percent(byte[] bytes) { return string.Concat(bytes.Select(b => "%" + b.ToString("X2"))); }
    static string Read(byte[] bytes, bool detect) { return new StreamReader(new MemoryStream(bytes), Lossy, detect).ReadToEnd(); }

    static void Fill() {
        string own = Package + "-utf8";
        Add("utf8-throw", own, "verdict" + Place + " output stream" + Throws, b => Output(Strict.GetString(b), 1), Strict);
        Add("utf8-throw-length", own, "verdict" + Place + " length", b => Output(Strict.GetString(b), 1));
        Add("utf8-replace", own, "output stream" + Replaces, b => Output(Lossy.GetString(b)), Lossy);
        Add("utf8-getchars", own, "output" + Replaces, b => Output(new string(Lossy.GetChars(b))));
        Add("utf8-drop", own, "output", b => Output(Encoding.GetEncoding("utf-8", EncoderFallback.ExceptionFallback, new DecoderReplacementFallback("")).GetString(b)));
        Add("decoder-convert", own, "output", b => {             // through a buffer of four characters
            var decoder = Lossy.GetDecoder(); var text = new StringBuilder(); var four = new char[4]; int at = 0; bool done = false;
            while (!done || at < b.Length) {
                int used, made; decoder.Convert(b, at, b.Length - at, four, 0, 4, true, out used, out made, out done);
                text.Append(four, 0, made); at += used;
            }
            return Output(text.ToString());
        });
        Add("streamreader", own, "output", b => Output(Read(b, false)));
        Add("streamreader-detect", own, "output", b => b.Length > 1 && (b[0] == 0xFE && b[1] == 0xFF || b[0] == 0xFF && b[1] == 0xFE || b[0] == 0 && b[1] == 0)
            ? Output("this begins like UTF-16 or UTF-32", 3) : Output(Read(b, true)));
        Add("uri-unescapedatastring", own + "-uri", "output", b => Output(Uri.UnescapeDataString(Percent(b))));
        Add("webutility-urldecode", own, "output", b => Output(WebUtility.UrlDecode(Percent(b))));
#if CORE
        Add("utf8-toutf16", own, "verdict offset output" + Throws.Replace("system.text.utf8encoding.-ctor", "system.text.unicode.utf8.toutf16"), b => {
            var to = new char[b.Length + 1]; int read, written;
            var status = System.Text.Unicode.Utf8.ToUtf16(new ReadOnlySpan<byte>(b), new Span<char>(to), out read, out written, false, true);
            return status == System.Buffers.OperationStatus.Done ? Output(new string(to, 0, written), 1) : new Answer { Verdict = 0, Offset = read };
        });
        Add("utf8-toutf16-replace", own, "output" + Replaces, b => {
            var to = new char[b.Length + 1]; int read, written;
            System.Text.Unicode.Utf8.ToUtf16(new ReadOnlySpan<byte>(b), new Span<char>(to), out read, out written, true, true);
            return Output(new string(to, 0, written));
        });
        Add("rune-decodefromutf8", own + "-rune", "verdict offset length output\ncontract=rfc3629 maximal-subpart U+FFFD incomplete-reported\nsource=https://learn.microsoft.com/en-us/dotnet/api/system.text.rune.decodefromutf8", b => {
            var text = new StringBuilder(); Answer first = null;
            for (int at = 0, used; at < b.Length; at += used) {
                Rune rune; var status = Rune.DecodeFromUtf8(new ReadOnlySpan<byte>(b, at, b.Length - at), out rune, out used);
                if (status != System.Buffers.OperationStatus.Done && first == null)
                    first = new Answer { Verdict = 0, Offset = at, Length = status == System.Buffers.OperationStatus.NeedMoreData ? 0 : used };
                text.Append(rune.ToString());
            }
            if (first == null) return Output(text.ToString(), 1);
            first.Text = text.ToString(); return first;
        });
        Add("json", "dotnet-json", "verdict output", b => {
            if (b.Any(c => c < ' ' || c == '"' || c == '\\')) return Output("a JSON string cannot hold this", 3);
            var all = new byte[b.Length + 2]; all[0] = all[b.Length + 1] = (byte) '"'; b.CopyTo(all, 1);
            try { using (var document = System.Text.Json.JsonDocument.Parse(new ReadOnlyMemory<byte>(all))) return Output(document.RootElement.GetString(), 1); }
            catch (InvalidOperationException) { return new Answer { Verdict = 0 }; }
            catch (System.Text.Json.JsonException) { return new Answer { Verdict = 0 }; }
        });
#endif
    }
    static Answer Ask(Entry entry, byte operation, int stream, byte[] bytes) {
        try {
            if (operation == 0) try { return entry.Run(bytes); } catch (DecoderFallbackException e) { return Rejected(e, 0); }
            Open open;
            if (operation == 3) { Streams.Remove(stream); return Output(null); }
            if (!Streams.TryGetValue(stream, out open)) Streams[stream] = open = new Open { Decoder = entry.Stream.GetDecoder() };
            if (open.Rejection != null) { if (operation == 2) Streams.Remove(stream); return open.Rejection; }
            var to = new char[bytes.Length + 8];
            long before = open.Before; open.Before += bytes.Length;
            if (operation == 2) { Streams.Remove(stream); }
            try { return Output(new string(to, 0, open.Decoder.GetChars(bytes, 0, bytes.Length, to, 0, operation == 2)), (byte) (operation == 2 && entry.Stream == Strict ? 1 : 2)); }
            catch (DecoderFallbackException e) { return open.Rejection = Rejected(e, before); }
        } catch (Exception other) { return Output(other.GetType() + ": " + other.Message, 4); }
    }
    static string Version() {
#if CORE
        return System.Runtime.InteropServices.RuntimeInformation.FrameworkDescription;
#else
        var name = Type.GetType("Mono.Runtime").GetMethod("GetDisplayName", System.Reflection.BindingFlags.NonPublic | System.Reflection.BindingFlags.Static);
        return (string) name.Invoke(null, null);
#endif
    }
    static void Main(string[] arguments) {
        Fill();
        Stream stdin = new BufferedStream(Console.OpenStandardInput()), stdout = Console.OpenStandardOutput();
        var serve = Entries.Where(e => arguments.Length == 0 || e.Name == arguments[0]).ToList();
        var head = Encoding.ASCII.GetBytes("utfuzz 1 frames\npackage=" + Package + "\nversion=" + Version() + "\noutput=utf-16le\n"
            + string.Concat(serve.Select(e => "name=" + e.Name + "\nlineage=" + e.Lineage + "\nanswers=" + e.Answers + "\n")) + "\n");
        stdout.Write(head, 0, head.Length); stdout.Flush();
        var reader = new BinaryReader(stdin);
        while (true) {
            byte[] size = reader.ReadBytes(4);
            if (size.Length < 4) return;
            var body = new BinaryReader(new MemoryStream(reader.ReadBytes(BitConverter.ToInt32(size, 0))));
            var reply = new MemoryStream(); var writer = new BinaryWriter(reply); writer.Write(0);
            while (body.BaseStream.Position < body.BaseStream.Length) {
                byte operation = body.ReadByte(); int stream = body.ReadInt32();
                var answer = Ask(serve[0], operation, stream, body.ReadBytes(body.ReadInt32()));
                var text = answer.Text == null ? null : answer.Verdict > 2 ? Encoding.ASCII.GetBytes(answer.Text) : answer.Text.SelectMany(c => new[] { (byte) c, (byte) (c >> 8) }).ToArray();
                writer.Write(answer.Verdict); writer.Write(answer.Offset); writer.Write(answer.Length); writer.Write(text == null ? -1 : text.Length);
                if (text != null) writer.Write(text);
            }
            writer.Flush(); reply.Position = 0; writer.Write((int) reply.Length - 4); writer.Flush();
            stdout.Write(reply.GetBuffer(), 0, (int) reply.Length); stdout.Flush();
        }
    }
}
