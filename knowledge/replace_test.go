package knowledge_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/workspaces"
)

// What a source says in its versions.
const (
	winter = "# Opening hours\n\nIn winter the museum opens at ten in the morning.\n"
	summer = "# Opening hours\n\nIn summer the museum opens at nine in the morning, every day of the week.\n"
	autumn = "# Opening hours\n\nIn autumn the museum opens at noon.\n"
)

// replace gives a source pasted text.
func (f *fixture) replace(id knowledge.SourceID, content string) knowledge.Source {
	f.t.Helper()
	source, err := f.Update(f.t.Context(), f.ref, id, knowledge.UpdateParams{Content: &content})
	if err != nil {
		f.t.Fatalf("replace: %v", err)
	}
	return source
}

// says fails unless the agent finds exactly one passage, with these words.
func (f *fixture) says(when string, from knowledge.SourceID, words string) {
	f.t.Helper()
	var agent knowledge.Attachment
	err := f.db.NewSelect().Model(&agent).Column("agent_id").Where("source_id = ?", from).Scan(f.t.Context())
	if err != nil {
		f.t.Fatalf("%s: the attachment: %v", when, err)
	}
	found := f.ask(agent.AgentID, knowledge.QueryParams{Question: "When does the museum open?", Ranking: knowledge.RankHybrid})
	if len(found) != 1 || !strings.Contains(found[0].Content, words) {
		f.t.Fatalf("%s: found %+v, want %q", when, found, words)
	}
}

// keeps fails unless the workspace stores exactly these contents, and counts their bytes.
func (f *fixture) keeps(when string, contents ...string) {
	f.t.Helper()
	bytes := 0
	for _, one := range contents {
		bytes += len(one)
	}
	var orphans []string
	if err := f.db.NewRaw("SELECT key FROM stray_blobs").Scan(f.t.Context(), &orphans); err != nil {
		f.t.Fatal(err)
	}
	for _, key := range orphans { // what the worker does
		if err := f.SweepBlob(f.t.Context(), key); err != nil {
			f.t.Fatal(err)
		}
	}
	if f.used() != int64(bytes) || f.files() != len(contents) {
		f.t.Fatalf("%s: %d bytes are counted and %d files kept, want %d and %d", when, f.used(), f.files(), bytes, len(contents))
	}
}

// TestReplace: the old passages answer until the new ones are ready, attachments stay, the content
// before can be had back, and one version before is kept and counted.
func TestReplace(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	id := f.ready(f.ref, "hours", winter)
	f.attach(f.ref, f.agent(f.ref), knowledge.UsageAuto, id)
	ingest := func() knowledge.Source {
		t.Helper()
		if err := f.Ingest(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		return f.get(f.ref, id)
	}

	source := f.replace(id, summer)
	if source.ID != id || source.Status != knowledge.StatusQueued || !source.Replacing || source.Previous.SizeBytes != int64(len(winter)) {
		t.Fatalf("replaced: %+v", source)
	}
	f.says("while it waits", id, "ten in the morning")
	f.keeps("while it waits", winter, summer)
	if source = ingest(); source.Status != knowledge.StatusReady || source.Replacing || source.Content != summer || source.Name != "hours" {
		t.Fatalf("ready: %+v", source)
	}
	f.says("replaced", id, "nine in the morning")

	f.replace(id, autumn)
	f.keeps("a second time", summer, autumn)
	f.replace(id, winter) // before autumn was read
	f.keeps("instead of a waiting one", summer, winter)
	ingest()
	f.says("the last one", id, "ten in the morning")

	if source, err := f.Restore(t.Context(), f.ref, id); err != nil || source.SHA256 == source.Previous.SHA256 {
		t.Fatalf("restored: %+v, %v", source, err)
	}
	f.says("while it is restored", id, "ten in the morning")
	if source = ingest(); source.Content != summer {
		t.Fatalf("restored: %q", source.Content)
	}
	f.says("restored", id, "nine in the morning")
	f.keeps("restored", summer, winter)

	f.replace(id, autumn)
	if source, err := f.Restore(t.Context(), f.ref, id); err != nil || source.Replacing {
		t.Fatalf("a replacement that waits is given up: %+v, %v", source, err)
	}
	f.keeps("given up", summer)
	ingest()
	f.says("given up", id, "nine in the morning")
	if _, err := f.Restore(t.Context(), f.ref, id); fault.From(err).Reason != fault.KBNothingToRestore {
		t.Errorf("nothing to restore: %v", err)
	}

	f.replace(id, winter)
	if err := f.Delete(t.Context(), f.ref, id); err != nil {
		t.Fatal(err)
	}
	f.keeps("deleted")
}

// TestReplaceByTheUnreadable: the source goes back to the content that answers, and says why.
func TestReplaceByTheUnreadable(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	id := f.ready(f.ref, "hours", winter)
	f.attach(f.ref, f.agent(f.ref), knowledge.UsageAuto, id)
	_, err := f.Upload(t.Context(), f.ref, knowledge.UploadParams{Filename: "new.json", Replaces: id}, strings.NewReader(`{"a": `))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	source := f.get(f.ref, id)
	if source.Status != knowledge.StatusFailed || source.Replacing || source.MediaType != "text/markdown" ||
		source.Content != winter || !strings.Contains(source.ErrorMessage, "the one before answers still") {
		t.Errorf("failed: %+v", source)
	}
	f.says("after the failure", id, "ten in the morning")
	f.keeps("after the failure", winter)
	f.replace(id, winter) // the same bytes, after a failure: read again
	if err := f.Ingest(t.Context(), id); err != nil || f.get(f.ref, id).Status != knowledge.StatusReady {
		t.Errorf("read again: %v", err)
	}
}

// TestReplaceByTheSame changes nothing, and keeps nothing of it.
func TestReplaceByTheSame(t *testing.T) {
	t.Parallel()
	f := setUp(t, "tiny", nil)
	id := f.ready(f.ref, "hours", winter)
	queued := "SELECT count(*) FROM events WHERE type = '_source.queued'"
	before := f.count(queued)
	if source := f.replace(id, winter); source.Status != knowledge.StatusReady || source.Replacing || f.count(queued) != before {
		t.Errorf("replaced by the same: %+v", source)
	}
	f.keeps("the same", winter)
	if f.count("SELECT count(*) FROM upload_holds") != 0 {
		t.Error("room is held for nothing")
	}
	name := "times"
	source, err := f.Update(t.Context(), f.ref, id, knowledge.UpdateParams{Name: &name, Content: new(winter)})
	if err != nil || source.Name != name {
		t.Errorf("renamed: %+v, %v", source, err)
	}
}

// TestReplaceRefused: no room for both versions, another tenant's source, one that is gone.
func TestReplaceRefused(t *testing.T) {
	t.Parallel()
	f := setUp(t, "tiny", nil)
	id := f.ready(f.ref, "hours", winter+strings.Repeat("It is closed on holidays. ", 20))
	long := summer + strings.Repeat("It is closed on some days. ", 17)
	if _, err := f.Update(t.Context(), f.ref, id, knowledge.UpdateParams{Content: &long}); fault.From(err).Reason != fault.QuotaKBStorage {
		t.Errorf("two versions over the plan: %v", err)
	}
	if source := f.get(f.ref, id); source.Status != knowledge.StatusReady || source.Replacing {
		t.Errorf("refused, and yet: %+v", source)
	}
	other, err := f.workspaces.CreateTenant(t.Context(), "other", "large")
	if err != nil {
		t.Fatal(err)
	}
	theirs := workspaces.Ref{TenantID: other.Tenant.ID, ID: other.Workspace.ID}
	text := autumn
	if _, err := f.Update(t.Context(), theirs, id, knowledge.UpdateParams{Content: &text}); fault.From(err).Kind() != fault.NotFound {
		t.Errorf("another tenant's: %v", err)
	}
	_, err = f.Upload(t.Context(), theirs, knowledge.UploadParams{Filename: "a.md", Replaces: id}, strings.NewReader(text))
	if fault.From(err).Kind() != fault.NotFound {
		t.Errorf("a file for another tenant's: %v", err)
	}
	if _, err := f.Restore(t.Context(), theirs, id); fault.From(err).Kind() != fault.NotFound {
		t.Errorf("restore of another tenant's: %v", err)
	}
	if err := f.Delete(t.Context(), f.ref, id); err != nil {
		t.Fatal(err)
	}
	name := "other"
	_, updated := f.Update(t.Context(), f.ref, id, knowledge.UpdateParams{Name: &name})
	_, restored := f.Restore(t.Context(), f.ref, id)
	_, replaced := f.Update(t.Context(), f.ref, id, knowledge.UpdateParams{Content: &text})
	for _, err := range []error{updated, restored, replaced} {
		if fault.From(err).Kind() != fault.NotFound {
			t.Errorf("a deleted source: %v", err)
		}
	}
	if f.count("SELECT count(*) FROM upload_holds") != 0 {
		t.Error("room is held for what was refused")
	}
}

// TestReplaceTakesOverFromARun: a run at work on the content before commits nothing.
func TestReplaceTakesOverFromARun(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	id := f.inline(f.ref, "hours", winter)
	if _, err := f.db.ExecContext(t.Context(), `UPDATE sources SET status = 'processing', stage = 'parsing', owner = 'another',
		attempt = 1, heartbeat_at = ? WHERE id = ?`, f.clock.now(), id); err != nil {
		t.Fatal(err)
	}
	f.replace(id, summer)
	f.keeps("never read", summer)
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if source := f.get(f.ref, id); source.Status != knowledge.StatusReady || source.Content != summer || source.Previous.BlobKey != "" {
		t.Errorf("got %+v", source)
	}
}

// TestReprocessBehindARun: another run is queued when the present one ends, also when it fails.
func TestReprocessBehindARun(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	for _, content := range []string{winter, "\u200b"} {
		id := f.inline(f.ref, "hours", content)
		owned := fmt.Sprintf("UPDATE sources SET status = 'processing', owner = 'mine', attempt = 1, heartbeat_at = '%s' WHERE id = '%s'",
			f.clock.now().Add(-2*time.Minute).Format(time.RFC3339), id)
		if _, err := f.db.ExecContext(t.Context(), owned); err != nil {
			t.Fatal(err)
		}
		source, err := f.Reprocess(t.Context(), f.ref, id, knowledge.ReprocessParams{})
		if err != nil || source.Status != knowledge.StatusProcessing || !source.ReprocessWanted {
			t.Fatalf("while a run is at work: %+v, %v", source, err)
		}
		for _, want := range []knowledge.Status{knowledge.StatusQueued, knowledge.StatusReady} {
			if err := f.Ingest(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if content != winter && want == knowledge.StatusReady {
				want = knowledge.StatusFailed
			}
			if source := f.get(f.ref, id); source.Status != want || source.ReprocessWanted {
				t.Fatalf("of %q: %+v, want %s", content, source, want)
			}
		}
	}
}

// TestRename: the words of the new name are found when the index was made anew, and those of the
// old one until then.
func TestRename(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	id := f.ready(f.ref, "verbena.md", winter)
	other := f.ready(f.ref, "other.md", "Roses are cut in March.\n")
	agent := f.agent(f.ref)
	f.attach(f.ref, agent, knowledge.UsageAuto, id, other)
	found := func(word string) bool {
		hits := f.ask(agent, knowledge.QueryParams{Question: word, Ranking: knowledge.RankHybrid})
		return slices.ContainsFunc(hits, func(hit knowledge.Found) bool { return hit.SourceID == id && hit.Scores.WordScore > 0 })
	}
	name := "camellia.md"
	source, err := f.Update(t.Context(), f.ref, id, knowledge.UpdateParams{Name: &name})
	if err != nil || source.Name != name || source.Status != knowledge.StatusReady {
		t.Fatalf("renamed: %+v, %v", source, err)
	}
	if !found("verbena") {
		t.Error("the words are gone until the index is made anew")
	}
	if err := f.Maintain(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
	if found("verbena") || !found("camellia") {
		t.Error("the index has the words of the old name")
	}
	empty := "  "
	if _, err := f.Update(t.Context(), f.ref, id, knowledge.UpdateParams{Name: &empty}); fault.From(err).Reason != fault.InvalidRequest {
		t.Errorf("an empty name: %v", err)
	}
}

// meanwhile is an embedder beside which something happens, once.
type meanwhile struct {
	embedding.Embedder

	happens func()
	once    sync.Once
}

func (m *meanwhile) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	m.once.Do(m.happens)
	return m.Embedder.Embed(ctx, texts, kind)
}

// TestRenameDuringARun: the index has the words of the new name.
func TestRenameDuringARun(t *testing.T) {
	t.Parallel()
	embedder := &meanwhile{Embedder: hashing.New()}
	f := setUp(t, "large", embedder)
	id := f.inline(f.ref, "verbena.md", winter)
	name := "camellia.md"
	embedder.happens = func() {
		if _, err := f.Update(t.Context(), f.ref, id, knowledge.UpdateParams{Name: &name}); err != nil {
			t.Error(err)
		}
	}
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	agent := f.agent(f.ref)
	f.attach(f.ref, agent, knowledge.UsageAuto, id)
	for word, want := range map[string]bool{"camellia": true, "verbena": false} {
		hits := f.ask(agent, knowledge.QueryParams{Question: word, Ranking: knowledge.RankHybrid})
		if got := slices.ContainsFunc(hits, func(hit knowledge.Found) bool { return hit.Scores.WordScore > 0 }); got != want {
			t.Errorf("%q is found by words: %v, want %v", word, got, want)
		}
	}
}
