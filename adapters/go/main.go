// The ways to read UTF-8 in Go's standard library. The names of the entry points begin with "prefix", which is set
// when this is built, because several versions of Go run it.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	ill, well, unstated, cannot, failed = 0, 1, 2, 3, 4
	perByte                             = "contract=rfc3629 byte U+FFFD incomplete-is-error\nsource=https://"
	strict                              = "contract=rfc3629 no-output incomplete-is-error\nsource=https://"
	full                                = "verdict offset length output"
)

type answer struct {
	verdict, offset, length int
	text                    []byte // nil is none
}
type entry struct {
	name, lineage, answers, more string
	run                          func(b []byte) answer
	stream                       func() func(chunk []byte, end bool) []byte
}

var prefix, jsonLineage = "go", "go-json"
var entries []entry

func add(name, lineage, answers, more string, run func(b []byte) answer) {
	entries = append(entries, entry{name, lineage, answers, more, run, nil})
}
func output(text string) answer { return answer{unstated, -1, -1, []byte(text)} }
func rejected() answer          { return answer{ill, -1, -1, nil} }

// The first error is the first U+FFFD of width 1; it is one byte long.
func decode(next func(at int) (rune, int)) answer {
	text, first := []byte{}, -1
	for at := 0; ; {
		r, width := next(at)
		if width == 0 {
			break
		}
		if r == utf8.RuneError && width == 1 && first < 0 {
			first = at
		}
		text = utf8.AppendRune(text, r)
		at += width
	}
	if first >= 0 {
		return answer{ill, first, 1, text}
	}
	return answer{well, -1, -1, text}
}

func init() {
	add("utf8-valid", "go-utf8", "verdict", strict+"pkg.go.dev/unicode/utf8#Valid", func(b []byte) answer { return verdict(utf8.Valid(b)) })
	add("utf8-validstring", "go-utf8", "verdict", strict+"pkg.go.dev/unicode/utf8#ValidString", func(b []byte) answer { return verdict(utf8.ValidString(string(b))) })
	add("utf8-decoderune", "go-utf8", full, perByte+"pkg.go.dev/unicode/utf8#DecodeRune", func(b []byte) answer {
		return decode(func(at int) (rune, int) { return utf8.DecodeRune(b[at:]) })
	})
	add("utf8-decoderuneinstring", "go-utf8", full, perByte+"pkg.go.dev/unicode/utf8#DecodeRuneInString", func(b []byte) answer {
		s := string(b)
		return decode(func(at int) (rune, int) { return utf8.DecodeRuneInString(s[at:]) })
	})
	add("utf8-decodelastrune", "go-utf8", "output", perByte+"pkg.go.dev/unicode/utf8#DecodeLastRune", func(b []byte) answer {
		back := []rune{}
		for len(b) > 0 {
			r, width := utf8.DecodeLastRune(b)
			back, b = append(back, r), b[:len(b)-width]
		}
		text := []byte{}
		for i := len(back) - 1; i >= 0; i-- {
			text = utf8.AppendRune(text, back[i])
		}
		return answer{unstated, -1, -1, text}
	})
	add("range", "go-runtime", "output", perByte+"go.dev/ref/spec#For_range", func(b []byte) answer {
		text := []byte{}
		for _, r := range string(b) {
			text = utf8.AppendRune(text, r)
		}
		return answer{unstated, -1, -1, text}
	})
	add("rune-slice", "go-runtime", "output", "", func(b []byte) answer { return output(string([]rune(string(b)))) })
	add("bytes-runes", "go-utf8", "output", "", func(b []byte) answer { return output(string(bytes.Runes(b))) })
	add("bytes-readrune", "go-utf8", full, "", func(b []byte) answer { return readRune(bytes.NewReader(b)) })
	add("bytes-buffer-readrune", "go-utf8", full, perByte+"pkg.go.dev/bytes#Buffer.ReadRune", func(b []byte) answer { return readRune(bytes.NewBuffer(b)) })
	add("strings-readrune", "go-utf8", full, "", func(b []byte) answer { return readRune(strings.NewReader(string(b))) })
	add("bufio-readrune", "go-utf8", full, perByte+"pkg.go.dev/bufio#Reader.ReadRune", func(b []byte) answer {
		return readRune(bufio.NewReaderSize(bytes.NewReader(b), 16))
	})
	add("bufio-scanrunes", "go-utf8", "output", perByte+"pkg.go.dev/bufio#ScanRunes", func(b []byte) answer {
		scanner, text := bufio.NewScanner(bytes.NewReader(b)), []byte{}
		for scanner.Split(bufio.ScanRunes); scanner.Scan(); {
			text = append(text, scanner.Bytes()...)
		}
		return answer{unstated, -1, -1, text}
	})
	entries[len(entries)-1].answers = "output stream"
	entries[len(entries)-1].stream = func() func([]byte, bool) []byte {
		rest := []byte{}
		return func(chunk []byte, end bool) []byte {
			text := []byte{}
			for rest = append(rest, chunk...); len(rest) > 0; {
				width, token, _ := bufio.ScanRunes(rest, end)
				if width == 0 {
					break
				}
				text, rest = append(text, token...), rest[width:]
			}
			return text
		}
	}
	add("fmt-sscanf-c", "go-fmt", "output", "", func(b []byte) answer {
		reader, text := strings.NewReader(string(b)), []byte{}
		for {
			var r rune
			if n, err := fmt.Fscanf(reader, "%c", &r); n != 1 || err != nil {
				return answer{unstated, -1, -1, text}
			}
			text = utf8.AppendRune(text, r)
		}
	})
	same := func(r rune) rune { return r }
	add("strings-map", "go-runtime", "output", "", func(b []byte) answer { return output(strings.Map(same, string(b))) })
	add("bytes-map", "go-utf8", "output", "", func(b []byte) answer { return output(string(bytes.Map(same, b))) })
	run := "contract=rfc3629 run U+FFFD incomplete-is-error\nsource=https://pkg.go.dev/"
	add("strings-tovalidutf8", "go-runtime", "output", run+"strings#ToValidUTF8", func(b []byte) answer { return output(strings.ToValidUTF8(string(b), "\uFFFD")) })
	add("bytes-tovalidutf8", "go-utf8", "output", run+"bytes#ToValidUTF8", func(b []byte) answer { return output(string(bytes.ToValidUTF8(b, []byte("\uFFFD")))) })
	add("json-unmarshal", jsonLineage, "output", "", func(b []byte) answer {
		if !inJSON(b) {
			return answer{cannot, -1, -1, []byte("a JSON string cannot hold this")}
		}
		var text string
		if err := json.Unmarshal([]byte("\""+string(b)+"\""), &text); err != nil {
			panic(err)
		}
		return output(text)
	})
	add("json-marshal", jsonLineage, "output", "", func(b []byte) answer { // its escapes are read back by Unmarshal
		var text string
		data, err := json.Marshal(string(b))
		if err == nil {
			err = json.Unmarshal(data, &text)
		}
		if err != nil {
			panic(err)
		}
		return output(text)
	})
	add("xml-unmarshal", "go-xml", "verdict output", "", func(b []byte) answer {
		for i, c := range b {
			if c < ' ' && c != '\t' && c != '\n' || strings.ContainsRune("<>&", rune(c)) || bytes.HasPrefix(b[i:], []byte("\xEF\xBF\xBE")) || bytes.HasPrefix(b[i:], []byte("\xEF\xBF\xBF")) {
				return answer{cannot, -1, -1, []byte("an XML element cannot hold this")}
			}
		}
		var text string
		if err := xml.Unmarshal([]byte("<a>"+string(b)+"</a>"), &text); err != nil {
			return rejected()
		}
		return answer{well, -1, -1, []byte(text)}
	})
}
func verdict(valid bool) answer {
	if valid {
		return answer{well, -1, -1, nil}
	}
	return rejected()
}
func readRune(reader io.RuneReader) answer {
	return decode(func(int) (rune, int) {
		r, width, err := reader.ReadRune()
		if err != nil && err != io.EOF {
			panic(err)
		}
		return r, width
	})
}
func inJSON(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c == '"' || c == '\\' })
}
func ask(run func() answer) (reply answer) {
	defer func() {
		if problem := recover(); problem != nil {
			reply = answer{failed, -1, -1, []byte(fmt.Sprint(problem))}
		}
	}()
	return run()
}
func main() {
	fmt.Printf("utfuzz 1 frames\npackage=go\nversion=%s\n", runtime.Version())
	var serve *entry
	for i := range entries {
		e := &entries[i]
		e.name = prefix + "-" + e.name
		if len(os.Args) < 2 || os.Args[1] == e.name {
			fmt.Printf("name=%s\nlineage=%s\nanswers=%s\n%s", e.name, e.lineage, e.answers, e.more)
			if e.more != "" {
				fmt.Println()
			}
			serve = e
		}
	}
	fmt.Println()
	streams := map[uint32]func([]byte, bool) []byte{}
	little := binary.LittleEndian
	for number := make([]byte, 4); ; {
		if _, err := io.ReadFull(os.Stdin, number); err != nil {
			return
		}
		body, reply := make([]byte, little.Uint32(number)), make([]byte, 4)
		io.ReadFull(os.Stdin, body)
		for len(body) > 0 {
			operation, stream, size := body[0], little.Uint32(body[1:]), little.Uint32(body[5:])
			input := body[9 : 9+size]
			body = body[9+size:]
			a := ask(func() answer {
				switch {
				case operation == 0:
					return serve.run(slices.Clone(input))
				case operation == 3:
					delete(streams, stream)
					return answer{unstated, -1, -1, nil}
				case streams[stream] == nil:
					streams[stream] = serve.stream()
				}
				text := streams[stream](input, operation == 2)
				if operation == 2 {
					delete(streams, stream)
				}
				return answer{unstated, -1, -1, text}
			})
			size = uint32(len(a.text))
			if a.text == nil {
				size = 0xFFFFFFFF
			}
			reply = append(reply, byte(a.verdict))
			for _, field := range []uint32{uint32(a.offset), uint32(a.length), size} {
				reply = little.AppendUint32(reply, field)
			}
			reply = append(reply, a.text...)
		}
		little.PutUint32(reply, uint32(len(reply)-4))
		os.Stdout.Write(reply)
	}
}
