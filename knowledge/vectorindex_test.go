package knowledge_test

import (
	"slices"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/workspaces"
)

const zeppelin = "The zeppelin hangar smells of varnish.\n"

// TestVectorIndex gives a workspace with many chunks its index and looks that it answers as comparing
// with all does, shows nobody more than they may see, misses nothing newer, and goes when it must.
func TestVectorIndex(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	f.exact, f.coded = 200, 900
	f.Service = f.with(hashing.New())
	l := newLibrary(3)
	ids := f.stock(l, 2000)
	all := f.attachMany(ids)
	most := f.attachMany(ids[:len(ids)*2/3])
	questions := make([]string, 30)
	for i := range questions {
		questions[i] = l.text(l.rand.IntN(libraryTopics), 8)
	}
	// A crash while building leaves an index that nobody has noted.
	f.exec("CREATE INDEX chunks_hnsw_0000000000000000 ON chunks USING hnsw ((embedding::halfvec(512)) halfvec_cosine_ops) WHERE workspace_id = 'ws_none'")
	for range 2 {
		f.tend(1)
	}
	for name, agent := range map[string]agents.ID{"all": all, "two thirds": most} {
		if got := f.recall(agent, questions); got < 0.95 {
			t.Errorf("an agent that sees %s: recall %.3f, want 0.95", name, got)
		}
		f.onlySees(agent, questions)
	}
	f.findsNewer(all, most)
	f.besideNeighbours(all)

	// A workspace that has become small keeps no index.
	f.exec("DELETE FROM sources WHERE id IN (SELECT id FROM sources WHERE workspace_id = ? LIMIT 10)", f.ref.ID)
	f.tend(0)
}

// tend wants so many indexes after it, and as many notes of them.
func (f *fixture) tend(want int) {
	f.t.Helper()
	if err := f.Tend(f.t.Context(), f.clock.now()); err != nil {
		f.t.Fatal(err)
	}
	if n := f.count("SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'chunks_hnsw_%'"); n != want {
		f.t.Errorf("%d indexes, want %d", n, want)
	}
	if n := f.count("SELECT count(*) FROM vector_indexes"); n != want {
		f.t.Errorf("%d indexes are noted, want %d", n, want)
	}
}

// findsNewer ingests a source that the index does not have, and shows it to one of two agents.
func (f *fixture) findsNewer(sees, not agents.ID) {
	f.t.Helper()
	fresh := f.ready(f.ref, "fresh", zeppelin)
	f.attach(f.ref, sees, knowledge.UsageAuto, fresh)
	if n := f.count("SELECT count(*) FROM chunks AS c, vector_indexes AS v WHERE c.source_id = ? AND c.batch > v.up_to", fresh); n != 1 {
		f.t.Fatalf("%d chunks are newer than the index, want 1", n)
	}
	for _, ranking := range []knowledge.Ranking{knowledge.RankSimilarity, knowledge.RankHybrid} {
		question := knowledge.QueryParams{Question: "zeppelin hangar varnish", Ranking: ranking, TopK: 50}
		if found := sourcesOf(f.ask(sees, question)); found[0] != fresh {
			f.t.Errorf("%s: what is newer than the index is not first: %v", ranking, found)
		}
		if slices.Contains(sourcesOf(f.ask(not, question)), fresh) {
			f.t.Errorf("%s: an agent found what is not attached to it", ranking)
		}
	}
}

// besideNeighbours has the same text in another workspace of the tenant and with a stranger.
func (f *fixture) besideNeighbours(agent agents.ID) {
	f.t.Helper()
	neighbour, err := f.workspaces.CreateWorkspace(f.t.Context(), principal(f.ref), "neighbour")
	if err != nil {
		f.t.Fatal(err)
	}
	stranger, err := f.workspaces.CreateTenant(f.t.Context(), "stranger", "large")
	if err != nil {
		f.t.Fatal(err)
	}
	mine := f.ask(agent, knowledge.QueryParams{Question: zeppelin, TopK: 50})
	for _, ref := range []workspaces.Ref{{TenantID: f.ref.TenantID, ID: neighbour.ID}, {TenantID: stranger.Tenant.ID, ID: stranger.Workspace.ID}} {
		theirs := f.ready(ref, "theirs", zeppelin)
		guide := f.agent(ref)
		f.attach(ref, guide, knowledge.UsageAuto, theirs)
		answer, err := f.Query(f.t.Context(), ref, knowledge.QueryParams{AgentID: guide, Question: zeppelin, TopK: 50})
		if err != nil || !slices.Equal(sourcesOf(answer.Chunks), []knowledge.SourceID{theirs}) {
			f.t.Errorf("a neighbour found %v, %v", sourcesOf(answer.Chunks), err)
		}
	}
	if now := f.ask(agent, knowledge.QueryParams{Question: zeppelin, TopK: 50}); !slices.Equal(sourcesOf(now), sourcesOf(mine)) {
		f.t.Errorf("neighbours changed an answer from %v to %v", sourcesOf(mine), sourcesOf(now))
	}
}

// onlySees fails when an answer holds a source that is not attached, or fewer chunks than there are.
func (f *fixture) onlySees(agent agents.ID, questions []string) {
	f.t.Helper()
	var attached []knowledge.SourceID
	if err := f.db.NewRaw("SELECT source_id FROM source_attachments WHERE agent_id = ?", agent).Scan(f.t.Context(), &attached); err != nil {
		f.t.Fatal(err)
	}
	for _, question := range questions {
		for _, ranking := range []knowledge.Ranking{knowledge.RankSimilarity, knowledge.RankHybrid} {
			found := f.ask(agent, knowledge.QueryParams{Question: question, Ranking: ranking, TopK: 50})
			if len(found) != 50 {
				f.t.Errorf("%s: %d chunks, want 50", ranking, len(found))
			}
			for _, one := range found {
				if !slices.Contains(attached, one.SourceID) {
					f.t.Errorf("%s: found %s, which is not attached", ranking, one.SourceID)
				}
			}
		}
	}
}
