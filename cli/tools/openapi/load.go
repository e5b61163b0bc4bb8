package openapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	// MaxBytes is the largest document that is read. The largest public ones have about 12 MiB.
	MaxBytes = 20 << 20
	// loadTimeout bounds fetching a document as a whole.
	loadTimeout = time.Minute
	// maxRedirects is how often a document may be elsewhere.
	maxRedirects = 5
)

// Source is a document's text and where it was found.
type Source struct {
	Raw []byte
	// URL is where it was fetched from, redirects followed; nil for files.
	URL *url.URL
}

// Load reads a document from a URL, a file, or stdin for "-". The errors are for people, and do not
// repeat an address, which may hold a password.
func Load(ctx context.Context, place, userAgent string, stdin io.Reader) (Source, error) {
	if strings.HasPrefix(place, "http://") || strings.HasPrefix(place, "https://") {
		return fetch(ctx, place, userAgent)
	}
	in := stdin
	if place != "-" {
		file, err := os.Open(place)
		if err != nil {
			return Source{}, err
		}
		defer func() { _ = file.Close() }() // only read
		in = file
	}
	raw, err := readAll(in)
	return Source{Raw: raw}, err
}

func readAll(in io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	if len(raw) > MaxBytes {
		return nil, fmt.Errorf("the document is larger than %d MiB; take the part you need", MaxBytes>>20)
	}
	return raw, nil
}

// fetch gets a document from this machine, as a browser on it would.
func fetch(ctx context.Context, address, userAgent string) (Source, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return Source{}, errors.New("that is not a URL")
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json, application/yaml, text/yaml, */*;q=0.5")
	client := &http.Client{CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("it is redirected more than %d times", maxRedirects)
		}
		return nil
	}}
	resp, err := client.Do(req)
	if err != nil {
		return Source{}, fetchError(err)
	}
	defer func() { _ = resp.Body.Close() }() // only read
	if resp.StatusCode != http.StatusOK {
		return Source{}, fmt.Errorf("fetch the document: the server answers %s", resp.Status)
	}
	raw, err := readAll(resp.Body)
	if err != nil {
		return Source{}, fetchError(err)
	}
	found := *resp.Request.URL
	found.User, found.Fragment, found.RawFragment = nil, "", ""
	return Source{Raw: raw, URL: &found}, nil
}

func fetchError(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("fetch the document: it took longer than %s", loadTimeout)
	}
	return fmt.Errorf("fetch the document: %w", err)
}
