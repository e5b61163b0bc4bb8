package webpages_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
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
