package apiclient

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/ticker"
)

// Caller posts JSON, or bodies of another type, to one URL. It is safe for concurrent use.
type Caller struct {
	// Client sends the requests; required. Redirects are not followed, because net/http would send
	// headers like X-Api-Key to any host.
	Client *http.Client
	URL    string
	// Header is sent with every call and holds the key. Content-Type is added to it.
	Header http.Header
	// ContentType is the type of the bodies; empty: application/json.
	ContentType string
	// Timeout bounds one attempt, with the reading of its body; 0 means none.
	Timeout time.Duration
	// MaxRetries is how often a call is repeated before the first byte of its answer (connection
	// errors, 408, 409, 429, 5xx). 0 means 1, a negative number never.
	MaxRetries int
	// MaxRetryDelay bounds the wait before a repetition. When the server asks for a longer wait,
	// the call is not repeated. 0 means 2 s, because a person is waiting.
	MaxRetryDelay time.Duration
}

const (
	defaultRetries       = 1
	defaultMaxRetryDelay = 2 * time.Second
	// firstRetryDelay doubles with each attempt.
	firstRetryDelay = 500 * time.Millisecond
	// maxDetailBytes bounds Refusal.Detail.
	maxDetailBytes = 64 << 10
)

// Refusal is the error for an answer with a status other than 2xx.
type Refusal struct {
	Status int
	Header http.Header
	// Detail is the beginning of the body. Error leaves it out, because servers repeat the key or
	// the request in it.
	Detail string
}

// Error implements error.
func (r *Refusal) Error() string { return fmt.Sprintf("the server answered %d", r.Status) }

// ParseBase parses a vendor's base URL. Errors: it is not http(s)://host/….
func ParseBase(raw string) (*url.URL, error) {
	base, err := url.Parse(raw)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("the base URL must be http(s)://host/…, not %q", raw)
	}
	return base, nil
}

// Header returns the headers for a server that takes its key as OpenAI does: Accept, and
// Authorization unless the key is empty.
func Header(accept, apiKey string) http.Header {
	header := http.Header{"Accept": {accept}}
	if apiKey != "" {
		header.Set("Authorization", "Bearer "+apiKey)
	}
	return header
}

// PostWhole is Post and returns the body of the answer, cut at maxBytes. Errors: those of Post and
// of reading the body.
func (c Caller) PostWhole(ctx context.Context, body []byte, maxBytes int64) ([]byte, error) {
	res, err := c.Post(ctx, body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up: an error changes nothing
	return io.ReadAll(io.LimitReader(res.Body, maxBytes))
}

// Post sends body, repeats the call when that may help, and returns a 2xx answer, whose body the
// caller closes. Errors: a *Refusal, or why there was no answer, joined with the error of ctx.
func (c Caller) Post(ctx context.Context, body []byte) (*http.Response, error) {
	for attempt := 0; ; attempt++ {
		res, err := c.attempt(ctx, body)
		if err == nil {
			return res, nil
		}
		if attempt >= c.retries() || !isRepeatable(err) || !c.pause(ctx, attempt, err) {
			return nil, errors.Join(err, ctx.Err())
		}
	}
}

func (c Caller) attempt(ctx context.Context, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", withoutURL(err))
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", cmp.Or(c.ContentType, "application/json"))
	client := *c.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.Timeout > 0 {
		client.Timeout = c.Timeout
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("sending the request: %w", withoutURL(err))
	}
	if res.StatusCode >= http.StatusOK && res.StatusCode < http.StatusMultipleChoices {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }()                           // what is left of it is not needed
	detail, _ := io.ReadAll(io.LimitReader(res.Body, maxDetailBytes)) // a part of it is better than nothing
	return nil, &Refusal{Status: res.StatusCode, Header: res.Header, Detail: string(detail)}
}

func (c Caller) retries() int {
	if c.MaxRetries == 0 {
		return defaultRetries
	}
	return c.MaxRetries
}

// pause waits before the next attempt, and returns whether there may be one.
func (c Caller) pause(ctx context.Context, attempt int, err error) bool {
	longest := c.MaxRetryDelay
	if longest <= 0 {
		longest = defaultMaxRetryDelay
	}
	var asked time.Duration
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		asked = publicnet.RetryAfter(refusal.Header)
	}
	if asked > longest || ctx.Err() != nil {
		return false
	}
	return ticker.Wait(ctx, min(longest, max(asked, firstRetryDelay<<min(attempt, 4)))) == nil
}

// isRepeatable returns whether another attempt may succeed. The header X-Should-Retry, which OpenAI
// and Anthropic send, takes precedence over the status.
func isRepeatable(err error) bool {
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		return !isTimeout(err)
	}
	switch refusal.Header.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	switch refusal.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return refusal.Status >= http.StatusInternalServerError
}

// isTimeout returns whether the time of an attempt ended after the connection was made. The server
// may still be working on the request, so it does not get the same work again.
func isTimeout(err error) bool {
	dial, ok := errors.AsType[*net.OpError](err)
	return errors.Is(err, context.DeadlineExceeded) && (!ok || dial.Op != "dial")
}

// withoutURL unwraps the error of net/http, which begins with the URL: the URL may hold a key.
func withoutURL(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}
