package wire

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzCompact holds compact to json.Compact, for every text that is JSON.
func FuzzCompact(f *testing.F) {
	for _, seed := range []string{`{"a": 1, "b c": "d  e\\\" , f", "g": [ 1 , 2 ]}`, ` "\\" `, "[\n\t{}\r]", `"no space"`, `1`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		var want bytes.Buffer
		if err := json.Compact(&want, text); err != nil {
			t.Fatal(err)
		}
		if got := compact(bytes.Clone(text)); !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%q became %q, want %q", text, got, want.Bytes())
		}
	})
}
