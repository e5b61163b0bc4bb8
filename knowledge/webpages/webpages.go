package webpages

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/workspaces"
)

const (
	// pageTimeout bounds the fetch of one page, its body included, headerTimeout the wait for its
	// first byte.
	pageTimeout   = 2 * time.Minute
	headerTimeout = 20 * time.Second
	// maxRedirects is how many redirects are followed.
	maxRedirects = 5
	// maxURLBytes is the longest URL.
	maxURLBytes = 2048
	userAgent   = "Parlance-Knowledge/1"
	accept      = "text/html, application/xhtml+xml, text/markdown, application/pdf, text/*;q=0.9, */*;q=0.8"
)

// Deps is what a Service works with; all are required.
type Deps struct {
	Knowledge *knowledge.Service
	Guard     *publicnet.Guard
}

// Service makes and fetches sources with a URL. Safe for concurrent use.
type Service struct {
	knowledge *knowledge.Service
	guard     *publicnet.Guard
	client    *http.Client
}

// New makes the service.
func New(d Deps) *Service {
	return &Service{
		knowledge: d.Knowledge, guard: d.Guard,
		client: d.Guard.Client(publicnet.ClientOptions{Timeout: pageTimeout, HeaderTimeout: headerTimeout}),
	}
}

// CreateSource makes a source of a URL, to be fetched in the background. Errors: AlreadyExists
// kb-url-taken, Invalid invalid-request, NotFound (the workspace).
func (s *Service) CreateSource(ctx context.Context, ref workspaces.Ref, p knowledge.URLParams) (knowledge.Source, error) {
	address, err := s.parse(p.URL)
	if err != nil {
		return knowledge.Source{}, err
	}
	p.URL = address.String()
	made, err := s.knowledge.CreateFromURLs(ctx, ref, []knowledge.URLParams{p})
	if err != nil {
		return knowledge.Source{}, err
	}
	if len(made) == 0 {
		there, err := s.knowledge.FindByURL(ctx, ref, p.URL)
		if err != nil {
			return knowledge.Source{}, err
		}
		return knowledge.Source{}, fault.New(fault.KBURLTaken, "The workspace has a source of this URL: %s (%q).", there.ID, there.Name)
	}
	return made[0], nil
}

// parse checks a URL of a caller's, and drops its fragment. Errors: Invalid invalid-request.
func (s *Service) parse(text string) (*url.URL, error) {
	address, err := url.Parse(strings.TrimSpace(text))
	if err != nil || len(text) > maxURLBytes {
		return nil, fault.InvalidField("url", "url", "url is not a URL of at most %d bytes.", maxURLBytes)
	}
	address.Fragment, address.RawFragment, address.ForceQuery = "", "", false
	if address.Path == "" {
		address.Path = "/"
	}
	address.Host = publicnet.Host(address)
	switch err := s.guard.CheckLiteral(address); {
	case errors.Is(err, publicnet.ErrNotPublic):
		return nil, fault.InvalidField("url", "url_not_public", "url names an address that is not public.")
	case err != nil:
		return nil, fault.InvalidField("url", "url", "url must be http or https with a host, and cannot have a user name.")
	}
	return address, nil
}

// Fetch implements ingestion.Fetcher.
func (s *Service) Fetch(ctx context.Context, source knowledge.Source) (ingestion.Fetched, error) {
	headers := http.Header{}
	if source.BlobKey != "" {
		if source.ETag != "" {
			headers.Set("If-None-Match", source.ETag)
		}
		if source.LastModified != "" {
			headers.Set("If-Modified-Since", source.LastModified)
		}
	}
	resp, err := s.get(ctx, source.URL, headers)
	if err != nil {
		return ingestion.Fetched{}, err
	}
	defer func() { _ = resp.Body.Close() }() // only read
	got := ingestion.Fetched{ETag: bounded(resp.Header.Get("ETag")), LastModified: bounded(resp.Header.Get("Last-Modified"))}
	if resp.StatusCode == http.StatusNotModified && len(headers) > 0 {
		return ingestion.Fetched{ETag: source.ETag, LastModified: source.LastModified}, nil
	}
	if resp.StatusCode != http.StatusOK {
		return ingestion.Fetched{}, errStatus(resp)
	}
	content := bufio.NewReader(resp.Body)
	contentType := resp.Header.Get("Content-Type")
	if contentType == "" {
		first, _ := content.Peek(512) // a short page is shorter
		contentType = http.DetectContentType(first)
	}
	mediaType, ok := document.Resolve(contentType, resp.Request.URL.Path)
	if !ok {
		return ingestion.Fetched{}, refused("The URL gives %q, which is none of the types that are read.", contentType)
	}
	body := &bodyReader{from: content}
	params := knowledge.UploadParams{
		MediaType: mediaType, AtLeastBytes: max(resp.ContentLength, 0), Replaces: source.ID, Owner: source.Owner,
	}
	if document.TakesOCR(mediaType) { // as before
		params.ForceOCR, params.OCRLanguages = source.ForceOCR && mediaType == document.ApplicationPDF, source.OCRLanguages
	}
	now, err := s.knowledge.Upload(ctx, source.Ref(), params, body)
	switch {
	case err == nil:
		got.Replaced, got.SHA256 = now.Owner != source.Owner, now.SHA256
		return got, nil
	case errors.Is(err, knowledge.ErrTakenOver):
		return ingestion.Fetched{}, err
	case body.failed != nil && ctx.Err() == nil:
		return ingestion.Fetched{}, passing("The connection broke while the URL was read.")
	}
	if decided := fault.From(err); decided.Kind() != fault.Internal && ctx.Err() == nil {
		return ingestion.Fetched{}, refused("The content of the URL was refused: %s", decided.Message)
	}
	return ingestion.Fetched{}, err
}

// bounded keeps a validator that has a sensible length; without one the content is compared.
func bounded(validator string) string {
	if len(validator) > 500 {
		return ""
	}
	return validator
}

// bodyReader remembers that the answer's body could not be read.
type bodyReader struct {
	from   io.Reader
	failed error
}

// Read implements io.Reader.
func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.failed = err
	}
	return n, err
}

// get sends a GET and follows redirects. The answer's body is the caller's to close.
// Errors: *knowledge.FetchError, ctx's.
func (s *Service) get(ctx context.Context, target string, headers http.Header) (*http.Response, error) {
	for range maxRedirects + 1 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
		if err != nil {
			return nil, refused("The URL, or one that it leads to, is not valid.")
		}
		for name, values := range headers {
			req.Header[name] = values
		}
		req.Header.Set("User-Agent", userAgent)
		req.Header.Set("Accept", accept)
		resp, err := s.client.Do(req)
		if err != nil {
			return nil, errSending(ctx, err)
		}
		if !isRedirect(resp.StatusCode) || resp.Header.Get("Location") == "" {
			return resp, nil
		}
		_ = resp.Body.Close() // a redirect's body is not read
		next, err := resp.Location()
		if err != nil {
			return nil, refused("The URL leads to one that is not valid.")
		}
		if req.URL.Scheme == "https" && next.Scheme != "https" {
			return nil, refused("The URL leads to one that is not https.")
		}
		target = next.String()
	}
	return nil, refused("The URL leads on more than %d times.", maxRedirects)
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// errSending says why there was no answer.
func errSending(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, publicnet.ErrNotPublic):
		return refused("The URL leads to an address that is not public.")
	case errors.Is(err, publicnet.ErrURL):
		return refused("The URL leads to one that is not http or https, or that has a user name.")
	case errors.Is(err, context.DeadlineExceeded):
		return passing("The server did not answer in time.")
	}
	return passing("The server could not be reached.")
}

// errStatus says what an answer without content means.
func errStatus(resp *http.Response) error {
	answer := strings.TrimSpace(strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode))
	failed := refused("The server answers %s without the content.", answer)
	switch resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		failed.Passing = true
	default:
		failed.Passing = resp.StatusCode >= http.StatusInternalServerError
	}
	failed.RetryAfter = publicnet.RetryAfter(resp.Header)
	return failed
}
