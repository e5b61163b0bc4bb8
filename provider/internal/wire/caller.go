package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Caller posts JSON to one URL. It is safe for concurrent use.
type Caller struct {
	// Client sends the requests; required. Redirects are not followed: net/http would carry
	// headers like X-Api-Key along to any host.
	Client *http.Client
	URL    string
	// Header goes with every call, keys included; Content-Type is set here.
	Header http.Header
	// Timeout bounds one attempt, the reading of its body included; 0 for none.
	Timeout time.Duration
	// MaxRetries is how often a call is repeated before its first byte (connection errors, 408,
	// 409, 429, 5xx): default 1, negative for never.
	MaxRetries int
	// MaxRetryDelay bounds the wait before a repeat; a server that asks for more is not asked
	// again. Default 2 s: a person is waiting.
	MaxRetryDelay time.Duration
}

const (
	defaultRetries       = 1
	defaultMaxRetryDelay = 2 * time.Second
	// firstRetryDelay doubles with each attempt.
	firstRetryDelay = 500 * time.Millisecond
	// maxDetailBytes bounds what is read of a refusal's body.
	maxDetailBytes = 64 << 10
)

// Refusal is the error for an answer with a status other than 2xx.
type Refusal struct {
	Status int
	Header http.Header
	// Detail is the beginning of the body. It is not part of Error: servers like to repeat the
	// key or the request in it.
	Detail string
}

func (r *Refusal) Error() string { return fmt.Sprintf("the server answered %d", r.Status) }

// ParseBase reads a vendor's base URL. Errors: it is not http(s)://host/….
func ParseBase(raw string) (*url.URL, error) {
	base, err := url.Parse(raw)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("the base URL must be http(s)://host/…, not %q", raw)
	}
	return base, nil
}

// Header is what goes with every call of a server that is told its key as OpenAI's: what is
// accepted, and the key unless it is empty.
func Header(accept, apiKey string) http.Header {
	header := http.Header{"Accept": {accept}}
	if apiKey != "" {
		header.Set("Authorization", "Bearer "+apiKey)
	}
	return header
}

// PostWhole is Post for an answer that is read whole, as far as maxBytes. Errors: Post's, or why the
// answer could not be read.
func (c Caller) PostWhole(ctx context.Context, body []byte, maxBytes int64) ([]byte, error) {
	res, err := c.Post(ctx, body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up: nothing to do about an error
	return io.ReadAll(io.LimitReader(res.Body, maxBytes))
}

// Post sends body, again when that may help, and returns a 2xx answer whose body the caller
// closes. Errors: a *Refusal, or why there was no answer; with ctx over look at ctx first.
func (c Caller) Post(ctx context.Context, body []byte) (*http.Response, error) {
	for attempt := 0; ; attempt++ {
		res, err := c.once(ctx, body)
		if err == nil {
			return res, nil
		}
		if attempt >= c.retries() || !repeatable(err) || !c.pause(ctx, attempt, err) {
			return nil, errors.Join(err, ctx.Err())
		}
	}
}

func (c Caller) once(ctx context.Context, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", withoutURL(err))
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
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
	defer func() { _ = res.Body.Close() }()                           // read as far as it is wanted
	detail, _ := io.ReadAll(io.LimitReader(res.Body, maxDetailBytes)) // half an error text is better than none
	return nil, &Refusal{Status: res.StatusCode, Header: res.Header, Detail: string(detail)}
}

func (c Caller) retries() int {
	if c.MaxRetries == 0 {
		return defaultRetries
	}
	return c.MaxRetries
}

// pause waits before the next attempt, and says whether there may be one.
func (c Caller) pause(ctx context.Context, attempt int, err error) bool {
	longest := c.MaxRetryDelay
	if longest <= 0 {
		longest = defaultMaxRetryDelay
	}
	var asked time.Duration
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		asked = RetryAfter(refusal.Header)
	}
	if asked > longest || ctx.Err() != nil {
		return false
	}
	timer := time.NewTimer(min(longest, max(asked, firstRetryDelay<<min(attempt, 4))))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// repeatable says whether the next attempt may fare better. The server's own word
// (X-Should-Retry, which OpenAI and Anthropic send) goes before its status.
func repeatable(err error) bool {
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		return !timedOut(err)
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

// timedOut says whether a server took the request and used up an attempt's time: it may be
// working still, and is not given the same work again. A dial that timed out is no such case.
func timedOut(err error) bool {
	dial, ok := errors.AsType[*net.OpError](err)
	return errors.Is(err, context.DeadlineExceeded) && (!ok || dial.Op != "dial")
}

// withoutURL is the error below net/http's, which begins with the URL: that may hold a key.
func withoutURL(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}
