package knowledge_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/provider/embedding/hashing"
)

// TestCache asks two services the same, one of which has no room to cache anything. They answer
// alike, in every order, and with the passages of a turn.
func TestCache(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	f.cache = 1
	plain := f.with(hashing.New())
	f.cache = 0
	f.node = f.with(hashing.New())
	l := newLibrary(5)
	ids := f.stock(l, 1500)
	if err := f.Maintain(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
	german := f.ready(f.ref, "german", "Der Hafen öffnet um neun Uhr, und das Boot kommt am Abend zurück. w12 w40 steht nicht im Hafen.")
	many := f.attachMany(append(ids, german))
	few := f.attachMany(ids[:2])
	f.attach(f.ref, few, knowledge.UsagePrompt, german)
	f.ask(many, knowledge.QueryParams{Question: "w12"})
	// What is cached is not read again.
	f.exec("ALTER TABLE source_codes RENAME TO codes_away")
	f.exec("ALTER TABLE chunks RENAME TO chunks_away")
	f.ask(many, knowledge.QueryParams{Question: "w12"})
	f.exec("ALTER TABLE codes_away RENAME TO source_codes")
	f.exec("ALTER TABLE chunks_away RENAME TO chunks")
	floor := 0.2
	for i := range 25 {
		question := l.text(l.rand.IntN(libraryTopics), 2+i%9)
		for name, agent := range map[string]agents.ID{"many": many, "few": few} {
			for _, params := range []knowledge.QueryParams{
				{},
				{Ranking: knowledge.RankHybrid},
				{Ranking: knowledge.RankHybrid, TopK: 50},
				{TopK: 3, MinSimilarity: &floor, Ranking: knowledge.RankHybrid},
				{Ranking: knowledge.RankHybrid, ExplainSourceID: ids[i%2]},
			} {
				params.AgentID, params.Question = agent, question
				got, err := f.Query(t.Context(), f.ref, params)
				want, otherErr := plain.Query(t.Context(), f.ref, params)
				if err != nil || otherErr != nil {
					t.Fatal(err, otherErr)
				}
				if diff := cmp.Diff(got, want, alike); diff != "" {
					t.Fatalf("%s, %s %d: cached, and not:\n%s", name, params.Ranking, params.TopK, diff)
				}
			}
			params := knowledge.RetrieveParams{Ranking: knowledge.RankHybrid}
			got, trace, err := f.Search(f.ref, agent, nil).Retrieve(t.Context(), question, params)
			want, otherTrace, otherErr := plain.Search(f.ref, agent, nil).Retrieve(t.Context(), question, params)
			if err != nil || otherErr != nil {
				t.Fatal(err, otherErr)
			}
			if diff := cmp.Diff(got, want, alike) + cmp.Diff(trace, otherTrace, alike); diff != "" {
				t.Fatalf("%s: passages cached, and not:\n%s", name, diff)
			}
		}
	}
}

// alike compares answers but for rounding.
var alike = cmp.Options{
	cmpopts.EquateApprox(0, 1e-6), cmpopts.IgnoreTypes(knowledge.Chunk{}.Embedding), cmpopts.IgnoreUnexported(knowledge.Found{}),
}

// TestCacheFollows: what is detached, deleted or replaced is not found any more once that was
// answered, though it is cached.
func TestCacheFollows(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	ids := make([]knowledge.SourceID, 3)
	for i, name := range []string{"detached", "deleted", "replaced"} {
		ids[i] = f.ready(f.ref, name, zeppelin+" It is "+name+".")
	}
	f.attach(f.ref, agent, knowledge.UsageAuto, ids...)
	find := func() []knowledge.SourceID {
		return sourcesOf(f.ask(agent, knowledge.QueryParams{Question: "zeppelin hangar varnish", Ranking: knowledge.RankHybrid}))
	}
	for range 2 {
		if found := find(); len(found) != 3 {
			t.Fatalf("found %v, want all", found)
		}
	}
	if err := f.Detach(t.Context(), f.ref, agent, ids[0]); err != nil {
		t.Fatal(err)
	}
	if found := find(); len(found) != 2 || slices.Contains(found, ids[0]) {
		t.Errorf("after the detaching: %v", found)
	}
	if err := f.Delete(t.Context(), f.ref, ids[1]); err != nil {
		t.Fatal(err)
	}
	if found := find(); len(found) != 1 || found[0] != ids[2] {
		t.Errorf("after the deletion: %v", found)
	}
	if _, err := f.Reprocess(t.Context(), f.ref, ids[2], knowledge.ReprocessParams{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Ingest(t.Context(), ids[2]); err != nil {
		t.Fatal(err)
	}
	found := f.ask(agent, knowledge.QueryParams{Question: "zeppelin hangar varnish", Ranking: knowledge.RankHybrid})
	if len(found) != 1 || f.count("SELECT count(*) FROM chunks WHERE id = ?", found[0].ID) != 1 {
		t.Errorf("after it was read again: %v", found)
	}
}
