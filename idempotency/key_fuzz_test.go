package idempotency

import (
	"bytes"
	"testing"

	"golang.org/x/net/http/httpguts"

	"parlance.dev/parlance/fault"
)

// FuzzKey: a key that is taken can stand in a header and a log as it is; any other is refused by
// name; and no two requests share a place or a fingerprint by where their words are parted.
func FuzzKey(f *testing.F) {
	for _, seed := range []string{"", "k", "a b", "é", "\x00", "a\r\nX: y", "01234567-89ab-cdef-0123-456789abcdef", "~!\"'"} {
		f.Add(seed, "POST", "/v1/a", "body")
	}
	f.Fuzz(func(t *testing.T, key, method, path, body string) {
		err := checkKey(key)
		printable := len(key) > 0 && len(key) <= maxKeyBytes
		for _, c := range []byte(key) {
			printable = printable && c >= ' ' && c < 0x7f
		}
		if (err == nil) != printable {
			t.Fatalf("%q: %v", key, err)
		}
		if err == nil && !httpguts.ValidHeaderFieldValue(key) {
			t.Fatalf("%q was taken and cannot stand in a header", key)
		}
		if err != nil && (!fault.IsReason(err, fault.InvalidRequest) || fault.From(err).Fields[0].Field != Header) {
			t.Fatalf("%q: %v", key, err)
		}
		shifted := digestOf([]byte(key+method), nil, []byte(path))
		if whole := digestOf([]byte(key), []byte(method), []byte(path)); method != "" && bytes.Equal(whole, shifted) {
			t.Fatalf("%q %q %q share a place", key, method, path)
		}
		one, other := Request{Form: path, Body: []byte(body)}, Request{Form: path + body}
		if body != "" && bytes.Equal(one.fingerprint(key), other.fingerprint(key)) {
			t.Fatalf("%q and %q share a fingerprint", path, body)
		}
		if bytes.Equal(one.fingerprint(key), one.fingerprint(key+"x")) {
			t.Fatal("a body has the same fingerprint under two keys, so it can be guessed without its key")
		}
	})
}
