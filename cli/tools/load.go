package tools

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"parlance.dev/parlance/cli/fetch"
	"parlance.dev/parlance/tools/openapi"
)

const (
	// maxDocumentBytes is the size of the largest document that is read. The largest public ones have
	// about 12 MiB.
	maxDocumentBytes = 20 << 20
	// loadTimeout is the time for fetching a document.
	loadTimeout = time.Minute
)

// loadDocument reads a document from a URL, a file, or stdin for "-". Errors are sentences for
// people, and do not repeat a URL: it may hold a password.
func loadDocument(ctx context.Context, place, userAgent string, stdin io.Reader) (openapi.Source, error) {
	switch {
	case place == "-":
		return readDocument(stdin)
	case !strings.HasPrefix(place, "http://") && !strings.HasPrefix(place, "https://"):
		file, err := os.Open(place)
		if err != nil {
			return openapi.Source{}, err
		}
		defer func() { _ = file.Close() }() // only read
		return readDocument(file)
	}
	request := fetch.Request{
		URL: place, UserAgent: userAgent, Timeout: loadTimeout,
		Accept: "application/json, application/yaml, text/yaml, */*;q=0.5",
	}
	var source openapi.Source
	err := request.Get(ctx, func(resp *http.Response) (err error) {
		source, err = readDocument(resp.Body)
		found := *resp.Request.URL
		found.User, found.Fragment, found.RawFragment = nil, "", ""
		source.URL = &found
		return err
	})
	if err != nil {
		return openapi.Source{}, fmt.Errorf("fetch the document: %w", err)
	}
	return source, nil
}

func readDocument(in io.Reader) (openapi.Source, error) {
	raw, err := io.ReadAll(io.LimitReader(in, maxDocumentBytes+1))
	if err != nil {
		return openapi.Source{}, fmt.Errorf("read the document: %w", err)
	}
	if len(raw) > maxDocumentBytes {
		return openapi.Source{}, fmt.Errorf("the document is larger than %d MiB; take the part you need", maxDocumentBytes>>20)
	}
	return openapi.Source{Raw: raw}, nil
}
