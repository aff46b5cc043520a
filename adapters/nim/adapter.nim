# Nim's decoders: unicode.validateUtf8, runes and their iterators, and std/json. A Rune may be anything up to 32 bits,
# so that output is UTF-32 where runes are asked for.
import std/[unicode, json, os]

type
  Answer = tuple[verdict, offset, length: int, states: bool, text: string]
  Entry = tuple[name, lineage, answers: string, run: proc (s: string): Answer {.nimcall.}]

const site = "source=https://nim-lang.org/docs/unicode.html#"

proc put(to: var string, number: int) =
  var n = cast[uint32](int32(number))
  for _ in 0 ..< 4:
    to.add char(n and 255)
    n = n shr 8
proc get(s: string, at: int): int =
  for i in countdown(3, 0): result = result * 256 + s[at + i].int
proc output(runes: openArray[Rune]): Answer =
  result = (2, -1, -1, true, "")
  for r in runes: result.text.put(r.int)
proc held(s: string): bool =
  for c in s:
    if c < ' ' or c == '"' or c == '\\': return false
  true

proc entry(name, lineage, answers: string, run: proc (s: string): Answer {.nimcall.}): Entry = (name, lineage, answers, run)
let entries = @[
  entry("nim-validateutf8", "nim-unicode", "verdict offset\ncontract=rfc3629 no-output incomplete-is-error\n" & site & "validateUtf8,string",
    proc (s: string): Answer =
      let at = validateUtf8(s)
      if at < 0: (1, -1, -1, false, "") else: (0, at, -1, false, "")),
  entry("nim-torunes", "nim-unicode", "output\noutput=utf-32le", proc (s: string): Answer = output(s.toRunes)),
  entry("nim-runeat", "nim-unicode", "output\noutput=utf-32le",
    proc (s: string): Answer =
      var runes: seq[Rune]
      var at = 0
      while at < s.len:
        runes.add s.runeAt(at)
        at += s.runeLenAt(at)
      output(runes)),
  entry("nim-fastruneat-checked", "nim-unicode", "output\noutput=utf-32le",
    proc (s: string): Answer =
      var runes: seq[Rune]
      var at = 0
      while at < s.len:
        var r: Rune
        fastRuneAt(s, at, r, true)
        runes.add r
      output(runes)),
  entry("nim-json", "nim-json", "verdict output",
    proc (s: string): Answer =
      if not held(s): return (3, -1, -1, true, "a JSON string cannot hold this")
      try: (1, -1, -1, true, parseJson("\"" & s & "\"").getStr)
      except JsonParsingError: (0, -1, -1, false, ""))]

proc main(name: string) =
  stdout.write "utfuzz 1 frames\npackage=nim\nversion=", NimVersion, "\n"
  var run: proc (s: string): Answer {.nimcall.}
  for e in entries:
    if name == "" or name == e.name:
      stdout.write "name=", e.name, "\nlineage=", e.lineage, "\nanswers=", e.answers, "\n"
      run = e.run
  stdout.write "\n"
  stdout.flushFile
  var size = newString(4)
  while stdin.readChars(toOpenArray(size, 0, 3)) == 4:
    var body = newString(size.get(0))
    if body.len > 0: discard stdin.readChars(toOpenArray(body, 0, body.high))
    var at = 0
    var reply = ""
    while at < body.len:
      let length = body.get(at + 5)
      var a: Answer
      try: a = run(body[at + 9 ..< at + 9 + length])
      except CatchableError, Defect: a = (4, -1, -1, true, getCurrentExceptionMsg())
      at += 9 + length
      reply.add char(a.verdict)
      reply.put a.offset
      reply.put a.length
      reply.put(if a.states: a.text.len else: -1)
      reply.add a.text
    var head = ""
    head.put reply.len
    stdout.write head, reply
    stdout.flushFile

main(if paramCount() > 0: paramStr(1) else: "")
