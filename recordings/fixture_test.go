package recordings_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/recordings"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/workspaces"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// patience bounds what a test waits for; it is reached only when something is broken.
const patience = time.Minute

// fixture is the service over a database and a bucket of its own, with a tenant whose agent
// records.
type fixture struct {
	*recordings.Service
	db         *postgres.DB
	workspaces *workspaces.Service
	agents     *agents.Service
	sessions   *sessions.Service
	bucket     *bucket
	dir        string
	log        *log
	clock      *clock
	ref        workspaces.Ref
	agent      agents.Agent
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{db: pgtest.Open(t), dir: t.TempDir(), log: &log{}, clock: &clock{}}
	files, err := blob.Open("file://" + f.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	f.bucket = &bucket{Bucket: files}
	f.workspaces = workspaces.New(workspaces.Deps{DB: f.db, Now: f.clock.now})
	f.agents = agents.New(agents.Deps{DB: f.db, Workspaces: f.workspaces, Now: f.clock.now})
	f.sessions = sessions.New(sessions.Deps{
		DB: f.db, Agents: f.agents, Workspaces: f.workspaces, Seal: sealtest.New(t, f.db), PublicURL: "http://localhost", Now: f.clock.now,
	})
	f.Service = recordings.New(recordings.Deps{
		DB: f.db, Workspaces: f.workspaces, Bucket: f.bucket, Log: slog.New(slog.NewTextHandler(f.log, nil)), Now: f.clock.now,
	})
	f.ref = f.tenant(t)
	f.agent = f.newAgent(t, agents.Config{Voice: agents.Voice{Recording: agents.Recording{Enabled: true}}})
	return f
}

func (f *fixture) tenant(t *testing.T) workspaces.Ref {
	t.Helper()
	created, err := f.workspaces.CreateTenant(t.Context(), "Acme", "pro")
	if err != nil {
		t.Fatal(err)
	}
	return workspaces.Ref{TenantID: created.Tenant.ID, ID: created.Workspace.ID}
}

func (f *fixture) newAgent(t *testing.T, config agents.Config) agents.Agent {
	t.Helper()
	agent, err := f.agents.Create(t.Context(), f.ref, "Ada", config)
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

func (f *fixture) principal() workspaces.Principal {
	return workspaces.Principal{TenantID: f.ref.TenantID, Scope: workspaces.ScopeOperator}
}

func (f *fixture) session(t *testing.T, agent agents.ID, modality sessions.Modality) sessions.Session {
	t.Helper()
	created, err := f.sessions.Create(t.Context(), f.principal(), sessions.CreateParams{AgentID: agent, UserID: "u", Modality: modality})
	if err != nil {
		t.Fatal(err)
	}
	return created.Session
}

// record starts a recorder that is closed at the end of the test at the latest.
func (f *fixture) record(t *testing.T, session sessions.Session) *recordings.Recorder {
	t.Helper()
	r := f.Start(session)
	if r == nil {
		t.Fatal("the session is not recorded")
	}
	t.Cleanup(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		_ = r.Close(over) // the test has looked
	})
	return r
}

// end ends a session and returns it as it is then.
func (f *fixture) end(t *testing.T, session sessions.Session) sessions.Session {
	t.Helper()
	ended, err := f.sessions.End(t.Context(), f.principal(), session.ID, sessions.EndParams{Status: sessions.Completed})
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

func (f *fixture) view(t *testing.T, session sessions.Session) recordings.View {
	t.Helper()
	view, err := f.View(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// sound reads the two channels of a recording.
func (f *fixture) sound(t *testing.T, session sessions.Session) (user, agent []int16) {
	t.Helper()
	content := f.file(t, session)
	wav, err := audio.NewWAVReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if wav.Format != (audio.Format{Encoding: audio.PCM16, RateHz: 16000}) || wav.Channels != 2 {
		t.Fatalf("%+v with %d channels", wav.Format, wav.Channels)
	}
	raw, err := io.ReadAll(wav)
	if err != nil {
		t.Fatal(err)
	}
	decoder := audio.Decoder{Format: wav.Format}
	both := decoder.AppendDecode(nil, raw)
	return audio.AppendChannel(nil, both, 2, 0), audio.AppendChannel(nil, both, 2, 1)
}

// file reads the whole WAV file.
func (f *fixture) file(t *testing.T, session sessions.Session) []byte {
	t.Helper()
	file, err := f.Open(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(content)) != file.SizeBytes || file.SizeBytes != f.view(t, session).SizeBytes() {
		t.Errorf("%d bytes, said were %d and %d", len(content), file.SizeBytes, f.view(t, session).SizeBytes())
	}
	return content
}

// files counts the files in the bucket.
func (f *fixture) files(t *testing.T) int {
	t.Helper()
	count := 0
	err := filepath.WalkDir(f.dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			count++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// rows counts the rows of segments.
func (f *fixture) rows(t *testing.T) int {
	t.Helper()
	var count int
	query := f.db.NewRaw("SELECT count(*) FROM recording_segments WHERE tenant_id = ?", f.ref.TenantID)
	if err := query.Scan(t.Context(), &count); err != nil {
		t.Fatal(err)
	}
	return count
}

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for ticks := time.NewTicker(5 * time.Millisecond); !holds(); <-ticks.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// closed closes a recorder.
func closed(t *testing.T, r *recordings.Recorder) {
	t.Helper()
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// noise is sound that differs at every sample of two seconds, and is never silent.
func noise(ms int) []int16 {
	samples := make([]int16, ms*16)
	for i := range samples {
		samples[i] = int16(i%32000 + 1)
	}
	return samples
}

// clock is real time plus an offset that the test sets.
type clock struct {
	mu     sync.Mutex
	offset time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

// bucket is a real bucket whose next operations a test can hold up or fail.
type bucket struct {
	blob.Bucket

	mu sync.Mutex
	// held is closed when Put may go on; nil holds nothing. entered counts Puts that began.
	held    chan struct{}
	entered int
	// putFailures and deleteFailures are how many of the next calls fail.
	putFailures, deleteFailures int
}

func (b *bucket) hold() (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := make(chan struct{})
	b.held = held
	return sync.OnceFunc(func() { close(held) })
}

func (b *bucket) puts() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.entered
}

func (b *bucket) Put(ctx context.Context, key string, r io.Reader) (int64, string, error) {
	b.mu.Lock()
	held, fails := b.held, b.putFailures > 0
	b.putFailures, b.entered = max(0, b.putFailures-1), b.entered+1
	b.mu.Unlock()
	if fails {
		return 0, "", io.ErrClosedPipe
	}
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
			return 0, "", ctx.Err()
		}
	}
	return b.Bucket.Put(ctx, key, r)
}

func (b *bucket) Delete(ctx context.Context, key string) error {
	b.mu.Lock()
	fails := b.deleteFailures > 0
	b.deleteFailures = max(0, b.deleteFailures-1)
	b.mu.Unlock()
	if fails {
		return io.ErrClosedPipe
	}
	return b.Bucket.Delete(ctx, key)
}

// log keeps what is logged.
type log struct {
	mu    sync.Mutex
	lines strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Write(p)
}

func (l *log) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.lines.String(), text)
}
