package httpcall

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/ticker"
	"parlance.dev/parlance/tools/modeltext"
)

// maxAttempts bounds the attempts of a call, unless its tool says otherwise. Source: decisions,
// Tools.
const maxAttempts = 3

// backoff are the waits between attempts. Source: decisions, Tools.
var backoff = [maxAttempts - 1]time.Duration{250 * time.Millisecond, time.Second}

// retryStatuses are statuses of which a retry may get a better one. Source: decisions, Tools.
var retryStatuses = []int{
	http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
	http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// Client sends requests. All fields are needed.
type Client struct {
	// HTTP reuses connections.
	HTTP *http.Client
	// Fresh opens a connection for each request. net/http repeats nothing on a new connection by
	// itself.
	Fresh *http.Client
	Now   func() time.Time
	// Jitter spreads the wait between attempts.
	Jitter func(time.Duration) time.Duration
}

// Limits bound a call.
type Limits struct {
	// Timeout bounds the call with all its attempts.
	Timeout time.Duration
	// MaxAnswerBytes bounds how much of the body is read.
	MaxAnswerBytes int
	// MaxAttempts bounds the attempts of the call. 0 is 3.
	MaxAttempts int
	// RetryStatuses are statuses after which an idempotent call is tried again. Empty are those of
	// which a retry may get a better one.
	RetryStatuses []int
}

// Send makes the request until the answer is final, the attempts are used up, or the time is over.
// All attempts have the same Idempotency-Key, the id of the call. ctx ends after limits.Timeout.
func (c Client) Send(ctx context.Context, r Request, callID string, limits Limits) Answer {
	deadline := c.Now().Add(limits.Timeout)
	client, attempts := c.HTTP, 0
	for {
		last := attempt(ctx, client, r, callID, limits.MaxAnswerBytes)
		client = c.Fresh // the connection may be what broke
		attempts += max(last.connections, 1)
		last.Attempts, last.method = attempts, r.Method
		if attempts >= cmp.Or(limits.MaxAttempts, maxAttempts) || ctx.Err() != nil || !mayRetry(r.Method, last, limits.RetryStatuses) {
			return last
		}
		asked, _ := retryAfter(last.header, c.Now())
		wait := max(c.Jitter(backoff[min(attempts, len(backoff))-1]), asked)
		if !c.Now().Add(wait).Before(deadline) || ticker.Wait(ctx, wait) != nil {
			return last
		}
	}
}

// attempt makes one request.
func attempt(ctx context.Context, client *http.Client, r Request, callID string, maxBytes int) (last Answer) {
	// Once there is a connection, bytes of the request may have been sent.
	var connections atomic.Int32
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	sentAgain := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		if connections.Load() > 0 && Idempotent(r.Method) && !isHTTP2(got.Conn) {
			// net/http would send the request again on every kept connection that closes instead of
			// answering. Sending it again is for Send to decide.
			sentAgain = true
			stop()
			_ = got.Conn.Close()
			return
		}
		connections.Add(1)
	}})
	request, err := newRequest(ctx, r, callID)
	if err != nil {
		return Answer{err: err}
	}
	span := startAttempt(ctx, request)
	defer func() { endAttempt(span, last) }()
	response, err := client.Do(request)
	if err != nil && sentAgain {
		err = io.EOF // of the connection that the request was sent on
	}
	if err != nil {
		return Answer{err: err, connections: int(connections.Load())}
	}
	defer func() { _ = response.Body.Close() }() // the body has been read as far as it is needed
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(maxBytes)+1))
	last = Answer{
		Status: response.StatusCode, header: response.Header, err: err, connections: int(connections.Load()),
		Body: modeltext.Body{
			ContentType: response.Header.Get("Content-Type"), Bytes: body[:min(len(body), maxBytes)], Cut: len(body) > maxBytes,
			DeclaredBytes: response.ContentLength,
		},
	}
	decode(&last.Body, encodings(response), maxBytes)
	return last
}

// isHTTP2 says that a connection carries many requests. On such a one net/http sends a request
// again only when the server says that it has not processed it.
func isHTTP2(conn net.Conn) bool {
	secure, ok := conn.(*tls.Conn)
	return ok && secure.ConnectionState().NegotiatedProtocol == "h2"
}

func newRequest(ctx context.Context, r Request, callID string) (*http.Request, error) {
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, body)
	if err != nil {
		return nil, errors.Join(publicnet.ErrURL, err)
	}
	for name, value := range r.Headers {
		request.Header.Set(name, value)
	}
	if request.Header.Get("Accept-Encoding") == "" {
		// net/http would send the same, but remove gzip itself, and with it all lines of
		// Content-Encoding.
		request.Header.Set("Accept-Encoding", "gzip")
	}
	request.Header.Set("Idempotency-Key", callID)
	return request, nil
}

// mayRetry says whether a request may be repeated. Source: decisions, Tools.
func mayRetry(method string, last Answer, statuses []int) bool {
	if last.err != nil {
		return isConnectionFailure(last.err) && (Idempotent(method) || last.connections == 0)
	}
	if Idempotent(method) {
		if len(statuses) == 0 {
			statuses = retryStatuses
		}
		return slices.Contains(statuses, last.Status)
	}
	_, invited := retryAfter(last.header, time.Time{})
	return invited && (last.Status == http.StatusTooManyRequests || last.Status == http.StatusServiceUnavailable)
}

// retryAfter is how long an answer asks to wait. It returns false without a valid Retry-After.
func retryAfter(header http.Header, now time.Time) (time.Duration, bool) {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(min(seconds, 3600)) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return max(at.Sub(now), 0), true
}
