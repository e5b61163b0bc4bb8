package tools_test

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"parlance.dev/parlance/test/fake/httptool"
)

// packed is text as a compressor writes it.
func packed(t *testing.T, text string, open func(io.Writer) io.WriteCloser) string {
	t.Helper()
	var out bytes.Buffer
	w := open(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestEncodings: the model gets the text of a compressed answer, or is told that it is binary, and
// an answer that decompresses to a lot is read no further than the tool allows.
func TestEncodings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	br := func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }
	zl := func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }
	fl := func(w io.Writer) io.WriteCloser {
		made, err := flate.NewWriter(w, 9)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	const text = `{"order":"A-7"}`
	bomb := strings.Repeat("o", 8<<20)
	cut := strings.Repeat("o", 2000) + "\n[cut: the answer is longer than 2000 bytes]"
	noise := strings.Repeat("\x89PNG\x00\xff\xfe", 20)
	rows := []struct{ name, encoding, body, want string }{
		{"br", "br", packed(t, text, br), text},
		{"deflate", "deflate", packed(t, text, zl), text},
		{"bare deflate", "deflate", packed(t, text, fl), text},
		{"gzip in gzip", "gzip, gzip", gzipped(t, gzipped(t, text)), text},
		{"gzip in gzip, said once", "gzip", gzipped(t, gzipped(t, text)), text},
		{"gzip, not said", "", gzipped(t, text), text},
		{"br in gzip", "br, gzip", gzipped(t, packed(t, text, br)), text},
		{"gzip in deflate, two lines", "gzip\ndeflate", packed(t, gzipped(t, text), zl), text},
		{"deflate in gzip, two lines", "deflate\ngzip", gzipped(t, packed(t, text, zl)), text},
		{"gzip", "gzip", gzipped(t, text), text},
		{"a bomb in gzip", "gzip", gzipped(t, bomb), cut},
		{"gzip in br", "gzip, br", packed(t, gzipped(t, text), br), text},
		{"a bomb in br", "br", packed(t, bomb, br), cut},
		{"a bomb in gzip in gzip", "gzip, gzip", gzipped(t, gzipped(t, bomb)), cut},
		{"unknown", "zstd", "\x28\xb5\x2f\xfd\x04", "[binary answer: application/json encoded as zstd, 5 bytes; it cannot be shown as text]"},
		{"damaged", "br", "\xff\xff\xff\xff", "[binary answer: application/json encoded as br, 4 bytes; it cannot be shown as text]"},
		{"a picture called JSON", "", noise, "[binary answer: application/json, 140 bytes; it cannot be shown as text]"},
	}
	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			header := map[string]string{"Content-Type": "application/json"}
			if row.encoding != "" {
				header["Content-Encoding"] = row.encoding
			}
			outcome := f.answer(t, i, httptool.Step{Header: header, Body: row.body}, 2000)
			if outcome.Error != nil || outcome.Output != row.want {
				t.Errorf("got  %q, %+v\nwant %q", outcome.Output, outcome.Error, row.want)
			}
		})
	}
}
