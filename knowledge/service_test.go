package knowledge_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
)

const hours = "# Opening hours\n\nThe museum opens at nine and closes at five. On Mondays it is closed.\n"

func TestLifecycle(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	id := f.inline(f.ref, " Hours ", hours)

	waiting := f.get(f.ref, id)
	if waiting.Status != knowledge.StatusQueued || waiting.Name != "Hours" || waiting.Content != hours {
		t.Fatalf("created: %+v", waiting)
	}
	if n := f.count("SELECT count(*) FROM events WHERE type = ? AND subject = ?", events.SourceQueued, id); n != 1 {
		t.Errorf("queued events: got %d, want 1", n)
	}
	if f.used() != int64(len(hours)) {
		t.Errorf("used: got %d, want %d", f.used(), len(hours))
	}
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatalf("ingest: %v", err)
	}
	ready := f.get(f.ref, id)
	if ready.Status != knowledge.StatusReady || ready.Progress != 100 || ready.ChunkCount != 1 ||
		ready.ReadyAt.IsZero() || ready.EmbeddingModel == "" {
		t.Fatalf("ready: %+v", ready)
	}
	if n := f.count("SELECT count(*) FROM events WHERE type = ?", events.KBSourceIngested); n != 1 {
		t.Errorf("ingested events: got %d, want 1", n)
	}
	f.attach(f.ref, agent, knowledge.UsageAuto, id)
	answer, err := f.Query(t.Context(), f.ref, knowledge.QueryParams{AgentID: agent, Question: "When does the museum open?"})
	if err != nil || len(answer.Chunks) != 1 || answer.Chunks[0].SourceID != id || answer.Chunks[0].SourceName != "Hours" {
		t.Fatalf("query: %+v, %v", answer, err)
	}
	if s := answer.Chunks[0].Similarity; s <= 0 || s > 1 {
		t.Errorf("similarity: got %v", s)
	}

	for range 2 { // a repeated delete is no error
		if err := f.Delete(t.Context(), f.ref, id); err != nil {
			t.Fatalf("delete: %v", err)
		}
	}
	if f.used() != 0 || f.count("SELECT count(*) FROM chunks") != 0 || f.count("SELECT count(*) FROM source_attachments") != 0 {
		t.Errorf("after delete: used %d, chunks or attachments stayed", f.used())
	}
	if n := f.count("SELECT count(*) FROM events WHERE type = ? AND subject = ?", events.BlobOrphaned, ready.BlobKey); n != 1 {
		t.Errorf("orphan events: got %d, want 1", n)
	}
	if err := f.SweepBlob(t.Context(), ready.BlobKey); err != nil {
		t.Fatalf("sweep: %v", err)
	}
	f.nothingStored()
	if err := f.Delete(t.Context(), f.ref, knowledge.SourceID(idgen.New(idgen.Source))); !fault.IsReason(err, fault.ResourceNotFound) {
		t.Errorf("delete of what never was: got %v, want not-found", err)
	}
}

func TestIngestRunsOnce(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	id := f.ready(f.ref, "a", hours)
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatalf("second ingest: %v", err)
	}
	if n := f.count("SELECT count(*) FROM events WHERE type = ?", events.KBSourceIngested); n != 1 {
		t.Errorf("ingested events: got %d, want 1", n)
	}
}

func TestListing(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	first := f.ready(f.ref, "first", hours)
	second := f.inline(f.ref, "second", hours+"more")
	page, next, err := f.List(t.Context(), f.ref, knowledge.ListParams{PageParams: postgres.PageParams{Size: 1}})
	if err != nil || len(page) != 1 || page[0].ID != second || next == "" {
		t.Fatalf("first page: %v, %q, %v", page, next, err)
	}
	page, next, err = f.List(t.Context(), f.ref, knowledge.ListParams{PageParams: postgres.PageParams{Size: 1, Token: next}})
	if err != nil || len(page) != 1 || page[0].ID != first || next != "" {
		t.Fatalf("second page: %v, %q, %v", page, next, err)
	}
	page, _, err = f.List(t.Context(), f.ref, knowledge.ListParams{Status: knowledge.StatusQueued})
	if err != nil || len(page) != 1 || page[0].ID != second {
		t.Fatalf("queued: %v, %v", page, err)
	}
}

func TestChunkPages(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	var text strings.Builder
	for range 300 {
		text.WriteString("Whoever visits the tower climbs three hundred steps and sees the river. ")
	}
	id := f.ready(f.ref, "tower", text.String())
	total := f.get(f.ref, id).ChunkCount
	if total < 3 {
		t.Fatalf("chunks: got %d, want several", total)
	}
	var got, want []int
	token := ""
	for i := range total {
		want = append(want, i)
	}
	for {
		page, next, err := f.ListChunks(t.Context(), f.ref, id, postgres.PageParams{Size: 2, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, chunk := range page {
			got = append(got, chunk.Index)
			if chunk.TokenCount < 1 || chunk.Content == "" || chunk.CharEnd <= chunk.CharStart {
				t.Errorf("chunk: %+v", chunk)
			}
		}
		if token = next; token == "" {
			break
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}

func TestReprocess(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	id := f.ready(f.ref, "a", hours)
	if _, err := f.Reprocess(t.Context(), f.ref, id, knowledge.ReprocessParams{ForceOCR: true}); !fault.IsReason(err, fault.InvalidRequest) {
		t.Errorf("force_ocr: got %v, want invalid-request", err)
	}
	queued, err := f.Reprocess(t.Context(), f.ref, id, knowledge.ReprocessParams{})
	if err != nil || queued.Status != knowledge.StatusQueued {
		t.Fatalf("reprocess: %+v, %v", queued, err)
	}
	if _, err := f.Reprocess(t.Context(), f.ref, id, knowledge.ReprocessParams{}); err != nil {
		t.Fatalf("second reprocess: %v", err)
	}
	if n := f.count("SELECT count(*) FROM events WHERE type = ?", events.SourceQueued); n != 2 {
		t.Errorf("queued events: got %d, want 2", n)
	}
	f.attach(f.ref, agent, knowledge.UsageAuto, id) // it has its old chunks
	if answer, err := f.Query(t.Context(), f.ref, knowledge.QueryParams{
		AgentID:  agent,
		Question: "museum",
	}); err != nil || len(answer.Chunks) != 1 {
		t.Fatalf("query while it waits: %v, %v", answer, err)
	}
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if n := f.count("SELECT count(*) FROM chunks"); n != 1 {
		t.Errorf("chunks: got %d, want 1", n)
	}
}

func TestDocumentFaults(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	rows := []struct{ name, content, code string }{
		{"empty", "", "empty"},
		{"blank", " \n\t\n ", "empty"},
		{"binary", strings.Repeat("words and words ", 400) + strings.Repeat("\x00\x01\x02\x03", 4000), "binary"},
	}
	for _, row := range rows {
		source, err := f.Upload(t.Context(), f.ref, knowledge.UploadParams{Filename: row.name + ".txt"}, strings.NewReader(row.content))
		if err != nil {
			t.Errorf("%s: upload: %v", row.name, err)
			continue
		}
		if err := f.Ingest(t.Context(), source.ID); err != nil {
			t.Errorf("%s: ingest: %v", row.name, err)
		}
		got := f.get(f.ref, source.ID)
		if got.Status != knowledge.StatusFailed || got.ErrorCode != row.code || got.ErrorMessage == "" || got.Attempt != 1 {
			t.Errorf("%s: got %s %s %q attempt %d, want failed %s at once", row.name, got.Status, got.ErrorCode,
				got.ErrorMessage, got.Attempt, row.code)
		}
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	id := f.inline(f.ref, "a", hours)
	var seen []knowledge.Status
	err := f.Watch(t.Context(), f.ref, id, func(s knowledge.Source) error {
		seen = append(seen, s.Status)
		if len(seen) == 1 {
			return f.Ingest(t.Context(), id)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seen, []knowledge.Status{knowledge.StatusQueued, knowledge.StatusReady}); diff != "" {
		t.Error(diff)
	}
	stop := errors.New("enough")
	if err := f.Watch(t.Context(), f.ref, id, func(knowledge.Source) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the receiver's error", err)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	_, r, err := f.Open(t.Context(), f.ref, f.inline(f.ref, "a", hours))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if text, err := io.ReadAll(r); err != nil || string(text) != hours {
		t.Errorf("got %q, %v", text, err)
	}
}

// TestSweep leaves what a crash and a cascade would leave.
func TestSweep(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	kept := f.get(f.ref, f.inline(f.ref, "kept", hours))
	other, err := f.workspaces.CreateWorkspace(t.Context(), principal(f.ref), "other")
	if err != nil {
		t.Fatal(err)
	}
	otherRef := f.ref
	otherRef.ID = other.ID
	f.inline(otherRef, "lost", hours)
	if err := f.workspaces.DeleteWorkspace(t.Context(), principal(f.ref), string(other.ID)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.bucket.Put(t.Context(), "crashed/upload", strings.NewReader("half")); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"crashed/upload", kept.BlobKey} {
		if _, err := f.db.ExecContext(t.Context(), "INSERT INTO stray_blobs (key, noted_at) VALUES (?, ?)", key,
			f.clock.now()); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Sweep(t.Context(), f.clock.now()); err != nil || f.files() != 3 {
		t.Fatalf("too early: %d files, %v; want 3", f.files(), err)
	}
	if err := f.Sweep(t.Context(), f.clock.now().Add(25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if f.files() != 1 || f.count("SELECT count(*) FROM stray_blobs") != 0 {
		t.Errorf("files: got %d, want the one that is owned", f.files())
	}
	if got := f.get(f.ref, kept.ID); got.Content != hours {
		t.Errorf("the owned blob is gone")
	}
}
