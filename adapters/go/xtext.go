//go:build xtext

package main

import (
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// golang.org/x/text does not say its version at run time, so the entry points carry that of Go only.
func init() {
	site := "pkg.go.dev/golang.org/x/text/"
	addText("xtext-unicode-utf8", "", func() transform.Transformer { return unicode.UTF8.NewDecoder() })
	addText("xtext-unicode-utf8bom", "", func() transform.Transformer { return unicode.UTF8BOM.NewDecoder() })
	addText("xtext-replaceillformed", perByte+site+"runes#ReplaceIllFormed", func() transform.Transformer { return runes.ReplaceIllFormed() })
	add("xtext-utf8validator", "go-xtext", "verdict", strict+site+"encoding#pkg-variables", func(b []byte) answer {
		_, _, err := transform.Bytes(encoding.UTF8Validator, b)
		return verdict(err == nil)
	})
}
func addText(name, more string, make func() transform.Transformer) {
	add(name, "go-xtext", "output stream", more, func(b []byte) answer {
		text, _, err := transform.Bytes(make(), b)
		if err != nil {
			panic(err)
		}
		return answer{unstated, -1, -1, append([]byte{}, text...)}
	})
	entries[len(entries)-1].stream = func() func([]byte, bool) []byte {
		rest, transformer := []byte{}, make()
		transformer.Reset()
		return func(chunk []byte, end bool) []byte {
			rest = append(rest, chunk...)
			to := [4096]byte{}
			text := []byte{}
			for {
				written, read, err := transformer.Transform(to[:], rest, end)
				text, rest = append(text, to[:written]...), rest[read:]
				if err != transform.ErrShortDst {
					return text
				}
			}
		}
	}
}
