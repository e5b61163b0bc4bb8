package knowledge_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/hashing"
)

// outside is an embedder whose party can be away or slow.
type outside struct {
	*hashing.Embedder
	before func(ctx context.Context) error
	name   string
	// local has vectors made again rather than found.
	local bool
}

func (o outside) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	if o.before != nil {
		if err := o.before(ctx); err != nil {
			return nil, err
		}
	}
	return o.Embedder.Embed(ctx, texts, kind)
}

func (o outside) Model() embedding.Model {
	m := o.Embedder.Model()
	m.Local = o.local
	if o.name != "" {
		m.Name = o.name
	}
	return m
}

// TestTakeover holds a run in the embedder, lets its heartbeat grow old, and has another run
// take the source over.
func TestTakeover(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	id := f.inline(f.ref, "a", hours)
	reached, release := make(chan struct{}), make(chan struct{})
	slow := f.with(outside{Embedder: hashing.New(), before: func(context.Context) error {
		close(reached)
		<-release
		return nil
	}})
	var stalled error
	var run sync.WaitGroup
	run.Go(func() { stalled = slow.Ingest(t.Context(), id) })
	<-reached

	during := f.get(f.ref, id)
	if during.Status != knowledge.StatusProcessing || during.Stage != knowledge.StageEmbedding ||
		during.Progress < 30 || during.HeartbeatAt.IsZero() {
		t.Errorf("during: %+v", during)
	}
	f.clock.advance(59 * time.Second)
	if due, err := f.DueSources(t.Context(), f.clock.now(), fair.Ask{Room: 10}); err != nil || len(due) != 0 {
		t.Errorf("due after 59 s: %v, %v; want none", due, err)
	}
	if err := f.Ingest(t.Context(), id); err != nil || f.get(f.ref, id).Owner != during.Owner {
		t.Fatalf("taken over after 59 s, %v", err)
	}
	f.clock.advance(2 * time.Second)
	due, err := f.DueSources(t.Context(), f.clock.now(), fair.Ask{Room: 10})
	if err != nil || len(due) != 1 || due[0].ID != id || due[0].TenantID != f.ref.TenantID {
		t.Errorf("due after 61 s: %v, %v", due, err)
	}
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	taken := f.get(f.ref, id)
	if taken.Status != knowledge.StatusReady || taken.Attempt != 2 {
		t.Fatalf("after the takeover: %+v", taken)
	}
	close(release)
	run.Wait()
	if stalled != nil {
		t.Errorf("the stalled run: %v", stalled)
	}
	if after := f.get(f.ref, id); !after.ReadyAt.Equal(taken.ReadyAt) || !after.UpdatedAt.Equal(taken.UpdatedAt) {
		t.Errorf("the stalled run wrote: %+v", after)
	}
	if n := f.count("SELECT count(*) FROM chunks"); n != 1 {
		t.Errorf("chunks: got %d, want 1", n)
	}
	if n := f.count("SELECT count(*) FROM events WHERE type = ?", events.KBSourceIngested); n != 1 {
		t.Errorf("ingested events: got %d, want 1", n)
	}
}

// TestLostWhileBeating ends a run at its heartbeat when the source was deleted under it.
func TestLostWhileBeating(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	id := f.inline(f.ref, "a", hours)
	service := f.nodeOf(knowledge.Deps{
		Embedders: knowledge.Embedders{outside{Embedder: hashing.New(), before: func(ctx context.Context) error {
			if err := f.Delete(ctx, f.ref, id); err != nil {
				return err
			}
			<-ctx.Done() // only the heartbeat can end this
			return ctx.Err()
		}}},
	}, ingestion.Deps{HeartbeatEvery: time.Millisecond})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := service.Ingest(ctx, id); err != nil || ctx.Err() != nil {
		t.Fatalf("got %v, %v; the heartbeat did not end the run", err, ctx.Err())
	}
	if n := f.count("SELECT count(*) FROM chunks"); n != 0 {
		t.Errorf("chunks: got %d, want 0", n)
	}
}

func TestHeartbeat(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	id := f.inline(f.ref, "a", hours)
	service := f.nodeOf(knowledge.Deps{
		Embedders: knowledge.Embedders{outside{Embedder: hashing.New(), before: func(ctx context.Context) error {
			f.clock.advance(time.Hour)
			want := f.clock.now().Add(-time.Minute)
			for f.get(f.ref, id).HeartbeatAt.Before(want) {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			return nil
		}}},
	}, ingestion.Deps{HeartbeatEvery: time.Millisecond})
	if err := service.Ingest(t.Context(), id); err != nil || f.get(f.ref, id).Status != knowledge.StatusReady {
		t.Fatalf("got %+v, %v", f.get(f.ref, id), err)
	}
}

// TestOutage lets the embedder fail five times, on a source that was ready before.
func TestOutage(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	id := f.ready(f.ref, "a", hours)
	f.attach(f.ref, agent, knowledge.UsageAuto, id)
	if _, err := f.Reprocess(t.Context(), f.ref, id, knowledge.ReprocessParams{}); err != nil {
		t.Fatal(err)
	}
	away := f.with(outside{
		Embedder: hashing.New(), local: true,
		before: func(context.Context) error { return errors.New("connection refused by 10.0.0.7") },
	})
	for attempt := 1; attempt <= 5; attempt++ {
		due, err := f.DueSources(t.Context(), f.clock.now(), fair.Ask{Room: 10})
		if err != nil || len(due) != 1 {
			t.Fatalf("attempt %d: due %v, %v", attempt, due, err)
		}
		if err := away.Ingest(t.Context(), id); err != nil {
			t.Fatalf("attempt %d: %v", attempt, err)
		}
		got := f.get(f.ref, id)
		if attempt < 5 && (got.Status != knowledge.StatusQueued || got.Attempt != attempt || !got.DueAt.After(f.clock.now())) {
			t.Fatalf("attempt %d: %+v", attempt, got)
		}
		if err := away.Ingest(t.Context(), id); err != nil || f.get(f.ref, id).Attempt != got.Attempt {
			t.Fatalf("attempt %d: it ran again before it was due", attempt)
		}
		f.clock.advance(10 * time.Minute)
	}
	got := f.get(f.ref, id)
	if got.Status != knowledge.StatusFailed || got.ErrorCode != "internal" || strings.Contains(got.ErrorMessage, "10.0.0.7") {
		t.Fatalf("after five attempts: %+v", got)
	}
	if answer, err := f.Query(t.Context(), f.ref, knowledge.QueryParams{
		AgentID:  agent,
		Question: "museum",
	}); err != nil || len(answer.Chunks) != 1 {
		t.Errorf("the old chunks are gone: %v, %v", answer, err)
	}
	f.attach(f.ref, f.agent(f.ref), knowledge.UsageAuto, id)
}

// TestCrashes ends five runs without a word.
func TestCrashes(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	id := f.inline(f.ref, "a", hours)
	_, err := f.db.ExecContext(t.Context(),
		"UPDATE sources SET status = 'processing', owner = 'dead', attempt = 5, heartbeat_at = ?", f.clock.now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got := f.get(f.ref, id); got.Status != knowledge.StatusFailed || got.ErrorCode != "internal" {
		t.Errorf("got %+v, want failed", got)
	}
}

// TestShutdown puts a source back when the worker stops, without counting the run.
func TestShutdown(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	id := f.inline(f.ref, "a", hours)
	ctx, stop := context.WithCancel(t.Context())
	stopping := f.with(outside{Embedder: hashing.New(), before: func(ctx context.Context) error {
		stop()
		<-ctx.Done()
		return ctx.Err()
	}})
	if err := stopping.Ingest(ctx, id); err != nil {
		t.Fatal(err)
	}
	if got := f.get(f.ref, id); got.Status != knowledge.StatusQueued || got.Attempt != 0 {
		t.Fatalf("got %+v, want queued", got)
	}
	if err := f.Ingest(t.Context(), id); err != nil || f.get(f.ref, id).Status != knowledge.StatusReady {
		t.Errorf("it cannot be ingested again: %v", err)
	}
}
