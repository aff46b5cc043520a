//go:build goexperiment.jsonv2

package main

import json2 "encoding/json/v2"
import "encoding/json/jsontext"

func init() {
	jsonLineage = "go-jsontext" // of the older package too, from then on
	add("json2-unmarshal", "go-jsontext", "verdict output", strict+"pkg.go.dev/encoding/json/v2", func(b []byte) answer {
		if !inJSON(b) {
			return answer{cannot, -1, -1, []byte("a JSON string cannot hold this")}
		}
		var text string
		if json2.Unmarshal([]byte("\""+string(b)+"\""), &text) != nil {
			return rejected()
		}
		return answer{well, -1, -1, []byte(text)}
	})
	add("json2-unmarshal-allow", "go-jsontext", "output", "", func(b []byte) answer {
		if !inJSON(b) {
			return answer{cannot, -1, -1, []byte("a JSON string cannot hold this")}
		}
		var text string
		if err := json2.Unmarshal([]byte("\""+string(b)+"\""), &text, jsontext.AllowInvalidUTF8(true)); err != nil {
			panic(err)
		}
		return output(text)
	})
}
