package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
)

const (
	// longestPause is the longest that the service may have the import wait.
	longestPause = 2 * time.Minute
	// progressEvery is after how much waiting another line says so.
	progressEvery = 15 * time.Second
)

// patience is an interceptor that waits when the plan allows no more requests for now, and that
// recognises answers that are not of a Parlance service.
type patience struct {
	base     string
	progress io.Writer
	// wait waits so long, or until the context ends.
	wait   func(context.Context, time.Duration) error
	waited time.Duration
}

func newPatience(base string, progress io.Writer) *patience {
	return &patience{base: base, progress: progress, wait: func(ctx context.Context, pause time.Duration) error {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		}
	}}
}

// WrapUnary implements connect.Interceptor.
func (p *patience) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		for {
			answer, err := next(ctx, req)
			pause := pauseAfter(err)
			if pause == 0 {
				return answer, p.recognise(err)
			}
			if before := p.waited / progressEvery; p.waited == 0 || (p.waited+pause)/progressEvery > before {
				fmt.Fprintf(p.progress, "No more requests are allowed for now; the import waits and goes on (%s so far).\n", p.waited)
			}
			p.waited += pause
			if err := p.wait(ctx, pause); err != nil {
				return nil, err
			}
		}
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (p *patience) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor; it is for servers.
func (p *patience) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// pauseAfter is how long the service asks to wait before the call is made again; 0 when it does
// not.
func pauseAfter(err error) time.Duration {
	refused, ok := errors.AsType[*connect.Error](err)
	if !ok || refused.Code() != connect.CodeResourceExhausted {
		return 0
	}
	seconds, err := strconv.Atoi(refused.Meta().Get("Retry-After"))
	if pause := time.Duration(seconds) * time.Second; err == nil && pause > 0 && pause <= longestPause {
		return pause
	}
	return 0
}

// recognise says that a base URL leads elsewhere, when an answer is none of the API.
func (p *patience) recognise(err error) error {
	refused, ok := errors.AsType[*connect.Error](err)
	if !ok || connect.IsWireError(err) {
		return err
	}
	if strings.Contains(refused.Message(), "content-type") || refused.Code() == connect.CodeUnimplemented {
		return fmt.Errorf("the base URL (PARLANCE_BASE_URL) does not lead to a Parlance service: %s answers something else", p.base)
	}
	return err
}

// proxied gives the answers of a proxy that refuses a call the form of those of the API, so that
// they are waited for, and named, like those.
type proxied struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (p proxied) RoundTrip(req *http.Request) (*http.Response, error) {
	answer, err := p.next.RoundTrip(req)
	if err != nil || strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") {
		return answer, err
	}
	code, ok := map[int]connect.Code{
		http.StatusTooManyRequests: connect.CodeResourceExhausted, http.StatusServiceUnavailable: connect.CodeUnavailable,
		http.StatusBadGateway: connect.CodeUnavailable, http.StatusGatewayTimeout: connect.CodeUnavailable,
	}[answer.StatusCode]
	if !ok {
		return answer, nil
	}
	_ = answer.Body.Close() // nothing of it is read
	text := fmt.Sprintf(`{"code": %q, "message": "%s answers %s. Try again later."}`, code, req.URL.Host, answer.Status)
	answer.Body, answer.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	answer.Header.Set("Content-Type", "application/json")
	answer.Header.Del("Content-Encoding")
	answer.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return answer, nil
}
