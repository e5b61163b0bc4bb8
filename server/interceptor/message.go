package interceptor

import (
	"compress/gzip"
	"encoding/binary"
	"io"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/problem"
)

// envelopeHeader precedes each message of gRPC, gRPC-Web and Connect's streams: one byte of flags,
// four of length.
const envelopeHeader = 5

// WithMessageLimit refuses RPC messages of more than limit bytes before they are read; connect
// would read them to their end to throw them away, and refuse them without our reason.
func WithMessageLimit(next http.Handler, limit int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &limitedBody{ReadCloser: r.Body, limit: limit, left: limit, enveloped: enveloped(r.Header.Get("Content-Type"))}
		}
		next.ServeHTTP(w, r)
	})
}

func enveloped(contentType string) bool {
	return strings.HasPrefix(contentType, "application/grpc") || strings.HasPrefix(contentType, "application/connect+")
}

// limitedBody is a body that ends with our refusal where a message is too large.
type limitedBody struct {
	io.ReadCloser
	limit     int64
	enveloped bool
	// left is how much the message may still have; of an enveloped one, has.
	left   int64
	header []byte
	begun  bool
}

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.enveloped {
		if !b.follow(p[:n]) {
			return 0, tooLarge(b.limit)
		}
		return n, err
	}
	if b.left -= int64(n); b.left < 0 {
		return 0, tooLarge(b.limit)
	}
	return n, err
}

// follow reads the headers of the envelopes as they pass; it reports false at one that is too
// large.
func (b *limitedBody) follow(p []byte) bool {
	if !b.begun {
		b.begun, b.left = true, 0
	}
	for len(p) > 0 {
		if b.left > 0 {
			passed := min(b.left, int64(len(p)))
			b.left, p = b.left-passed, p[passed:]
			continue
		}
		taken := min(envelopeHeader-len(b.header), len(p))
		b.header, p = append(b.header, p[:taken]...), p[taken:]
		if len(b.header) < envelopeHeader {
			return true
		}
		b.left = int64(binary.BigEndian.Uint32(b.header[1:]))
		b.header = b.header[:0]
		if b.left > b.limit {
			return false
		}
	}
	return true
}

// tooLarge is a Connect error, which connect passes on as it is.
func tooLarge(limit int64) error {
	return problem.ToConnect(fault.New(fault.BodyTooLarge, "A message has at most %d bytes.", limit))
}

// Gzip is connect's compression by gzip with a bound on what a message may become: connect would
// decompress a bomb to its end to say how large it is.
func Gzip(limit int64) connect.HandlerOption {
	return connect.WithCompression("gzip",
		func() connect.Decompressor { return &boundedGzip{limit: limit} },
		func() connect.Compressor { return gzip.NewWriter(io.Discard) })
}

// boundedGzip is a gzip.Reader that refuses to give more than limit bytes.
type boundedGzip struct {
	reader gzip.Reader
	limit  int64
	left   int64
}

// Reset begins another message.
func (g *boundedGzip) Reset(from io.Reader) error {
	g.left = g.limit
	return g.reader.Reset(from)
}

// Read implements io.Reader.
func (g *boundedGzip) Read(p []byte) (int, error) {
	n, err := g.reader.Read(p)
	if g.left -= int64(n); g.left < 0 {
		return 0, tooLarge(g.limit)
	}
	return n, err
}

// Close implements io.Closer.
func (g *boundedGzip) Close() error { return g.reader.Close() }
