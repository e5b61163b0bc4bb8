// Package fetch gets documents from the web for a person at a terminal: a web page for the
// knowledge base, or an OpenAPI document.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// maxRedirects is how many redirects are followed.
const maxRedirects = 5

// Request says what to get.
type Request struct {
	URL       string
	UserAgent string
	Accept    string
	// Timeout covers the whole request, including the body.
	Timeout time.Duration
}

// Get sends a request and calls read with the answer when its status is 200. Errors are sentences
// for people, and do not repeat the URL: it may hold a password.
func (r Request) Get(ctx context.Context, read func(*http.Response) error) error {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, http.NoBody)
	if err != nil {
		return errors.New("that is not a URL")
	}
	req.Header.Set("User-Agent", r.UserAgent)
	req.Header.Set("Accept", r.Accept)
	client := &http.Client{CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("it is redirected more than %d times", maxRedirects)
		}
		return nil
	}}
	resp, err := client.Do(req)
	if err != nil {
		return r.explain(err)
	}
	defer func() { _ = resp.Body.Close() }() // only read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", resp.Status)
	}
	return r.explain(read(resp))
}

func (r Request) explain(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("it took longer than %s", r.Timeout)
	}
	return err
}
