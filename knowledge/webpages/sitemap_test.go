package webpages_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/webpages"
)

// sitemapOf is an XML sitemap of locations.
func sitemapOf(element string, locations ...string) string {
	inner := map[string]string{"urlset": "url", "sitemapindex": "sitemap"}[element]
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?><%s xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
		xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">`, element)
	for _, location := range locations {
		fmt.Fprintf(&b, "<%s><loc> %s </loc><image:image><image:loc>%s.png</image:loc></image:image></%s>", inner, location, location, inner)
	}
	fmt.Fprintf(&b, "</%s>", element)
	return b.String()
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

// TestSitemap: an index, a gzipped sitemap, pages of another host, pages twice and pages that are
// there; and the bound.
func TestSitemap(t *testing.T) {
	t.Parallel()
	f, site := setUp(t), newSite(t)
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write([]byte(sitemapOf("urlset", site.URL+"/c", site.URL+"/a", "https://elsewhere.example/d", site.URL+"/e?x=1&amp;y=2")))
	_ = zip.Close()
	site.serve("/sitemap.xml", text(sitemapOf("sitemapindex", site.URL+"/one.xml", site.URL+"/two.xml.gz")))
	site.serve("/one.xml", text(sitemapOf("urlset", site.URL+"/a", site.URL+"/b#part")))
	site.serve("/two.xml.gz", text(packed.String()))
	known := f.add(knowledge.URLParams{URL: site.URL + "/b"})
	got, err := f.CreateFromSitemap(t.Context(), f.ref, webpages.SitemapParams{
		URL: site.URL + "/sitemap.xml", MaxPages: 3, RefreshEvery: "7d", Tags: []string{"site"},
	})
	if err != nil || got.Found != 4 || got.Known != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	var made []string
	for _, source := range got.Made {
		made = append(made, strings.TrimPrefix(source.URL, site.URL))
		if source.RefreshEverySeconds != 7*24*3600 || !slices.Equal(source.Tags, []string{"site"}) || source.ID == known.ID {
			t.Errorf("made %+v", source)
		}
	}
	if !slices.Equal(made, []string{"/a", "/c"}) {
		t.Errorf("made %v", made)
	}
	got, err = f.CreateFromSitemap(t.Context(), f.ref, webpages.SitemapParams{URL: site.URL + "/sitemap.xml"})
	if err != nil || len(got.Made) != 1 || !strings.HasSuffix(got.Made[0].URL, "/e?x=1&y=2") {
		t.Errorf("the rest: %+v, %v", got, err)
	}
	site.serve("/bomb.xml", text("<urlset><url><loc>"+strings.Repeat("<", 1000)))
	site.serve("/page", html("no sitemap", ""))
	site.serve("/empty.xml", text(sitemapOf("urlset", "https://elsewhere.example/d")))
	for path, says := range map[string]string{
		"/none.xml": "404", "/bomb.xml": "no sitemap", "/page": "no sitemap", "/empty.xml": "names no page",
	} {
		_, err := f.CreateFromSitemap(t.Context(), f.ref, webpages.SitemapParams{URL: site.URL + path})
		if !fault.IsReason(err, fault.UpstreamFailed) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", path, err, says)
		}
	}
	for _, bad := range []webpages.SitemapParams{{URL: site.URL, MaxPages: 501}, {URL: site.URL, MaxPages: -1}, {URL: "http://10.0.0.1/"}} {
		if _, err := f.CreateFromSitemap(t.Context(), f.ref, bad); !fault.IsReason(err, fault.InvalidRequest) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.CreateFromSitemap(ended, f.ref, webpages.SitemapParams{URL: site.URL + "/sitemap.xml"}); err == nil {
		t.Error("an ended request goes on")
	}
}
