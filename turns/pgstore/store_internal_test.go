package pgstore

import "testing"

// TestEscapeNul: U+0000 is written as six characters, and nothing else is changed.
func TestEscapeNul(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":"b"}`:                `{"a":"b"}`,
		`"\u0000"`:                 `"\\u0000"`,
		`"x\u0000y\u0000"`:         `"x\\u0000y\\u0000"`,
		`"a backslash: \\u0000"`:   `"a backslash: \\u0000"`,
		`"both: \\\u0000"`:         `"both: \\\\u0000"`,
		`"another: \u0001 \\ end"`: `"another: \u0001 \\ end"`,
	} {
		if got := string(escapeNul([]byte(text))); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}
