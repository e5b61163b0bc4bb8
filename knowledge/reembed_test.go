package knowledge_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/hashing"
)

// moving is a service whose configured model is another than the one that embedded so far, which
// it still can ask.
func (f *fixture) moving(next embedding.Embedder, previous ...embedding.Embedder) node {
	return f.with(append([]embedding.Embedder{next}, previous...)...)
}

// reembedAll does what a worker would.
func (f *fixture) reembedAll(s node) (tasks int) {
	f.t.Helper()
	for {
		due, err := s.DueReembeddings(f.t.Context(), f.clock.now(), fair.Ask{Room: 10})
		if err != nil {
			f.t.Fatal(err)
		}
		if len(due) == 0 {
			return tasks
		}
		for _, source := range due {
			tasks++
			if err := s.Reembed(f.t.Context(), source.ID); err != nil {
				f.t.Fatal(err)
			}
		}
	}
}

func (f *fixture) sweepModels(s node) {
	f.t.Helper()
	f.clock.advance(10 * time.Minute)
	if err := s.SweepModels(f.t.Context(), f.clock.now()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) status(s node) knowledge.EmbeddingStatus {
	f.t.Helper()
	status, err := s.EmbeddingStatus(f.t.Context(), f.ref)
	if err != nil {
		f.t.Fatal(err)
	}
	status.StartedAt = time.Time{}
	return status
}

// TestChangeOfModel asks all the while: the model before answers until the last source is done.
func TestChangeOfModel(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	ids := []knowledge.SourceID{f.ready(f.ref, "a", hours), f.ready(f.ref, "b", hours), f.ready(f.ref, "c", hours)}
	f.attach(f.ref, agent, knowledge.UsageAuto, ids...)
	changed := f.moving(outside{Embedder: hashing.New(), name: "another"}, hashing.New())

	ctx, stop := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	var asked atomic.Int64
	asking.Go(func() {
		for ctx.Err() == nil {
			answer, err := changed.Query(t.Context(), f.ref, knowledge.QueryParams{AgentID: agent, Question: "museum"})
			if err != nil || len(answer.Chunks) != 3 {
				t.Errorf("question %d: %d chunks, %v; want 3 at all times", asked.Load(), len(answer.Chunks), err)
				return
			}
			asked.Add(1)
		}
	})
	f.sweepModels(changed)
	if got, want := f.status(changed), (knowledge.EmbeddingStatus{
		AnsweringModel: hashing.ModelName, TargetModel: "another", SourcesTotal: 3, ChunksTotal: 3,
	}); got != want {
		t.Errorf("at first: %+v, want %+v", got, want)
	}
	due, err := changed.DueReembeddings(t.Context(), f.clock.now(), fair.Ask{Room: 1})
	if err != nil || len(due) != 1 {
		t.Fatalf("due: %v, %v", due, err)
	}
	if err := changed.Reembed(t.Context(), due[0].ID); err != nil {
		t.Fatal(err)
	}
	if got := f.status(changed); got.AnsweringModel != hashing.ModelName || got.SourcesDone != 1 || got.ChunksDone != 1 {
		t.Errorf("after one source: %+v", got)
	}
	// One that comes meanwhile is embedded for the model that answers, and counted in.
	late := f.inline(f.ref, "late", "The library is closed on Sundays.")
	if err := changed.Ingest(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	if got := f.get(f.ref, late); got.Status != knowledge.StatusReady || got.EmbeddingModel != hashing.ModelName {
		t.Errorf("a source that came meanwhile: %+v", got)
	}
	if n := f.reembedAll(changed); n != 3 {
		t.Errorf("%d tasks for the other sources, want 3", n)
	}
	stop()
	asking.Wait()
	if asked.Load() == 0 {
		t.Error("nothing was asked meanwhile")
	}
	if got, want := f.status(changed), (knowledge.EmbeddingStatus{
		AnsweringModel: "another", TargetModel: "another", SourcesTotal: 4, SourcesDone: 4, ChunksTotal: 4, ChunksDone: 4,
	}); got != want {
		t.Errorf("at last: %+v, want %+v", got, want)
	}
	for _, table := range []string{"next_vectors", "source_reembeddings"} {
		if n := f.count("SELECT count(*) FROM " + table); n != 0 {
			t.Errorf("%s: %d rows are left", table, n)
		}
	}
	if n := f.count("SELECT count(*) FROM chunks WHERE model <> 'another'"); n != 0 {
		t.Errorf("%d chunks of the model before", n)
	}
	if n := f.count("SELECT count(*) FROM events WHERE type = 'kb.source_ingested'"); n != 4 {
		t.Errorf("%d events of ingestion, want 4: re-embedding is none", n)
	}
	f.sweepModels(changed)
	if n := f.reembedAll(changed); n != 0 {
		t.Errorf("%d tasks although all is done", n)
	}
}

// TestChangeOfModelResumes breaks the embedder off, and pays for no chunk twice.
func TestChangeOfModelResumes(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	id := f.ready(f.ref, "a", strings.Repeat(longText(40)+"\n\n", 3))
	total := f.get(f.ref, id).ChunkCount
	meter := &meter{Embedder: hashing.New(), name: "paid", batch: 4, failAfter: 2}
	changed := f.moving(meter, hashing.New())
	f.sweepModels(changed)
	paid := meter.paid.Load()
	if err := changed.Reembed(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	status := f.status(changed)
	if status.ChunksDone == 0 || status.ChunksDone >= total || !strings.Contains(status.Error, "embedding server") {
		t.Fatalf("after the failure: %+v of %d", status, total)
	}
	meter.failAfter = 0
	if n := f.reembedAll(changed); n != 0 {
		t.Errorf("%d tasks right after the failure", n)
	}
	f.clock.advance(time.Minute)
	f.reembedAll(changed)
	if got := f.status(changed); got.AnsweringModel != "paid" || got.ChunksDone != total || got.Error != "" {
		t.Errorf("at last: %+v", got)
	}
	if got := int(meter.paid.Load() - paid); got != total {
		t.Errorf("%d texts were paid for %d chunks", got, total)
	}
}

// TestModelBeforeIsGone finds what is embedded by the new model at once.
func TestModelBeforeIsGone(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", outside{Embedder: hashing.New(), name: "gone"})
	agent := f.agent(f.ref)
	a, b := f.ready(f.ref, "a", hours), f.ready(f.ref, "b", hours)
	f.attach(f.ref, agent, knowledge.UsageAuto, a, b)
	changed := f.moving(hashing.New())
	f.sweepModels(changed)
	if err := changed.Reembed(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	answer, err := changed.Query(t.Context(), f.ref, knowledge.QueryParams{AgentID: agent, Question: "museum"})
	if err != nil || len(answer.Chunks) != 1 || answer.Chunks[0].SourceID != a {
		t.Fatalf("after one of two sources: %+v, %v", answer, err)
	}
	f.reembedAll(changed)
	if got := f.status(changed); got.AnsweringModel != hashing.ModelName || got.SourcesDone != 2 {
		t.Errorf("at last: %+v", got)
	}
}

// TestOlderProcess does nothing to the model: the process that was started last decides.
func TestOlderProcess(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	f.ready(f.ref, "a", hours)
	f.sweepModels(f.node)
	f.sweepModels(f.moving(outside{Embedder: hashing.New(), name: "newer"}, hashing.New()))
	f.sweepModels(f.node)
	if got := f.status(f.node); got.TargetModel != "newer" {
		t.Errorf("the older process took the model back: %+v", got)
	}
	if n := f.reembedAll(f.node); n != 0 {
		t.Errorf("the older process has %d sources to re-embed", n)
	}
	// Started again with the model of before, it decides.
	f.sweepModels(f.moving(hashing.New()))
	if got := f.status(f.node); got.TargetModel != hashing.ModelName || got.AnsweringModel != hashing.ModelName {
		t.Errorf("set back: %+v", got)
	}
	if n := f.count("SELECT count(*) FROM source_reembeddings"); n != 0 {
		t.Errorf("%d sources still wait", n)
	}
}

// TestReprocessedWhileMoving counts a source in anew whose chunks were replaced after it was done.
func TestReprocessedWhileMoving(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	a, b := f.ready(f.ref, "a", hours), f.ready(f.ref, "b", hours)
	changed := f.moving(outside{Embedder: hashing.New(), name: "another"}, hashing.New())
	f.sweepModels(changed)
	if err := changed.Reembed(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if _, err := changed.Reprocess(t.Context(), f.ref, a, knowledge.ReprocessParams{}); err != nil {
		t.Fatal(err)
	}
	if err := changed.Ingest(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if err := changed.Reembed(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if got := f.status(changed); got.AnsweringModel != hashing.ModelName || got.SourcesDone != 1 {
		t.Errorf("the model changed over a source without vectors: %+v", got)
	}
	f.reembedAll(changed)
	if n := f.count("SELECT count(*) FROM chunks WHERE model = 'another'"); n != 2 {
		t.Errorf("%d chunks of the new model, want 2", n)
	}
}

// meter counts what it is paid for, and fails after some batches.
type meter struct {
	*hashing.Embedder
	name      string
	batch     int
	failAfter int64
	calls     atomic.Int64
	paid      atomic.Int64
	refuse    string
}

func (m *meter) Model() embedding.Model {
	return embedding.Model{Name: m.name, Dimension: m.Embedder.Model().Dimension, MaxBatch: m.batch}
}

func (m *meter) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	if n := m.calls.Add(1); m.failAfter > 0 && n > m.failAfter {
		return nil, errServerAway
	}
	for i, text := range texts {
		if m.refuse != "" && strings.Contains(text, m.refuse) {
			return nil, &embedding.Refused{Index: i, Err: errServerAway}
		}
	}
	m.paid.Add(int64(len(texts)))
	return m.Embedder.Embed(ctx, texts, kind)
}

// longText is n paragraphs that all differ.
func longText(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Paragraph %d of the report says that item number %d was counted in hall %d. ", i, i*7, i%13)
		b.WriteString(strings.Repeat(fmt.Sprintf("It weighs %d pounds and stands in row %d. ", i*3, i), 20))
		b.WriteString("\n\n")
	}
	return b.String()
}

var errServerAway = fault.New(fault.UpstreamFailed, "The embedding server is away.")

// TestModelMovesUnderARun changes the model between a run's embedding and its commit: the run
// embeds once more, for the model that answers then.
func TestModelMovesUnderARun(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	f.ready(f.ref, "a", hours)
	reached, release := make(chan struct{}), make(chan struct{})
	slow := outside{Embedder: hashing.New(), before: func(context.Context) error {
		close(reached)
		<-release
		return nil
	}}
	changed := f.moving(outside{Embedder: hashing.New(), name: "another"}, slow)
	f.sweepModels(changed)
	id := f.inline(f.ref, "late", "The library is closed on Sundays.")
	var run sync.WaitGroup
	run.Go(func() {
		if err := changed.Ingest(t.Context(), id); err != nil {
			t.Error(err)
		}
	})
	<-reached
	f.reembedAll(changed)
	if got := f.status(changed); got.AnsweringModel != "another" {
		t.Errorf("the source that is still read keeps the model from changing: %+v", got)
	}
	close(release)
	run.Wait()
	if got := f.get(f.ref, id); got.Status != knowledge.StatusReady || got.EmbeddingModel != "another" || got.Attempt != 1 {
		t.Errorf("the run that was overtaken: %+v", got)
	}
	if n := f.count("SELECT count(*) FROM chunks WHERE model <> 'another'"); n != 0 {
		t.Errorf("%d chunks of the model before, which nobody finds", n)
	}
}

// TestMissingVector does not change the model over a chunk that has no vector of the new one.
func TestMissingVector(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	a, b := f.ready(f.ref, "a", hours), f.ready(f.ref, "b", hours)
	changed := f.moving(outside{Embedder: hashing.New(), name: "another"}, hashing.New())
	f.sweepModels(changed)
	if err := changed.Reembed(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if _, err := f.db.ExecContext(t.Context(), "DELETE FROM next_vectors WHERE tenant_id = ? AND source_id = ?",
		f.ref.TenantID, a); err != nil {
		t.Fatal(err)
	}
	if err := changed.Reembed(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if got := f.status(changed); got.AnsweringModel != hashing.ModelName {
		t.Fatalf("the model changed: %+v", got)
	}
	f.reembedAll(changed)
	if n := f.count("SELECT count(*) FROM chunks WHERE model = 'another'"); n != 2 {
		t.Errorf("%d chunks of the new model, want 2", n)
	}
}

// TestRefusedByTheNewModel leaves one source out, says so, and lets the others go over.
func TestRefusedByTheNewModel(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	f.ready(f.ref, "a", hours)
	odd := f.ready(f.ref, "odd", "This text is poison for the next model.")
	changed := f.moving(&meter{Embedder: hashing.New(), name: "picky", batch: 4, refuse: "poison"}, hashing.New())
	f.sweepModels(changed)
	f.reembedAll(changed)
	got := f.status(changed)
	if got.AnsweringModel != "picky" || got.SourcesDone != 1 || !strings.Contains(got.Error, string(odd)) {
		t.Errorf("got %+v", got)
	}
	f.sweepModels(changed)
	if n := f.reembedAll(changed); n != 0 {
		t.Errorf("the source is tried %d times more", n)
	}
	if after := f.status(changed); after.TargetModel != "picky" || !strings.Contains(after.Error, string(odd)) {
		t.Errorf("later: %+v", after)
	}
}
