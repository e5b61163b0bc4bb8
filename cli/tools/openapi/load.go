package openapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"parlance.dev/parlance/cli/fetch"
)

const (
	// MaxBytes is the size of the largest document that is read. The largest public ones have about
	// 12 MiB.
	MaxBytes = 20 << 20
	// loadTimeout is the time for fetching a document.
	loadTimeout = time.Minute
)

// Source is the text of a document and where it was found.
type Source struct {
	Raw []byte
	// URL is where it was fetched from, after redirects; nil for files.
	URL *url.URL
}

// Load reads a document from a URL, a file, or stdin for "-". Errors are sentences for people, and
// do not repeat a URL: it may hold a password.
func Load(ctx context.Context, place, userAgent string, stdin io.Reader) (Source, error) {
	switch {
	case place == "-":
		return read(stdin)
	case !strings.HasPrefix(place, "http://") && !strings.HasPrefix(place, "https://"):
		file, err := os.Open(place)
		if err != nil {
			return Source{}, err
		}
		defer func() { _ = file.Close() }() // only read
		return read(file)
	}
	request := fetch.Request{
		URL: place, UserAgent: userAgent, Timeout: loadTimeout,
		Accept: "application/json, application/yaml, text/yaml, */*;q=0.5",
	}
	var source Source
	err := request.Get(ctx, func(resp *http.Response) (err error) {
		source, err = read(resp.Body)
		found := *resp.Request.URL
		found.User, found.Fragment, found.RawFragment = nil, "", ""
		source.URL = &found
		return err
	})
	if err != nil {
		return Source{}, fmt.Errorf("fetch the document: %w", err)
	}
	return source, nil
}

func read(in io.Reader) (Source, error) {
	raw, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil {
		return Source{}, fmt.Errorf("read the document: %w", err)
	}
	if len(raw) > MaxBytes {
		return Source{}, fmt.Errorf("the document is larger than %d MiB; take the part you need", MaxBytes>>20)
	}
	return Source{Raw: raw}, nil
}
