package knowledge_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/provider/ocr"
	"parlance.dev/parlance/provider/pdf"
)

// chunksInOrder are the source's chunks with their vectors, from the database.
func (f *fixture) chunksInOrder(id knowledge.SourceID) []knowledge.Chunk {
	f.t.Helper()
	var chunks []knowledge.Chunk
	err := f.db.NewSelect().Model(&chunks).Where("c.tenant_id = ?", f.ref.TenantID).Where("c.source_id = ?",
		id).OrderExpr("c.index").Scan(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return chunks
}

// rightVectors fails unless each chunk has the vector of its own text.
func (f *fixture) rightVectors(id knowledge.SourceID) {
	f.t.Helper()
	for i, chunk := range f.chunksInOrder(id) {
		want, err := hashing.New().Embed(f.t.Context(), []string{chunk.Content}, embedding.Document)
		if err != nil {
			f.t.Fatal(err)
		}
		if chunk.Index != i || !slices.Equal(chunk.Embedding.Slice(), want[0]) {
			f.t.Fatalf("chunk %d stands at %d, or has the vector of another", i, chunk.Index)
		}
	}
}

// TestEmbeddingGoesOn fails the embedder in the middle: the next run pays for the rest only.
func TestEmbeddingGoesOn(t *testing.T) {
	t.Parallel()
	m := &meter{Embedder: hashing.New(), name: "paid", batch: 4, failAfter: 3}
	f := setUp(t, "large", m)
	id := f.inline(f.ref, "report", longText(60))
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	got := f.get(f.ref, id)
	if got.Status != knowledge.StatusQueued || got.Attempt != 0 || !got.DueAt.After(f.clock.now()) {
		t.Fatalf("after the failure: %+v; want it queued, and the run not counted", got)
	}
	kept := f.count("SELECT count(*) FROM staged_vectors WHERE source_id = ?", id)
	if kept == 0 || kept != int(m.paid.Load()) {
		t.Fatalf("%d vectors kept of %d paid for", kept, m.paid.Load())
	}
	m.failAfter = 0
	f.clock.advance(time.Minute)
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	got = f.get(f.ref, id)
	if got.Status != knowledge.StatusReady || int64(got.ChunkCount) != m.paid.Load() || got.ChunkCount <= kept {
		t.Fatalf("%d paid for %d chunks: %+v", m.paid.Load(), got.ChunkCount, got)
	}
	f.rightVectors(id)
	if n := f.count("SELECT count(*) FROM staged_vectors"); n != 0 {
		t.Errorf("%d vectors are still kept", n)
	}
	// The same text again costs nothing.
	if _, err := f.Reprocess(t.Context(), f.ref, id, knowledge.ReprocessParams{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Ingest(t.Context(), id); err != nil || int64(got.ChunkCount) != m.paid.Load() || f.get(f.ref,
		id).Status != knowledge.StatusReady {
		t.Errorf("%d paid after reprocessing %d chunks, %v", m.paid.Load(), got.ChunkCount, err)
	}
	f.rightVectors(id)
}

// TestKilledRunIsGoneOnWith holds a run in the embedder for ever, as if its process had been
// killed, and has another take over after a minute.
func TestKilledRunIsGoneOnWith(t *testing.T) {
	t.Parallel()
	m := &meter{Embedder: hashing.New(), name: "paid", batch: 4}
	f := setUp(t, "large", m)
	id := f.inline(f.ref, "report", longText(60))
	ctx, kill := context.WithCancel(t.Context())
	var held atomic.Int64
	hangs := &hanging{meter: m, after: 5, held: &held}
	var dead sync.WaitGroup
	dead.Go(func() { _ = f.with(hangs).Ingest(ctx, id) })
	await(t, "vectors that are kept", func() bool {
		return held.Load() > 0 && f.count("SELECT count(*) FROM staged_vectors") == int(m.paid.Load()) && m.paid.Load() >= 20
	})
	before := m.paid.Load()
	await(t, "another run", func() bool { // what the dead one was still writing may have put it off
		f.clock.advance(61 * time.Second)
		if err := f.Ingest(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		return m.paid.Load() > before
	})
	got := f.get(f.ref, id)
	if got.Status != knowledge.StatusReady || m.paid.Load() != int64(got.ChunkCount) || before == m.paid.Load() {
		t.Errorf("%d and then %d paid for %d chunks, %s", before, m.paid.Load(), got.ChunkCount, got.Status)
	}
	f.rightVectors(id)
	kill()
	dead.Wait()
	if n := len(f.chunksInOrder(id)); n != got.ChunkCount {
		t.Errorf("%d chunks, want %d", n, got.ChunkCount)
	}
}

// hanging answers some calls and holds the others.
type hanging struct {
	*meter
	after int64
	held  *atomic.Int64
	calls atomic.Int64
}

func (h *hanging) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	if h.calls.Add(1) > h.after {
		h.held.Add(1)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return h.meter.Embed(ctx, texts, kind)
}

// await looks until ok.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("no %s in two minutes", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// TestRefusedPassage fails at once, and says where the passage stands.
func TestRefusedPassage(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", &meter{Embedder: hashing.New(), name: "picky", batch: 4, refuse: "item number 140 "})
	id := f.inline(f.ref, "report", "# Survey\n\n## Halls\n\n"+longText(40))
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	got := f.get(f.ref, id)
	if got.Status != knowledge.StatusFailed || got.ErrorCode != "embedding-refused" || got.Attempt != 1 {
		t.Fatalf("got %+v", got)
	}
	if !strings.Contains(got.ErrorMessage, `under "Survey > Halls"`) || !strings.Contains(got.ErrorMessage, "at characters ") {
		t.Errorf("it does not say where: %s", got.ErrorMessage)
	}
	if n := f.count("SELECT count(*) FROM staged_vectors"); n != 0 {
		t.Errorf("%d vectors are still kept", n)
	}
}

// TestAskedToWait is due when the server said.
func TestAskedToWait(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", outside{Embedder: hashing.New(), before: func(context.Context) error {
		err := fault.New(fault.UpstreamFailed, "The embedding server answered 429.")
		err.RetryAfter = 10 * time.Minute
		return err
	}})
	id := f.inline(f.ref, "a", hours)
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	got := f.get(f.ref, id)
	if wait := got.DueAt.Sub(f.clock.now()); got.Attempt != 1 || wait < 9*time.Minute || wait > 10*time.Minute {
		t.Errorf("due in %s: %+v", wait, got)
	}
	if got.Status != knowledge.StatusQueued || got.ErrorCode != "retrying" || !strings.Contains(got.ErrorMessage,
		"answered 429. It is tried again") {
		t.Errorf("it does not say what it waits for: %s, %q, %q", got.Status, got.ErrorCode, got.ErrorMessage)
	}
}

// scans is a PDF reader and an OCR reader: each page is a picture, and costs.
type scans struct {
	pages     int
	languages string
	// confidence of each page.
	confidence float64
	paid       atomic.Int64
	// asked are the languages that the last page was read in, if any were asked for.
	asked  []string
	before func(page int) error
}

func (s *scans) Name(asked []string) string { return "scans " + s.in(asked) }

// in is what the pages are read in: what is asked for, or its own.
func (s *scans) in(asked []string) string { return cmp.Or(strings.Join(asked, "+"), s.languages) }

func (s *scans) Installed(context.Context) ([]string, error) { return []string{"deu", "eng"}, nil }

func (s *scans) Read(context.Context, io.Reader, []string) (ocr.Text, error) {
	return ocr.Text{}, errors.New("no picture is asked for here")
}

// pdfs is scans as a pdf.Reader.
type pdfs struct{ *scans }

func (s pdfs) Read(_ context.Context, _ io.Reader, options pdf.Options, each func(pdf.Page) error) error {
	for number := 1; number <= s.pages; number++ {
		if s.before != nil {
			if err := s.before(number); err != nil {
				return err
			}
		}
		read, known := options.Known(number)
		if !known {
			s.paid.Add(1)
			text := fmt.Sprintf("Page %d in %s speaks of subject %d.", number, s.in(options.OCRLanguages), number*7)
			read = pdf.Recognition{Blocks: []pdf.Block{{Text: text}}, Confidence: s.confidence}
			s.asked = options.OCRLanguages
		}
		page := pdf.Page{Number: number, Of: s.pages, Recognition: read, Recognized: true, Known: known}
		if number == 2 {
			page = pdf.Page{Number: number, Of: s.pages, Fault: &pdf.Fault{Kind: pdf.Corrupt, Message: "It is damaged."}}
		}
		if err := each(page); err != nil {
			return err
		}
	}
	return nil
}

func (f *fixture) reading(s *scans) node {
	return f.nodeOf(knowledge.Deps{Readers: document.Readers{PDF: pdfs{s}, OCR: s}}, ingestion.Deps{HeartbeatEvery: time.Hour})
}

// TestPagesGoOn breaks a run off after 30 of 50 pages: these are not read again, unless the
// languages or the file are others.
func TestPagesGoOn(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	s := &scans{pages: 50, languages: "eng", confidence: 90}
	library := f.reading(s)
	source, err := library.Upload(t.Context(), f.ref, knowledge.UploadParams{Filename: "scan.pdf"}, strings.NewReader("%PDF-1.7\nscan"))
	if err != nil {
		t.Fatal(err)
	}
	s.before = func(page int) error {
		if page == 11 { // half a second later progress is told again
			f.clock.advance(time.Second)
		}
		if page == 12 {
			got := f.get(f.ref, source.ID)
			if got.Stage != knowledge.StageOCR || got.PagesDone != 11 || got.PageCount != 50 ||
				got.OCRPageCount != 10 || got.Progress != 70*11/50 {
				t.Errorf("after 11 pages: %+v", got)
			}
		}
		if page == 31 {
			return errors.New("the program was killed")
		}
		return nil
	}
	if err := library.Ingest(t.Context(), source.ID); err != nil {
		t.Fatal(err)
	}
	if got := f.get(f.ref, source.ID); got.Status != knowledge.StatusQueued || got.Attempt != 0 {
		t.Fatalf("after the failure: %+v", got)
	}
	if n := f.count("SELECT count(*) FROM source_pages"); n != 29 {
		t.Fatalf("%d pages are kept, want 29", n)
	}
	s.before = nil
	// Another language reads everything anew, and its pages are not taken for those of the first.
	german := &scans{pages: 50, languages: "deu", before: func(page int) error {
		if page == 41 {
			return errors.New("the program was killed")
		}
		return nil
	}}
	f.clock.advance(time.Minute)
	if err := f.reading(german).Ingest(t.Context(), source.ID); err != nil || german.paid.Load() != 40 {
		t.Fatalf("%d pages read in another language, %v; want 40", german.paid.Load(), err)
	}
	f.clock.advance(time.Minute)
	s.paid.Store(0)
	if err := library.Ingest(t.Context(), source.ID); err != nil {
		t.Fatal(err)
	}
	got := f.get(f.ref, source.ID)
	if got.Status != knowledge.StatusReady || got.PageCount != 50 || got.PagesDone != 50 || got.OCRPageCount != 49 {
		t.Fatalf("at last: %+v", got)
	}
	if want := []string{"Page 2 could not be read: It is damaged."}; !slices.Equal(got.Warnings, want) {
		t.Errorf("warnings %q, want %q", got.Warnings, want)
	}
	if n := s.paid.Load(); n != 21 { // page 2 is never kept
		t.Errorf("%d pages were read again, want 21", n)
	}
	var text strings.Builder
	for _, chunk := range f.chunksInOrder(source.ID) {
		text.WriteString(chunk.Content)
	}
	for _, page := range []int{1, 30, 31, 50} {
		if words := fmt.Sprintf("Page %d in eng speaks", page); strings.Count(text.String(), words) != 1 {
			t.Errorf("%q stands %d times in the chunks", words, strings.Count(text.String(), words))
		}
	}
	if n := f.count("SELECT count(*) FROM source_pages"); n != 0 {
		t.Errorf("%d pages are still kept", n)
	}
	if strings.Contains(text.String(), "deu") {
		t.Error("pages of another language were taken")
	}
}

// TestKeptIsSwept forgets what nobody came back for.
func TestKeptIsSwept(t *testing.T) {
	t.Parallel()
	m := &meter{Embedder: hashing.New(), name: "paid", batch: 4, failAfter: 3}
	f := setUp(t, "large", m)
	waiting, failed := f.inline(f.ref, "waiting", longText(60)), f.inline(f.ref, "failed", longText(60)+"other")
	for _, id := range []knowledge.SourceID{waiting, failed} {
		m.calls.Store(0)
		if err := f.Ingest(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.db.ExecContext(t.Context(), "UPDATE sources SET status = 'failed' WHERE tenant_id = ? AND id = ?",
		f.ref.TenantID, failed); err != nil {
		t.Fatal(err)
	}
	kept := func(id knowledge.SourceID) int {
		return f.count("SELECT count(*) FROM staged_vectors WHERE source_id = ?", id)
	}
	f.clock.advance(23 * time.Hour)
	if err := f.Maintain(t.Context(), f.clock.now()); err != nil || kept(failed) == 0 {
		t.Fatalf("swept after 23 h, %v", err)
	}
	f.clock.advance(2 * time.Hour)
	if err := f.Maintain(t.Context(), f.clock.now()); err != nil || kept(failed) != 0 || kept(waiting) == 0 {
		t.Errorf("after 25 h: %d kept of the failed source, %d of the waiting one, %v", kept(failed), kept(waiting), err)
	}
}
