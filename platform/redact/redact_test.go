package redact

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"parlance.dev/parlance/platform/jsonvalue"
)

// FuzzRedact looks for a secret that is not found in JSON, a URL or plain text.
func FuzzRedact(f *testing.F) {
	f.Add("hunter2")
	f.Add(`a"b/c\d&<>`)
	f.Fuzz(func(t *testing.T, secret string) {
		if len(secret) < 4 || strings.Contains(Placeholder, secret) ||
			strings.ToValidUTF8(secret, "") != secret || strings.Contains(secret, "\x00") {
			return
		}
		r := New([]string{secret})
		encoded, _ := json.Marshal(secret)
		for _, echo := range []string{
			secret, url.QueryEscape(secret), url.PathEscape(secret), string(encoded), jsonvalue.Compact(secret),
		} {
			if clean := r.Text("<" + echo + ">"); !strings.Contains(clean, Placeholder) {
				t.Errorf("%q shows %q: %q", echo, secret, clean)
			}
		}
	})
}

// FuzzUnescape redacts any text: offsets lie within the text, and the result does not contain the
// secret in any escapes that are decoded.
func FuzzUnescape(f *testing.F) {
	for _, seed := range []string{
		`%68unter2`, `\u0068unter2 h\nunter2`, "&#104;unter2", `%5cu0068unter2`, "hunt\r\ner2&amp", "%", `\`, "&", `\ud83d\ude00`,
		"&#x110000;", `\u00`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := New([]string{"hunter2"})
		view, at := text, identity(len(text))
		for range maxDepth {
			view, at = unescape(view, at)
			if len(at) != len(view)+1 || at[len(view)] != len(text) {
				t.Fatalf("%q has %d offsets, the last %d", view, len(at), at[len(at)-1])
			}
		}
		clean := r.Text(text)
		for range maxDepth {
			if strings.Contains(clean, "hunter2") {
				t.Fatalf("%q became %q", text, clean)
			}
			clean, _ = unescape(clean, identity(len(clean)))
		}
	})
}
