package parlance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
)

const (
	idempotencyHeader = "Idempotency-Key"
	requestIDHeader   = "X-Request-Id"
)

type idempotencyKey struct{}

// WithIdempotencyKey gives the call that is made with the context this Idempotency-Key, in place of
// one that the client makes. The service does a request with a key once and repeats its answer for
// 24 hours: a program that may be stopped in between keeps the key with its own work. A key is for
// one call; another one with it is refused (ReasonIdempotencyKeyReused).
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, idempotencyKey{}, key)
}

// keyFrom returns the Idempotency-Key of a context, "" without one.
func keyFrom(ctx context.Context) string {
	key, _ := ctx.Value(idempotencyKey{}).(string)
	return key
}

// newKey makes an Idempotency-Key.
func newKey() string { return "go-" + strings.ToLower(rand.Text()) }

// setHeaders says who calls, in the headers that every request has.
func (c *Client) setHeaders(header http.Header) {
	header.Set("Authorization", "Bearer "+c.options.APIKey)
	header.Set("Parlance-Version", APIVersion)
	header.Set("User-Agent", userAgent())
}

// caller is the interceptor of a Client's calls.
type caller struct{ client *Client }

// WrapUnary implements connect.Interceptor: it sends the headers, repeats calls, and makes errors
// of this package.
func (c caller) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		if err := checkSent(req.Any()); err != nil {
			return nil, err
		}
		c.client.setHeaders(req.Header())
		key := keyFrom(ctx)
		if key == "" {
			key = newKey()
		}
		req.Header().Set(idempotencyHeader, key)
		tries := newRetries(c.client.options.MaxRetries)
		for {
			answer, err := c.try(ctx, next, req)
			if err == nil || !tries.wait(ctx, err) {
				return answer, err
			}
		}
	}
}

// try makes one try within Options.Timeout.
func (c caller) try(ctx context.Context, next connect.UnaryFunc, req connect.AnyRequest) (connect.AnyResponse, error) {
	if limit := c.client.options.Timeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	answer, err := next(ctx, req)
	if err != nil {
		return nil, errorOf(err)
	}
	return answer, nil
}

// reader is the interceptor nearest to the wire: it tells what cannot be read from what an
// interceptor of the caller refuses.
type reader struct{}

// WrapUnary implements connect.Interceptor.
func (reader) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		answer, err := next(ctx, req)
		return answer, readable(err)
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (reader) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		return readStream{next(ctx, spec)}
	}
}

// WrapStreamingHandler implements connect.Interceptor; it is for servers.
func (reader) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

type readStream struct{ connect.StreamingClientConn }

// Receive implements connect.StreamingClientConn.
func (s readStream) Receive(message any) error {
	return readable(s.StreamingClientConn.Receive(message))
}

// readable returns err, or ReasonNotParlance for an answer that was read whole and cannot be
// decoded: the package connect calls it an invalid argument.
func readable(err error) error {
	failed, ok := errors.AsType[*connect.Error](err)
	if !ok || connect.IsWireError(err) || failed.Code() != connect.CodeInvalidArgument || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return &Error{
		Reason: ReasonNotParlance, Message: foreignMessage(http.StatusOK, "unreadable"), Code: connect.CodeUnknown,
		HTTPStatus: http.StatusOK, answered: true, foreign: true, cause: err,
	}
}

// checkSent refuses a request that cannot be encoded, such as of a text that is not UTF-8. The
// package connect would send an empty one.
func checkSent(message any) error {
	request, ok := message.(proto.Message)
	if !ok {
		return nil
	}
	if _, err := proto.Marshal(request); err != nil {
		return &Error{
			Reason: ReasonInvalidRequest, Message: fmt.Sprintf("The request cannot be sent: %v", err),
			Code: connect.CodeInvalidArgument, cause: err,
		}
	}
	return nil
}

// WrapStreamingClient implements connect.Interceptor. Streams are not repeated here: what one has
// brought already cannot be taken back.
func (c caller) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		ctx, cancel := context.WithCancel(ctx)
		conn := next(ctx, spec)
		c.client.setHeaders(conn.RequestHeader())
		if key := keyFrom(ctx); key != "" {
			conn.RequestHeader().Set(idempotencyHeader, key)
		}
		return stream{conn, cancel}
	}
}

// WrapStreamingHandler implements connect.Interceptor; it is for servers.
func (c caller) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// stream is a stream with errors of this package.
type stream struct {
	connect.StreamingClientConn
	// cancel ends the request; closing the stream without it would send one that is empty.
	cancel context.CancelFunc
}

// Send implements connect.StreamingClientConn.
func (s stream) Send(message any) error {
	if err := checkSent(message); err != nil {
		s.cancel()
		return err
	}
	return streamError(s.StreamingClientConn.Send(message))
}

// CloseResponse implements connect.StreamingClientConn.
func (s stream) CloseResponse() error {
	defer s.cancel()
	return s.StreamingClientConn.CloseResponse()
}

// Receive implements connect.StreamingClientConn.
func (s stream) Receive(message any) error {
	return streamError(s.StreamingClientConn.Receive(message))
}

// streamError leaves io.EOF, which says that a stream has ended well, to the package connect.
func streamError(err error) error {
	if errors.Is(err, io.EOF) {
		return err
	}
	return errorOf(err)
}
