package intake

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
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"parlance.dev/parlance/knowledge/document"
)

const (
	// MaxPageBytes is the largest page that is fetched; a larger file is downloaded by other means
	// and added as a file.
	MaxPageBytes = 100 << 20
	// pageTimeout bounds fetching a page as a whole.
	pageTimeout = 2 * time.Minute
	// maxRedirects is how often a page may be elsewhere.
	maxRedirects = 5
	// titleBytes is how far a title is looked for.
	titleBytes = 256 << 10
)

// Fetcher gets web pages from this machine, as a browser on it would.
type Fetcher struct {
	// Agent is the User-Agent.
	Agent string
	// MaxBytes is MaxPageBytes unless set.
	MaxBytes int64
}

// fetched is a page on disk.
type fetched struct {
	title     string
	mediaType string
	sizeBytes int64
}

// fetch writes a page into a file. declared, when it is not empty, is believed in place of what
// the server says it is. The errors are for people.
func (f Fetcher) fetch(ctx context.Context, address *url.URL, declared string, into *os.File) (fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return fetched{}, fmt.Errorf("fetch the page: %w", err)
	}
	req.Header.Set("User-Agent", f.Agent)
	req.Header.Set("Accept", "text/html, application/xhtml+xml, text/*;q=0.9, */*;q=0.8")
	client := &http.Client{Transport: http.DefaultTransport, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("it is redirected more than %d times", maxRedirects)
		}
		return nil
	}}
	resp, err := client.Do(req)
	if err != nil {
		return fetched{}, fetchError(err)
	}
	defer func() { _ = resp.Body.Close() }() // only read
	if resp.StatusCode != http.StatusOK {
		return fetched{}, fmt.Errorf("the page answers %s", resp.Status)
	}
	kind, ok := declared, true
	if kind == "" {
		if kind, ok = document.Resolve(resp.Header.Get("Content-Type"), resp.Request.URL.Path); !ok {
			return fetched{}, fmt.Errorf("the page is %q, which is not accepted (%s)", resp.Header.Get("Content-Type"), AcceptedTypes())
		}
	}
	most := f.MaxBytes
	if most <= 0 {
		most = MaxPageBytes
	}
	size, err := io.Copy(into, io.LimitReader(resp.Body, most+1))
	if err != nil {
		return fetched{}, fetchError(err)
	}
	if size > most {
		return fetched{}, fmt.Errorf("the page is larger than %d MiB; download it and add the file", most>>20)
	}
	page := fetched{mediaType: kind, sizeBytes: size}
	if strings.HasPrefix(kind, document.TextHTML) {
		page.title = titleOf(into, resp.Header.Get("Content-Type"))
	}
	return page, nil
}

// fetchError says what went wrong without repeating the address, which may hold a password.
func fetchError(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		if wrapped.Timeout() {
			return fmt.Errorf("the page took longer than %s", pageTimeout)
		}
		err = wrapped.Err
	}
	return fmt.Errorf("fetch the page: %w", err)
}

// titleOf is the page's title; empty when it has none.
func titleOf(page io.ReaderAt, contentType string) string {
	decoded, err := charset.NewReader(io.NewSectionReader(page, 0, titleBytes), contentType)
	if err != nil {
		return ""
	}
	tokens := html.NewTokenizer(decoded)
	for inTitle := false; ; {
		switch tokens.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken:
			name, _ := tokens.TagName()
			inTitle = string(name) == "title"
		case html.TextToken:
			if inTitle {
				return strings.Join(strings.Fields(strings.Map(printable, string(tokens.Text()))), " ")
			}
		}
	}
}

func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// pageName is a page's title with its address; the title is shortened before the address is.
// Passwords and what only the browser uses are left out.
func pageName(title string, address *url.URL) string {
	shown := *address
	shown.User, shown.Fragment, shown.RawFragment = nil, "", ""
	where := shown.String()
	if utf8.RuneCountInString(where) > maxNameRunes*3/4 {
		where = string([]rune(where)[:maxNameRunes*3/4-1]) + "…"
	}
	if title == "" {
		return where
	}
	room := maxNameRunes - utf8.RuneCountInString(where) - len(" ()")
	if runes := []rune(title); len(runes) > room {
		title = strings.TrimSpace(string(runes[:room-1])) + "…"
	}
	return title + " (" + where + ")"
}
