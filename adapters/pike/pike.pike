// Pike's utf8_to_string(), without and with its extension, and its module Charset.
mapping(int:object) streams = ([]);
string points(string text) { return sprintf("%{%-4c%}", (array)text); }
string answer(int verdict, int offset, int length, void|string output) {
  return sprintf("%c%-4c%-4c%-4c%s", verdict, offset, length, output ? sizeof(output) : -1, output || "");
}
string decode(string bytes, int extended) {
  mixed error = catch { return answer(1, -1, -1, points(utf8_to_string(bytes, extended))); };
  int offset = -1;
  sscanf(describe_error(error), "%*sat index %d", offset);
  return answer(0, offset, -1);
}
string charset(int operation, int stream, string bytes) {
  if (operation == 3) { m_delete(streams, stream); return answer(2, -1, -1); }
  object decoder = operation && streams[stream] || Charset.decoder("utf-8");
  if (operation == 1) streams[stream] = decoder;
  mixed error = catch {
    string text = decoder->feed(bytes)->drain();
    if (operation == 2) decoder->clear();  // the next push reuses it
    return answer(2, -1, -1, points(text));
  };
  if (operation == 2) decoder->clear();
  return answer(0, -1, -1);
}
int main(int argc, array(string) argv) {
  mapping(string:string) entries = ([ "pike-utf8": "verdict output\ncontract=rfc3629 no-output incomplete-is-error\nsource=https://pike.lysator.liu.se/generated/manual/modref/ex/predef_3A_3A/utf8_to_string.html",
    "pike-utf8-extended": "verdict offset output", "pike-charset": "output stream" ]);
  string name = argc > 1 && argv[1];
  write("utfuzz 1 frames\npackage=pike\nversion=%s\noutput=utf-32le\n", (version() / " v")[1] - " release");
  foreach (name ? ({ name }) : sort(indices(entries)), string one) write("name=%s\nanswers=%s\n", one, entries[one]);
  write("\n");
  while (sscanf(Stdio.stdin->read(4), "%-4c", int size)) {
    string reply = "", body = Stdio.stdin->read(size);
    while (sscanf(body, "%c%-4c%-4H%s", int operation, int stream, string bytes, body))
      reply += name == "pike-charset" ? charset(operation, stream, bytes) : decode(bytes, name == "pike-utf8-extended");
    write("%-4H", reply);
  }
}
