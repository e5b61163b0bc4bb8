package socket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/platform/ticker"
	"parlance.dev/parlance/provider/internal/apiclient"
)

// Dialer makes connections to one server.
type Dialer struct {
	// Client makes the handshake, as that of speech.SocketClient; required. Redirects are not
	// followed, because net/http would send headers like Xi-Api-Key to any host.
	Client *http.Client
	// URL has the scheme http, https, ws or wss.
	URL string
	// Header is sent with the handshake and holds the key.
	Header http.Header
	// MaxMessageBytes bounds a message of the server.
	MaxMessageBytes int64
	// Timeout bounds the handshake, repetition included.
	Timeout time.Duration
	// Once makes no second attempt.
	Once bool
}

const (
	// maxDetailBytes bounds Refusal.Detail. The library reads no more of the body.
	maxDetailBytes = 1024
	// retryDelay is the wait before the second attempt.
	retryDelay = 200 * time.Millisecond
)

// Dial connects. It tries once more after a failure that may pass, which a limited rate does not.
// Errors: an *apiclient.Refusal for an answer that is no handshake; else why there was no answer.
func (d Dialer) Dial(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	conn, err := d.attempt(ctx)
	if err == nil || d.Once || !isRepeatable(err) || ticker.Wait(ctx, retryDelay) != nil {
		return conn, err
	}
	return d.attempt(ctx)
}

func (d Dialer) attempt(ctx context.Context) (*websocket.Conn, error) {
	client := *d.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	options := websocket.DialOptions{HTTPClient: &client, HTTPHeader: d.Header}
	conn, res, err := websocket.Dial(ctx, d.URL, &options) //nolint:bodyclose // the library closes it
	if err == nil {
		conn.SetReadLimit(d.MaxMessageBytes)
		return conn, nil
	}
	if res != nil && res.StatusCode != http.StatusSwitchingProtocols {
		detail, _ := io.ReadAll(io.LimitReader(res.Body, maxDetailBytes)) // a part of it is better than nothing
		return nil, &apiclient.Refusal{Status: res.StatusCode, Header: res.Header, Detail: string(detail)}
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return nil, fmt.Errorf("connecting: %w", outer.Err) // without the URL, whose query repeats what a user may say
	}
	return nil, errors.New("connecting: the answer is no handshake, or the client hands over no socket")
}

func isRepeatable(err error) bool {
	refusal, ok := errors.AsType[*apiclient.Refusal](err)
	if ok {
		return refusal.Status >= http.StatusInternalServerError
	}
	return !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled)
}

// WithoutWords is an error of a connection without what the server said in it.
func WithoutWords(err error) error {
	if status := websocket.CloseStatus(err); status != -1 {
		return &Closed{Status: int(status)}
	}
	return err
}

// Closed is the error for a connection that the server closed.
type Closed struct {
	// Status is that of RFC 6455: 1000 is a normal end.
	Status int
}

// Error implements error.
func (c *Closed) Error() string {
	return fmt.Sprintf("the server closed the socket with status %d", c.Status)
}

// IsNormal reports whether a server closed the connection because all was done.
func IsNormal(err error) bool {
	closed, ok := errors.AsType[*Closed](err)
	return ok && (closed.Status == int(websocket.StatusNormalClosure) || closed.Status == int(websocket.StatusNoStatusRcvd))
}

// URL is base with the scheme of WebSockets, its path joined with path, and the query.
func URL(base *url.URL, path string, query url.Values) string {
	at := base.JoinPath(path)
	at.Scheme = strings.Replace(at.Scheme, "http", "ws", 1)
	at.RawQuery = query.Encode()
	return at.String()
}
