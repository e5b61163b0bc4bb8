package tools

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/tools/openapi"
	"parlance.dev/parlance/workspaces"
)

// Bounds of a document that is fetched or read.
const (
	openAPITimeout      = 15 * time.Second
	maxOpenAPIBytes     = 8 << 20
	maxOpenAPIRedirects = 5
	// maxYAMLMarks lets YAML of the usual density through up to maxOpenAPIBytes, and bounds the memory
	// for reading it to about 450 MiB.
	maxYAMLMarks = 1_500_000
)

// ReadOpenAPIParams say which OpenAPI document is read: Document is its text, or URL where it is.
type ReadOpenAPIParams struct {
	Document, URL string
	// Server replaces the base URL of the document; Prefix stands before each name. Both may be empty.
	Server, Prefix string
}

// OpenAPI is an API as its document describes it.
type OpenAPI struct {
	Title string
	// Server is the base URL of the API; empty when it is not known.
	Server     string
	Operations []OpenAPIOperation
}

// OpenAPIOperation is an operation and the tool that could be made of it.
type OpenAPIOperation struct {
	openapi.Operation

	// ToolID is the workspace's tool of that name, empty when there is none, and Changed are its
	// fields that differ, by their names in the API.
	ToolID  ID
	Changed []string
}

// ReadOpenAPI reads a document and says which tools could be made of its operations. Errors:
// Invalid invalid-request, Invalid egress-refused and Upstream upstream-failed (the URL).
func (s *Service) ReadOpenAPI(ctx context.Context, ref workspaces.Ref, p ReadOpenAPIParams) (OpenAPI, error) {
	if (p.Document == "") == (p.URL == "") {
		return OpenAPI{}, fault.InvalidField("document", "required", "Send either document or url.")
	}
	options := openapi.Options{Prefix: p.Prefix, Server: p.Server}
	for _, b := range builtins {
		options.Reserved = append(options.Reserved, b.Name)
	}
	if err := options.Check(); err != nil {
		return OpenAPI{}, fault.InvalidField("server", "url", "%s.", capitalized(err.Error()))
	}
	source, field := openapi.Source{Raw: []byte(p.Document)}, "document"
	if p.URL != "" {
		field = "url"
		var err error
		if source, err = s.fetchOpenAPI(ctx, p.URL); err != nil {
			return OpenAPI{}, err
		}
	}
	select { // reading takes much memory, so documents are read one after the other
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	case <-ctx.Done():
		return OpenAPI{}, ctx.Err()
	}
	source.MaxYAMLMarks = maxYAMLMarks
	doc, err := openapi.Read(source)
	if err != nil {
		return OpenAPI{}, fault.InvalidField(field, "openapi", "%s.", capitalized(err.Error()))
	}
	operations, err := doc.Plan(ctx, options)
	switch {
	case ctx.Err() != nil:
		return OpenAPI{}, ctx.Err()
	case err != nil:
		return OpenAPI{}, fault.InvalidField(field, "openapi", "%s.", capitalized(err.Error()))
	}
	api := OpenAPI{Title: doc.Title, Server: doc.Server(options)}
	api.Operations, err = s.compareOpenAPI(ctx, ref, operations)
	return api, err
}

// compareOpenAPI finds the tools of the workspace that have the names of operations. What Create
// would refuse is no tool.
func (s *Service) compareOpenAPI(ctx context.Context, ref workspaces.Ref, operations []openapi.Operation) ([]OpenAPIOperation, error) {
	var slugs []string
	for _, operation := range operations {
		if operation.Tool != nil {
			slugs = append(slugs, strings.ToLower(operation.Tool.Slug))
		}
	}
	there, err := selectTools(ctx, s.db, ref, slugs)
	if err != nil {
		return nil, err
	}
	existing := make([]openapi.Existing, len(there))
	for i, tool := range there {
		c := tool.Config
		existing[i] = openapi.Existing{
			ID: string(tool.ID), Slug: tool.Slug, Kind: string(tool.Kind), Description: tool.Description, URL: c.WebhookURL,
			Method: c.Method, PathParams: c.PathParams, QueryParams: c.QueryParams, Headers: c.Headers,
			HardcodedQueryParams: c.HardcodedQueryParams, InputSchema: c.InputSchema, DynamicVariables: c.AllowDynamicVars,
		}
	}
	compared := make([]OpenAPIOperation, len(operations))
	proposals := NewProposals(s.checker.guard)
	for i, operation := range operations {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		found, changed := operation.Compare(existing, openapi.Hints{})
		proposals.Refuse(&operation, found)
		compared[i] = OpenAPIOperation{Operation: operation, Changed: changed}
		if found != nil {
			compared[i].ToolID = ID(found.ID)
		}
	}
	return compared, nil
}

// fetchOpenAPI gets a document. Errors: Invalid invalid-request and egress-refused, Upstream
// upstream-failed.
func (s *Service) fetchOpenAPI(ctx context.Context, raw string) (openapi.Source, error) {
	var v violations
	if s.checker.checkURL(&v, "url", raw, ""); len(v) > 0 {
		return openapi.Source{}, v.err()
	}
	target, err := url.Parse(raw)
	if err != nil {
		return openapi.Source{}, fault.InvalidField("url", "url", "url is not a valid URL.")
	}
	limited, cancel := context.WithTimeout(ctx, openAPITimeout)
	defer cancel()
	for range maxOpenAPIRedirects + 1 {
		resp, err := s.getOpenAPI(limited, target)
		if err != nil {
			return openapi.Source{}, openAPIFailure(ctx, limited, err)
		}
		location := resp.Header.Get("Location")
		if resp.StatusCode < 300 || resp.StatusCode > 399 || location == "" {
			return readOpenAPI(ctx, limited, resp, target)
		}
		_ = resp.Body.Close() // a redirect's body is not read
		next, err := target.Parse(location)
		if err != nil || target.Scheme == "https" && next.Scheme != "https" {
			return openapi.Source{}, fault.New(fault.UpstreamFailed, "The server of the document redirects to what is no https URL.")
		}
		target = next
	}
	return openapi.Source{}, fault.New(fault.UpstreamFailed, "The document is redirected more than %d times.", maxOpenAPIRedirects)
}

func (s *Service) getOpenAPI(ctx context.Context, target *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return nil, errors.Join(publicnet.ErrURL, err)
	}
	req.Header.Set("Accept", "application/json, application/yaml, text/yaml, */*;q=0.5")
	req.Header.Set("User-Agent", "parlance")
	return s.documents.Do(req)
}

// readOpenAPI reads an answer and closes it.
func readOpenAPI(caller, ctx context.Context, resp *http.Response, from *url.URL) (openapi.Source, error) {
	defer func() { _ = resp.Body.Close() }() // only read
	if resp.StatusCode != http.StatusOK {
		return openapi.Source{}, fault.New(fault.UpstreamFailed, "The server of the document answered %s.",
			strings.TrimSpace(strconv.Itoa(resp.StatusCode)+" "+http.StatusText(resp.StatusCode)))
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxOpenAPIBytes+1))
	if err != nil {
		return openapi.Source{}, openAPIFailure(caller, ctx, err)
	}
	if len(raw) > maxOpenAPIBytes {
		return openapi.Source{}, fault.InvalidField("url", "max_bytes",
			"The document is larger than %d MiB; take the part you need.", maxOpenAPIBytes>>20)
	}
	base := *from
	base.Fragment, base.RawFragment = "", ""
	return openapi.Source{Raw: raw, URL: &base}, nil
}

// openAPIFailure says why a document could not be fetched. The text of the error is never used: it
// has the URL, which may have a secret. caller is the context of the caller, ctx that of the fetch.
func openAPIFailure(caller, ctx context.Context, err error) error {
	switch {
	case caller.Err() != nil:
		return caller.Err()
	case errors.Is(err, publicnet.ErrNotPublic):
		return fault.New(fault.EgressRefused, "The document is at an address that is not public.")
	case errors.Is(err, publicnet.ErrURL):
		return fault.New(fault.EgressRefused, "The document is at a URL that is not http or https, or that has a user name.")
	case ctx.Err() != nil:
		return fault.New(fault.UpstreamFailed, "The document could not be fetched within %d seconds.", int(openAPITimeout.Seconds()))
	}
	return fault.New(fault.UpstreamFailed, "The server of the document could not be reached, or the connection broke.")
}

// capitalized makes a sentence of an error.
func capitalized(text string) string {
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
}
