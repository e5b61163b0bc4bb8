package webpages_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/knowledge/webpages"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/workspaces"
)

const plans = `{"small": {"kb_upload_bytes": 4096, "kb_storage_bytes": 20000}}`

// site is a web server whose pages a test changes.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]http.HandlerFunc
	asked []*http.Request
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{pages: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		page := s.pages[r.URL.Path]
		s.asked = append(s.asked, r)
		s.mu.Unlock()
		if page == nil {
			http.NotFound(w, r)
			return
		}
		page(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) serve(path string, page http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = page
}

// last is the last request.
func (s *site) last() *http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[len(s.asked)-1]
}

// html answers with a page and the validators of it.
func html(text, etag string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("ETag", etag)
		if etag != "" && r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprintf(w, "<html><body><h1>Hours</h1><p>%s</p></body></html>", text)
	}
}

func status(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	}
}

type fixture struct {
	t *testing.T
	*webpages.Service
	knowledge *knowledge.Service
	ingestion *ingestion.Service
	db        *postgres.DB
	ref       workspaces.Ref
	now       time.Time
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	db := pgtest.Open(t)
	bucket, err := blob.Open("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bucket.Close() })
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, db: db, now: time.Now().UTC()}
	clock := func() time.Time { return f.now }
	parsed, err := workspaces.ParsePlans([]byte(plans))
	if err != nil {
		t.Fatal(err)
	}
	owners := workspaces.New(workspaces.Deps{DB: db, Plans: parsed, Now: clock})
	embedders := knowledge.Embedders{hashing.New()}
	f.knowledge = knowledge.New(knowledge.Deps{
		DB: db, Workspaces: owners, Agents: agents.New(agents.Deps{DB: db, Workspaces: owners, Now: clock}), Bucket: bucket,
		Embedders: embedders, Now: clock,
	})
	f.Service = webpages.New(webpages.Deps{Knowledge: f.knowledge, Guard: guard})
	f.ingestion = ingestion.New(ingestion.Deps{
		DB: db, Bucket: bucket, Embedders: embedders, Fetcher: f.Service, Now: clock, HeartbeatEvery: time.Hour,
	})
	created, err := owners.CreateTenant(t.Context(), "acme", "small")
	if err != nil {
		t.Fatal(err)
	}
	f.ref = workspaces.Ref{TenantID: created.Tenant.ID, ID: created.Workspace.ID}
	return f
}

func (f *fixture) add(p knowledge.URLParams) knowledge.Source {
	f.t.Helper()
	source, err := f.CreateSource(f.t.Context(), f.ref, p)
	if err != nil {
		f.t.Fatalf("create: %v", err)
	}
	return source
}

// run does the work that is due for a source, as workers would, until it rests.
func (f *fixture) run(id knowledge.SourceID) knowledge.Source {
	f.t.Helper()
	for range 5 {
		if err := f.ingestion.Ingest(f.t.Context(), id); err != nil {
			f.t.Fatalf("ingest: %v", err)
		}
		if source := f.get(id); source.Status != knowledge.StatusQueued || source.DueAt.After(f.now) {
			return source
		}
	}
	f.t.Fatal("the source does not come to rest")
	return knowledge.Source{}
}

func (f *fixture) get(id knowledge.SourceID) knowledge.Source {
	f.t.Helper()
	source, err := f.knowledge.Get(f.t.Context(), f.ref, id)
	if err != nil {
		f.t.Fatal(err)
	}
	return source
}

// later goes on in time and does what is due every minute.
func (f *fixture) later(d time.Duration) {
	f.t.Helper()
	f.now = f.now.Add(d)
	if err := f.ingestion.Maintain(f.t.Context(), f.now); err != nil {
		f.t.Fatal(err)
	}
}

// text is what the chunks of a source say.
func (f *fixture) text(id knowledge.SourceID) string {
	f.t.Helper()
	chunks, _, err := f.knowledge.ListChunks(f.t.Context(), f.ref, id, postgres.PageParams{})
	if err != nil {
		f.t.Fatal(err)
	}
	var all strings.Builder
	for _, chunk := range chunks {
		all.WriteString(chunk.Content)
	}
	return all.String()
}

// TestLife: a page is fetched, asked again when it is due and by hand, and a changed one takes the
// place of what it was.
func TestLife(t *testing.T) {
	t.Parallel()
	f, site := setUp(t), newSite(t)
	site.serve("/hours", html("It opens at ten.", `"v1"`))
	source := f.add(knowledge.URLParams{URL: site.URL + "/hours#top", RefreshEvery: "24h", Tags: []string{"faq"}})
	if source.Status != knowledge.StatusQueued || source.Stage != knowledge.StageFetching || source.Kind != knowledge.KindFile ||
		source.Name != strings.TrimPrefix(site.URL, "http://")+"/hours" {
		t.Fatalf("created: %+v", source)
	}
	if _, _, err := f.knowledge.Open(t.Context(), f.ref, source.ID); fault.From(err).Reason != fault.KBSourceNotReady {
		t.Errorf("its bytes before they are there: %v", err)
	}
	source = f.run(source.ID)
	if source.Status != knowledge.StatusReady || !strings.HasSuffix(f.text(source.ID), "It opens at ten.") ||
		!source.FetchedAt.Equal(f.now.Truncate(time.Microsecond)) ||
		!source.FetchDueAt.Equal(source.FetchedAt.Add(24*time.Hour)) || source.MediaType != "text/html; charset=utf-8" {
		t.Fatalf("ready: %+v, %q", source, f.text(source.ID))
	}
	made := source.ReadyAt

	f.later(23 * time.Hour)
	if source = f.get(source.ID); source.Status != knowledge.StatusReady {
		t.Fatalf("before it is due: %s", source.Status)
	}
	f.later(2 * time.Hour)
	if source = f.get(source.ID); source.Status != knowledge.StatusQueued || source.Stage != knowledge.StageFetching {
		t.Fatalf("due: %s %s", source.Status, source.Stage)
	}
	source = f.run(source.ID)
	if site.last().Header.Get("If-None-Match") != `"v1"` || source.Status != knowledge.StatusReady || !source.ReadyAt.Equal(made) ||
		!source.FetchedAt.Equal(f.now.Truncate(time.Microsecond)) || source.Progress != 100 {
		t.Fatalf("unchanged: %+v", source)
	}

	site.serve("/hours", html("It opens at nine.", `"v2"`))
	if _, err := f.knowledge.Refresh(t.Context(), f.ref, source.ID); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(f.text(source.ID), "It opens at ten.") {
		t.Error("the old text is gone before the new one is there")
	}
	source = f.run(source.ID)
	if source.Status != knowledge.StatusReady || !strings.HasSuffix(f.text(source.ID), "It opens at nine.") ||
		source.ETag != `"v2"` || source.Previous.BlobKey == "" {
		t.Fatalf("changed: %+v, %q", source, f.text(source.ID))
	}
	if !slices.Equal(source.Tags, []string{"faq"}) {
		t.Errorf("tags: %v", source.Tags)
	}

	never := ""
	source, err := f.knowledge.Update(t.Context(), f.ref, source.ID, knowledge.UpdateParams{RefreshEvery: &never})
	if err != nil || !source.FetchDueAt.IsZero() {
		t.Errorf("no longer by itself: %+v, %v", source, err)
	}
	f.later(1000 * time.Hour)
	if got := f.get(source.ID); got.Status != knowledge.StatusReady {
		t.Errorf("fetched although it is not to be: %s", got.Status)
	}
}

// TestUnchangedBytes: a server without validators gives the same bytes; nothing is made anew.
func TestUnchangedBytes(t *testing.T) {
	t.Parallel()
	f, site := setUp(t), newSite(t)
	site.serve("/", html("It opens at ten.", ""))
	source := f.run(f.add(knowledge.URLParams{URL: site.URL}).ID)
	made := source.ReadyAt
	f.now = f.now.Add(time.Hour)
	if _, err := f.knowledge.Refresh(t.Context(), f.ref, source.ID); err != nil {
		t.Fatal(err)
	}
	if source = f.run(source.ID); source.Status != knowledge.StatusReady || !source.ReadyAt.Equal(made) || source.Previous.BlobKey != "" {
		t.Errorf("got %+v", source)
	}
}

// TestFailures: what cannot be fetched fails the source at once and says why, what may pass is
// tried again, and a source that answers goes on.
func TestFailures(t *testing.T) {
	t.Parallel()
	f, site := setUp(t), newSite(t)
	other := newSite(t)
	other.serve("/", html("moved", ""))
	site.serve("/gone", status(http.StatusGone))
	site.serve("/zip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		_, _ = w.Write([]byte("PK\x03\x04"))
	})
	site.serve("/large", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		for range 100 {
			_, _ = w.Write(bytes.Repeat([]byte("word "), 100))
		}
	})
	site.serve("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	site.serve("/inside", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
	})
	site.serve("/file", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	site.serve("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/", http.StatusMovedPermanently)
	})
	for path, says := range map[string]string{
		"/none": "404 Not Found", "/gone": "410 Gone", "/zip": `"application/zip"`, "/large": "uploads of up to 4096 bytes",
		"/loop": "more than 5 times", "/inside": "not public", "/file": "not http or https",
	} {
		source := f.run(f.add(knowledge.URLParams{URL: site.URL + path}).ID)
		if source.Status != knowledge.StatusFailed || source.ErrorCode != knowledge.CodeFetchFailed ||
			!strings.Contains(source.ErrorMessage, says) || source.FetchError != source.ErrorMessage || !source.FetchDueAt.IsZero() {
			t.Errorf("%s: %+v, want failed because %q", path, source, says)
		}
	}
	if source := f.run(f.add(knowledge.URLParams{URL: site.URL + "/moved"}).ID); source.Status != knowledge.StatusReady {
		t.Errorf("redirected: %+v", source)
	}

	site.serve("/busy", status(http.StatusServiceUnavailable, "Retry-After", "120"))
	busy := f.run(f.add(knowledge.URLParams{URL: site.URL + "/busy", RefreshEvery: "1h"}).ID)
	if busy.Status != knowledge.StatusQueued || busy.DueAt.Sub(f.now) < 119*time.Second || busy.ErrorCode != "retrying" {
		t.Fatalf("busy: %+v", busy)
	}
	for busy.Status == knowledge.StatusQueued {
		f.now = busy.DueAt
		busy = f.run(busy.ID)
	}
	if busy.Status != knowledge.StatusFailed || busy.Attempt != 5 || !strings.Contains(busy.FetchError, "503") || busy.FetchDueAt.IsZero() {
		t.Fatalf("given up for now: %+v", busy)
	}
	site.serve("/busy", html("It opens at ten.", `"v1"`))
	f.later(2 * time.Hour)
	if busy = f.run(busy.ID); busy.Status != knowledge.StatusReady || busy.FetchError != "" || busy.ErrorCode != "" {
		t.Fatalf("there again: %+v", busy)
	}
	site.serve("/busy", status(http.StatusNotFound))
	f.later(2 * time.Hour)
	if busy = f.run(busy.ID); busy.Status != knowledge.StatusReady || !strings.Contains(busy.FetchError, "404") || f.text(busy.ID) == "" {
		t.Errorf("gone while it answers: %+v", busy)
	}
}

// TestReprocess: a source without content is fetched; while a fetch waits it is not lost.
func TestReprocess(t *testing.T) {
	t.Parallel()
	f, site := setUp(t), newSite(t)
	source := f.run(f.add(knowledge.URLParams{URL: site.URL + "/late"}).ID)
	site.serve("/late", html("It opens at ten.", `"v1"`))
	if source.Status != knowledge.StatusFailed {
		t.Fatalf("got %+v", source)
	}
	if _, err := f.knowledge.Reprocess(t.Context(), f.ref, source.ID, knowledge.ReprocessParams{}); err != nil {
		t.Fatal(err)
	}
	if source = f.run(source.ID); source.Status != knowledge.StatusReady {
		t.Fatalf("reprocessed: %+v", source)
	}
	made := source.ReadyAt
	f.now = f.now.Add(time.Minute)
	if _, err := f.knowledge.Refresh(t.Context(), f.ref, source.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.knowledge.Reprocess(t.Context(), f.ref, source.ID, knowledge.ReprocessParams{}); err != nil {
		t.Fatal(err)
	}
	if source = f.run(source.ID); !source.ReadyAt.After(made) {
		t.Error("the reprocessing was lost to the fetch")
	}
	asked := len(site.asked)
	f.later(time.Minute)
	if source = f.run(source.ID); len(site.asked) != asked+1 || source.Status != knowledge.StatusReady {
		t.Error("the fetch was lost to the reprocessing")
	}
}

// TestRefused: URLs that are none or not public, intervals out of bounds, a URL that is there.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for _, bad := range []knowledge.URLParams{
		{URL: "ftp://example.com/"},
		{URL: "example.com"},
		{URL: "http://"},
		{URL: "http://10.0.0.1/"},
		{URL: "http://[::1]/"},
		{URL: "http://0x0a000001/"},
		{URL: "http://example.com/%zz"},
		{URL: "http://me:secret@example.com/"},
		{URL: "https://example.com/" + strings.Repeat("a", 2100)},
		{URL: "https://example.com/", RefreshEvery: "1m"},
		{URL: "https://example.com/", RefreshEvery: "31d"},
		{URL: "https://example.com/", RefreshEvery: "soon"},
		{URL: "https://example.com/", Tags: []string{"a b"}},
		{URL: "https://example.com/", Name: "a\x00"},
	} {
		if _, err := f.CreateSource(t.Context(), f.ref, bad); !fault.IsReason(err, fault.InvalidRequest) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	first := f.add(knowledge.URLParams{URL: "https://example.com"})
	_, err := f.CreateSource(t.Context(), f.ref, knowledge.URLParams{URL: "https://example.com/#again"})
	if !fault.IsReason(err, fault.KBURLTaken) || !strings.Contains(err.Error(), string(first.ID)) {
		t.Errorf("a second time: %v", err)
	}
	pasted, err := f.knowledge.CreateInline(t.Context(), f.ref, "pasted", "text")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.knowledge.Refresh(t.Context(), f.ref, pasted.ID); !fault.IsReason(err, fault.KBNoURL) {
		t.Errorf("refresh of pasted text: %v", err)
	}
	every := "1h"
	_, err = f.knowledge.Update(t.Context(), f.ref, pasted.ID, knowledge.UpdateParams{RefreshEvery: &every})
	if !fault.IsReason(err, fault.KBNoURL) {
		t.Errorf("refresh_every of pasted text: %v", err)
	}
}

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
