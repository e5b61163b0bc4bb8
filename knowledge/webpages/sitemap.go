package webpages

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/workspaces"
)

const (
	// maxSitemapBytes of one sitemap, unpacked. Source: sitemaps.org allows 50 MB.
	maxSitemapBytes = 50 << 20
	// maxSitemaps is how many sitemaps an index leads to.
	maxSitemaps = 50
	// sitemapTimeout bounds the reading of all of them: the caller waits.
	sitemapTimeout = 45 * time.Second
	// maxPages bounds how many sources one sitemap makes, defaultPages when the caller does not say.
	maxPages, defaultPages = 500, 100
)

// SitemapParams names a sitemap.
type SitemapParams struct {
	URL string
	// MaxPages is from 1 to 500; 0 is 100.
	MaxPages     int
	RefreshEvery string
	Tags         []string
}

// SitemapSources is what came of a sitemap.
type SitemapSources struct {
	Made []knowledge.Source
	// Found is how many pages of its host the sitemap names, Known how many of those that were to be
	// made the workspace had.
	Found, Known int
}

// CreateFromSitemap makes sources of the pages that a sitemap names, in its order, up to MaxPages.
// Pages of other hosts are left out, and those that the workspace has stay as they are.
// Errors: Upstream upstream-failed (the sitemap), those of CreateSource.
func (s *Service) CreateFromSitemap(ctx context.Context, ref workspaces.Ref, p SitemapParams) (SitemapSources, error) {
	if p.MaxPages == 0 {
		p.MaxPages = defaultPages
	}
	if p.MaxPages < 1 || p.MaxPages > maxPages {
		return SitemapSources{}, fault.InvalidField("max_pages", "range", "max_pages must be from 1 to %d.", maxPages)
	}
	address, err := s.parse(p.URL)
	if err != nil {
		return SitemapSources{}, err
	}
	if err := (knowledge.URLParams{URL: p.URL, RefreshEvery: p.RefreshEvery, Tags: p.Tags}).Check(); err != nil {
		return SitemapSources{}, err
	}
	reading, cancel := context.WithTimeout(ctx, sitemapTimeout)
	defer cancel()
	pages := &sitemap{service: s, host: address.Host, seen: map[string]bool{}}
	if err := pages.read(reading, address.String(), 0); err != nil {
		return SitemapSources{}, errSitemap(ctx, err)
	}
	if len(pages.found) == 0 {
		return SitemapSources{}, fault.New(fault.UpstreamFailed, "The sitemap names no page of %s.", address.Host)
	}
	chosen := pages.found[:min(len(pages.found), p.MaxPages)]
	params := make([]knowledge.URLParams, len(chosen))
	for i, page := range chosen {
		params[i] = knowledge.URLParams{URL: page, RefreshEvery: p.RefreshEvery, Tags: p.Tags}
	}
	made, err := s.knowledge.CreateFromURLs(ctx, ref, params)
	return SitemapSources{Made: made, Found: len(pages.found), Known: len(chosen) - len(made)}, err
}

func errSitemap(ctx context.Context, err error) error {
	var failed *knowledge.FetchError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.UpstreamFailed, "The sitemap could not be read within %s.", sitemapTimeout)
	case errors.As(err, &failed):
		return fault.New(fault.UpstreamFailed, "The sitemap could not be fetched. %s", failed.Message)
	}
	return fault.New(fault.UpstreamFailed, "The URL gives no sitemap: %v.", err)
}

// sitemap collects the pages of a host.
type sitemap struct {
	service *Service
	host    string
	found   []string
	seen    map[string]bool
	// count is how many sitemaps were read.
	count int
}

// read reads a sitemap, and those that it leads to. depth is 0 for the first.
func (m *sitemap) read(ctx context.Context, target string, depth int) error {
	if m.count++; m.count > maxSitemaps {
		return nil
	}
	resp, err := m.service.get(ctx, target, http.Header{})
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // only read
	if resp.StatusCode != http.StatusOK {
		return errStatus(resp)
	}
	text, err := unpacked(resp.Body)
	if err != nil {
		return err
	}
	others, err := m.parse(text)
	if err != nil {
		return err
	}
	for _, other := range others {
		if depth > 0 { // an index names sitemaps, not indexes
			break
		}
		if err := m.read(ctx, other, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// unpacked is a bounded text, which may be gzipped.
func unpacked(body io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(body)
	if magic, _ := buffered.Peek(2); string(magic) != "\x1f\x8b" {
		return io.LimitReader(buffered, maxSitemapBytes), nil
	}
	plain, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("it is not gzip: %w", err)
	}
	return io.LimitReader(plain, maxSitemapBytes), nil
}

// parse reads the locations of a sitemap: pages are collected, sitemaps returned.
func (m *sitemap) parse(text io.Reader) (others []string, err error) {
	decoder := xml.NewDecoder(text)
	decoder.CharsetReader = charset.NewReaderLabel
	var root xml.Name
	inside := ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && root.Local != "" {
			return others, nil
		}
		if err != nil {
			return nil, errors.New("it is not XML of a sitemap")
		}
		element, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case root.Local == "":
			if root = element.Name; root.Local != "urlset" && root.Local != "sitemapindex" {
				return nil, fmt.Errorf("its first element is %q", root.Local)
			}
		case element.Name.Space != root.Space: // of a picture or a video
		case element.Name.Local == "url" || element.Name.Local == "sitemap":
			inside = element.Name.Local
		case element.Name.Local == "loc" && inside != "":
			var location string
			if err := decoder.DecodeElement(&location, &element); err != nil {
				return nil, errors.New("it is not XML of a sitemap")
			}
			if address, mine := m.mine(location); mine && inside == "sitemap" {
				others = append(others, address)
			} else if mine && !m.seen[address] {
				m.seen[address] = true
				m.found = append(m.found, address)
			}
		}
	}
}

// mine is a location of the sitemap's host.
func (m *sitemap) mine(location string) (string, bool) {
	address, err := url.Parse(strings.TrimSpace(location))
	if err != nil || !strings.EqualFold(address.Host, m.host) {
		return "", false
	}
	checked, err := m.service.parse(address.String())
	if err != nil {
		return "", false
	}
	return checked.String(), true
}
