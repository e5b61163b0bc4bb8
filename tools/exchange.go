package tools

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"parlance.dev/parlance/platform/breaker"
	"parlance.dev/parlance/platform/publicnet"
)

// maxAttempts and backoff are how a failed attempt is repeated. Source: decisions, Tools.
const maxAttempts = 3

var backoff = [maxAttempts - 1]time.Duration{250 * time.Millisecond, time.Second}

// retryStatuses are answers that may be better the next time. Source: decisions, Tools.
var retryStatuses = []int{
	http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
	http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// attempt is one request and what came of it.
type attempt struct {
	answer
	err error // nil when there is a whole answer
	// connections is how many there were to write to, so bytes of the request may have been sent. More
	// than one is net/http's doing: it repeats a GET whose idle connection breaks, and anything of which
	// no byte was sent.
	connections int
}

// send makes the request until it has an answer to keep, the attempts are used up, or the
// call's time is. All attempts carry one Idempotency-Key.
func (s *Service) send(ctx context.Context, w wire, callID string, config Config) (last attempt, attempts int) {
	deadline := s.now().Add(config.Timeout())
	client := s.client
	for {
		last = s.attempt(ctx, client, w, callID, config.ResponseMaxBytes)
		client = s.fresh // what broke may be the connection
		attempts += max(last.connections, 1)
		if attempts >= maxAttempts || ctx.Err() != nil || !mayRetry(w.method, last) {
			return last, attempts
		}
		asked, _ := retryAfter(last.header, s.now())
		wait := max(s.jitter(backoff[attempts-1]), asked)
		if !s.now().Add(wait).Before(deadline) || !pause(ctx, wait) {
			return last, attempts
		}
	}
}

// pause waits for d; false when ctx ended before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (s *Service) attempt(ctx context.Context, client *http.Client, w wire, callID string, maxBytes int) (last attempt) {
	// Anything after this may have put bytes on the wire, also when it fails; before it, nothing has.
	var connections atomic.Int32
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connections.Add(1) }})
	request, err := newRequest(ctx, w, callID)
	if err != nil {
		return attempt{err: err}
	}
	span := startAttempt(ctx, request)
	defer func() { endAttempt(span, last) }()
	response, err := client.Do(request)
	if err != nil {
		return attempt{err: err, connections: int(connections.Load())}
	}
	defer func() { _ = response.Body.Close() }() // what matters of the body has been read
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(maxBytes)+1))
	out := attempt{answer: answer{status: response.StatusCode, header: response.Header, body: body, length: response.ContentLength}, err: err, connections: int(connections.Load())}
	if len(body) > maxBytes {
		out.body, out.cut = body[:maxBytes], true
	}
	return out
}

func newRequest(ctx context.Context, w wire, callID string) (*http.Request, error) {
	var body io.Reader
	if w.body != nil {
		body = bytes.NewReader(w.body)
	}
	request, err := http.NewRequestWithContext(ctx, w.method, w.url, body)
	if err != nil {
		return nil, errors.Join(publicnet.ErrURL, err)
	}
	for name, value := range w.headers {
		request.Header.Set(name, value)
	}
	// Not through Set: net/http repeats a POST by itself when it finds a header of the canonical
	// name, also after bytes were sent. Names of headers have no case on the wire.
	request.Header["idempotency-key"] = []string{callID}
	return request, nil
}

// mayRetry says whether an attempt may be repeated. Source: decisions, Tools.
func mayRetry(method string, last attempt) bool {
	if last.err != nil {
		return isConnectionFailure(last.err) && (isIdempotent(method) || last.connections == 0)
	}
	if isIdempotent(method) {
		return slices.Contains(retryStatuses, last.status)
	}
	_, invited := retryAfter(last.header, time.Time{})
	return invited && (last.status == http.StatusTooManyRequests || last.status == http.StatusServiceUnavailable)
}

// retryAfter is how long an answer asks to wait; false when it does not say, or nothing that is a time.
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

// isConnectionFailure tells failures that may pass from those that another attempt meets again.
func isConnectionFailure(err error) bool {
	if errors.Is(err, publicnet.ErrNotPublic) || errors.Is(err, publicnet.ErrURL) || isUnknownHost(err) {
		return false
	}
	_, badCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	return !badCertificate
}

func isUnknownHost(err error) bool {
	dns, ok := errors.AsType[*net.DNSError](err)
	return ok && dns.IsNotFound
}

// failure says why the last attempt is no success; nil when it is one. caller is the context
// of who called, ctx the call's own with its time-out. The error's text is never used: it
// holds the URL, and with it perhaps a secret.
func failure(caller, ctx context.Context, last attempt, config Config) *Error {
	switch err := last.err; {
	case err == nil:
		return statusFailure(last.status)
	case caller.Err() != nil:
		return refuse(CodeCanceled, "The call was cancelled before the tool answered; whether it took effect is not known.")
	case ctx.Err() != nil:
		return refuse(CodeTimeout, "The tool did not answer within %d seconds; whether it took effect is not known. Tell the user, and do not repeat the call unless they ask.", config.TimeoutSeconds)
	case errors.Is(err, publicnet.ErrNotPublic):
		return refuse(CodeNotPublic, "The tool's host has an address that is not public, so it was not called. Tell the user that this is not possible right now.")
	case errors.Is(err, publicnet.ErrURL):
		return refuse(CodeRequestInvalid, "The tool's URL cannot be called with these values. Check the arguments, or tell the user that this is not possible right now.")
	case isUnknownHost(err):
		return refuse(CodeUnresolvable, "The tool's host name does not resolve. Tell the user that this is not possible right now.")
	default:
		return refuse(CodeConnectionFailed, "The tool could not be reached (%s). Tell the user that this is not possible right now; it may work later.", connectionDetail(last))
	}
}

// connectionDetail says in words what an operator needs, without addresses.
func connectionDetail(last attempt) string {
	if errno, ok := errors.AsType[syscall.Errno](last.err); ok {
		return errno.Error()
	}
	if certificate, ok := errors.AsType[*tls.CertificateVerificationError](last.err); ok {
		return "its certificate is not valid: " + certificate.Err.Error()
	}
	var timeout net.Error
	switch {
	case errors.As(last.err, &timeout) && timeout.Timeout():
		return "the connection timed out"
	case last.status != 0:
		return "the answer broke off"
	case errors.Is(last.err, io.EOF), errors.Is(last.err, io.ErrUnexpectedEOF):
		return "the connection was closed without an answer"
	}
	return "the connection failed"
}

func statusFailure(status int) *Error {
	text := strconv.Itoa(status)
	if name := http.StatusText(status); name != "" {
		text += " " + name
	}
	switch {
	case status >= 200 && status < 300:
		return nil
	case status >= 300 && status < 400:
		return refuse(CodeHTTPStatus, "The tool answered %s; redirects are not followed. Tell the user that this is not possible right now.", text)
	case status == http.StatusTooManyRequests || status >= 500:
		return refuse(CodeHTTPStatus, "The tool answered %s. Tell the user that this is not possible right now; it may work later.", text)
	default:
		return refuse(CodeHTTPStatus, "The tool answered %s. Read its answer: if the arguments were wrong, correct them and call the tool again; otherwise tell the user.", text)
	}
}

// verdict is what a call says about its endpoint's health.
func verdict(failed *Error, status int) breaker.Result {
	switch {
	case failed == nil:
		return breaker.Healthy
	case failed.Code == CodeConnectionFailed || failed.Code == CodeTimeout:
		return breaker.Failing
	case failed.Code != CodeHTTPStatus:
		return breaker.Neutral
	case status >= 500:
		return breaker.Failing
	}
	return breaker.Healthy
}

// hostPort is the address a URL calls, with its scheme's port when it names none.
func hostPort(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}
