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

// envelopeHeader is the size of what precedes each message of gRPC, gRPC-Web and Connect's
// streams: one byte of flags, four of length.
const envelopeHeader = 5

// WithMessageLimit refuses RPC messages of more than limit bytes before they are read. connect
// would read them to their end, and refuse them without a reason of ours.
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

// limitedBody is a body whose reads fail as soon as a message is too large.
type limitedBody struct {
	io.ReadCloser
	limit     int64
	enveloped bool
	// left is how many bytes the current message may still have; of an enveloped message, how many it
	// still has.
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

// follow reads the headers of the envelopes that pass. It reports false at a message that is too
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

// tooLarge is a Connect error, which connect passes on unchanged.
func tooLarge(limit int64) error {
	return problem.ToConnect(fault.New(fault.BodyTooLarge, "A message has at most %d bytes.", limit))
}

// Gzip is connect's gzip compression with a bound on the decompressed size of a message. connect
// itself would decompress a bomb to its end to report its size.
func Gzip(limit int64) connect.HandlerOption {
	return connect.WithCompression("gzip",
		func() connect.Decompressor { return &boundedGzip{limit: limit} },
		func() connect.Compressor { return gzip.NewWriter(io.Discard) })
}

// boundedGzip is a gzip.Reader that fails after limit bytes.
type boundedGzip struct {
	reader gzip.Reader
	limit  int64
	left   int64
}

// Reset starts another message.
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
