package httpcall

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"

	"parlance.dev/parlance/tools/modeltext"
)

const (
	// maxEncodings bounds the content encodings of one answer.
	maxEncodings = 3
	// maxLayerBytes bounds what one encoding within another decodes to. The last one is bounded by the
	// tool's response_max_bytes.
	maxLayerBytes = 32 << 20
)

var errEncoding = errors.New("the content encoding is not known")

// encodings are the content encodings of the body of a response, in the order in which they were
// applied.
func encodings(response *http.Response) []string {
	var names []string
	for _, line := range response.Header.Values("Content-Encoding") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" {
				names = append(names, name)
			}
		}
	}
	return names
}

// decode removes the content encodings of a body, and gzip within it: some proxies compress twice
// and say so once. A body that cannot be decoded stays as it is, with its Encoding.
func decode(body *modeltext.Body, names []string, maxBytes int) {
	encoded := slices.Clone(names)
	if isGzip(body.Bytes) && !strings.Contains(body.ContentType, "gzip") && len(names) == 0 {
		encoded = []string{"gzip"}
	}
	for range maxEncodings {
		if len(encoded) == 0 {
			return
		}
		decoded, cut, err := decodeAll(body.Bytes, encoded, maxBytes)
		if errors.Is(err, io.ErrUnexpectedEOF) && body.Cut { // the beginning of what was cut
			err, cut = nil, true
		}
		if err != nil || len(encoded) > maxEncodings {
			body.Encoding = shown(encoded)
			return
		}
		body.Bytes, body.Cut, body.DeclaredBytes = decoded, cut || body.Cut, -1
		if encoded = nil; isGzip(decoded) && !strings.Contains(body.ContentType, "gzip") {
			encoded = []string{"gzip"}
		}
	}
	if isGzip(body.Bytes) {
		body.Encoding = "gzip, many times"
	}
}

// isGzip knows the beginning of a gzip file with the one compression that there is.
func isGzip(body []byte) bool { return bytes.HasPrefix(body, []byte("\x1f\x8b\x08")) }

// decodeAll removes encodings, the last first, and returns at most maxBytes.
func decodeAll(body []byte, names []string, maxBytes int) (decoded []byte, cut bool, err error) {
	var from io.Reader = bytes.NewReader(body)
	for _, name := range slices.Backward(names) {
		decoder, err := newDecoder(name, from)
		if err != nil {
			return nil, false, err
		}
		from = io.LimitReader(decoder, maxLayerBytes)
	}
	decoded, err = io.ReadAll(io.LimitReader(from, int64(maxBytes)+1))
	if cut = len(decoded) > maxBytes; cut {
		decoded = decoded[:maxBytes]
	}
	return decoded, cut, err
}

func newDecoder(name string, from io.Reader) (io.Reader, error) {
	switch name {
	case "gzip", "x-gzip":
		return gzip.NewReader(from)
	case "br":
		return brotli.NewReader(from), nil
	case "deflate": // the zlib format; some servers send it bare
		buffered := bufio.NewReader(from)
		if head, err := buffered.Peek(2); err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			return zlib.NewReader(buffered)
		}
		return flate.NewReader(buffered), nil
	}
	return nil, errEncoding
}

// registered are the content encodings of IANA's registry.
var registered = []string{
	"aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip", "zstd",
}

// shown names encodings for people. One that is not registered is the endpoint's own text, which
// may repeat a secret.
func shown(encoded []string) string {
	if slices.ContainsFunc(encoded, func(name string) bool { return !slices.Contains(registered, name) }) {
		return "something unknown"
	}
	return strings.Join(encoded, ", ")
}
