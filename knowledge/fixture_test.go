package knowledge_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/provider/rerank"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/workspaces"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// clock is a time that tests move.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time           { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(by time.Duration) { c.ahead.Add(int64(by)) }

// node is the services of one process.
type node struct {
	*knowledge.Service
	*ingester
}

// ingester has another name than knowledge.Service, so that node can hold both.
type ingester = ingestion.Service

// fixture is a tenant with a workspace, and the services over a database and bucket of their own.
type fixture struct {
	node
	t          testing.TB
	db         *postgres.DB
	bucket     blob.Bucket
	blobs      string
	clock      *clock
	workspaces *workspaces.Service
	agents     *agents.Service
	ref        workspaces.Ref
	// cache is knowledge.Deps.CacheBytes.
	cache int
	// reranker is knowledge.Deps.Reranker.
	reranker rerank.Reranker
}

// tiny holds 1,000 bytes, 600 a file.
var plans = workspaces.Plans{
	"tiny":  {Name: "tiny", KBStorageBytes: 1000, KBUploadBytes: 600},
	"small": {Name: "small", KBStorageBytes: 8 << 20, KBUploadBytes: 4 << 20},
	"large": {Name: "large", KBStorageBytes: 1 << 30, KBUploadBytes: 1 << 28},
}

func setUp(t testing.TB, plan string, embedder embedding.Embedder) *fixture {
	t.Helper()
	db := pgtest.Open(t)
	dir := t.TempDir()
	bucket, err := blob.Open("file://" + dir)
	if err != nil {
		t.Fatalf("bucket: %v", err)
	}
	t.Cleanup(func() { _ = bucket.Close() })
	f := &fixture{t: t, db: db, bucket: bucket, blobs: dir, clock: &clock{}}
	f.workspaces = workspaces.New(workspaces.Deps{DB: db, Plans: plans, Now: f.clock.now})
	f.agents = agents.New(agents.Deps{DB: db, Workspaces: f.workspaces, Now: f.clock.now})
	if embedder == nil {
		embedder = hashing.New()
	}
	f.node = f.with(embedder)
	created, err := f.workspaces.CreateTenant(t.Context(), "acme", plan)
	if err != nil {
		t.Fatalf("tenant: %v", err)
	}
	f.ref = workspaces.Ref{TenantID: created.Tenant.ID, ID: created.Workspace.ID}
	return f
}

// with is another service, as on another node, over the same data.
func (f *fixture) with(embedders ...embedding.Embedder) node {
	return f.nodeOf(knowledge.Deps{Embedders: embedders, CacheBytes: f.cache, Reranker: f.reranker},
		ingestion.Deps{HeartbeatEvery: time.Hour})
}

// nodeOf is with, of what deps say; ingestion gets its embedders and readers from knowledge's.
func (f *fixture) nodeOf(deps knowledge.Deps, ingest ingestion.Deps) node {
	if deps.Embedders == nil {
		deps.Embedders = knowledge.Embedders{hashing.New()}
	}
	deps.DB, deps.Workspaces, deps.Agents, deps.Bucket, deps.Now = f.db, f.workspaces, f.agents, f.bucket, f.clock.now
	ingest.DB, ingest.Bucket, ingest.Embedders, ingest.Readers, ingest.Now = f.db, f.bucket, deps.Embedders, deps.Readers, f.clock.now
	return node{knowledge.New(deps), ingestion.New(ingest)}
}

func (f *fixture) agent(ref workspaces.Ref) agents.ID {
	f.t.Helper()
	agent, err := f.agents.Create(f.t.Context(), ref, "guide", agents.Config{})
	if err != nil {
		f.t.Fatalf("agent: %v", err)
	}
	return agent.ID
}

// inline makes a source that waits.
func (f *fixture) inline(ref workspaces.Ref, name, content string) knowledge.SourceID {
	f.t.Helper()
	source, err := f.CreateInline(f.t.Context(), ref, name, content)
	if err != nil {
		f.t.Fatalf("create %q: %v", name, err)
	}
	return source.ID
}

// ready makes a source that is ready.
func (f *fixture) ready(ref workspaces.Ref, name, content string) knowledge.SourceID {
	f.t.Helper()
	id := f.inline(ref, name, content)
	if err := f.Ingest(f.t.Context(), id); err != nil {
		f.t.Fatalf("ingest %q: %v", name, err)
	}
	if source := f.get(ref, id); source.Status != knowledge.StatusReady {
		f.t.Fatalf("%q is %s: %s", name, source.Status, source.ErrorMessage)
	}
	return id
}

func (f *fixture) get(ref workspaces.Ref, id knowledge.SourceID) knowledge.Source {
	f.t.Helper()
	source, err := f.Get(f.t.Context(), ref, id)
	if err != nil {
		f.t.Fatalf("get %s: %v", id, err)
	}
	return source
}

func (f *fixture) attach(ref workspaces.Ref, agent agents.ID, mode knowledge.UsageMode, ids ...knowledge.SourceID) {
	f.t.Helper()
	_, err := f.Attach(f.t.Context(), ref, knowledge.AttachParams{AgentID: agent, SourceIDs: ids, UsageMode: mode})
	if err != nil {
		f.t.Fatalf("attach: %v", err)
	}
}

// used is the workspace's reserved bytes.
func (f *fixture) used() int64 {
	f.t.Helper()
	workspace, err := f.workspaces.Workspace(f.t.Context(), f.ref)
	if err != nil {
		f.t.Fatalf("workspace: %v", err)
	}
	return workspace.KBUsedBytes
}

// count is a number from the database.
func (f *fixture) count(query string, args ...any) int {
	f.t.Helper()
	var n int
	if err := f.db.NewRaw(query, args...).Scan(f.t.Context(), &n); err != nil {
		f.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// files is how many files the bucket's directory holds, unfinished ones included.
func (f *fixture) files() int {
	f.t.Helper()
	n := 0
	err := filepath.WalkDir(f.blobs, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		f.t.Fatalf("walk: %v", err)
	}
	return n
}

// storedBytes is the size of all files in the bucket's directory, unfinished ones included.
func (f *fixture) storedBytes() int64 {
	var seen []fs.FileInfo
	// Files come and go while it looks, and are seen twice when they are moved meanwhile.
	_ = filepath.WalkDir(f.blobs, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // the file is gone
		}
		info, err := d.Info()
		if err == nil && !slices.ContainsFunc(seen, func(other fs.FileInfo) bool { return os.SameFile(info, other) }) {
			seen = append(seen, info)
		}
		return nil
	})
	var sum int64
	for _, info := range seen {
		sum += info.Size()
	}
	return sum
}

// nothingStored fails unless there is no trace of an upload.
func (f *fixture) nothingStored() {
	f.t.Helper()
	if n := f.count("SELECT count(*) FROM sources"); n != 0 {
		f.t.Errorf("sources: got %d, want 0", n)
	}
	if n := f.count("SELECT count(*) FROM stray_blobs"); n != 0 {
		f.t.Errorf("stray blobs: got %d, want 0", n)
	}
	if n := f.count("SELECT count(*) FROM upload_holds"); n != 0 {
		f.t.Errorf("held rooms: got %d, want 0", n)
	}
	if n := f.used(); n != 0 {
		f.t.Errorf("used bytes: got %d, want 0", n)
	}
	if n := f.files(); n != 0 {
		f.t.Errorf("files: got %d, want 0", n)
	}
}
