package intake

import (
	"context"
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

	"parlance.dev/parlance/cli/fetch"
	"parlance.dev/parlance/knowledge/document"
)

const (
	// maxPageBytes is the size of the largest page that is fetched. Larger files can be downloaded and
	// then added as files.
	maxPageBytes = 100 << 20
	// pageTimeout is the time for fetching a page.
	pageTimeout = 2 * time.Minute
	// titleBytes is the part of a page in which a title is looked for.
	titleBytes = 256 << 10
)

// fetched describes a page that was written to a file.
type fetched struct {
	title     string
	mediaType string
	sizeBytes int64
}

// fetchPage writes a page into a file. A declared media type takes precedence over the server's.
func fetchPage(ctx context.Context, userAgent string, address *url.URL, declared string, into *os.File) (page fetched, err error) {
	request := fetch.Request{
		URL: address.String(), UserAgent: userAgent, Timeout: pageTimeout,
		Accept: "text/html, application/xhtml+xml, text/*;q=0.9, */*;q=0.8",
	}
	err = request.Get(ctx, func(resp *http.Response) error {
		page, err = save(resp, declared, into)
		return err
	})
	if err != nil {
		return fetched{}, fmt.Errorf("fetch the page: %w", err)
	}
	return page, nil
}

// save writes the page that a server answers with.
func save(resp *http.Response, declared string, into *os.File) (fetched, error) {
	contentType := resp.Header.Get("Content-Type")
	kind := declared
	if kind == "" {
		var ok bool
		if kind, ok = document.Resolve(contentType, resp.Request.URL.Path); !ok {
			return fetched{}, fmt.Errorf("the page is %q, which is not accepted (%s)", contentType, AcceptedTypes())
		}
	}
	size, err := io.Copy(into, io.LimitReader(resp.Body, maxPageBytes+1))
	if err != nil {
		return fetched{}, err
	}
	if size > maxPageBytes {
		return fetched{}, fmt.Errorf("the page is larger than %d MiB; download it and add the file", maxPageBytes>>20)
	}
	page := fetched{mediaType: kind, sizeBytes: size}
	if strings.HasPrefix(kind, document.TextHTML) {
		page.title = titleOf(into, contentType)
	}
	return page, nil
}

// titleOf returns the title of a page; it may be empty.
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

// pageName joins the title of a page and its address without user, password and fragment. A long
// title is shortened before the address is.
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
