package knowledge_test

import (
	"slices"
	"testing"

	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/provider/embedding/hashing"
)

// TestAhead: a search that begins before the database has answered goes by what the agent had, and says so when it has
// something else by now; made again it finds what there is.
func TestAhead(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	f.Service = f.with(hashing.New())
	agent := f.agent(f.ref)
	harbour := f.ready(f.ref, "harbour", "The harbour opens at nine and the boat returns in the evening.")
	tower := f.ready(f.ref, "tower", "The harbour tower is painted white every spring.")
	f.attach(f.ref, agent, knowledge.UsageAuto, harbour, tower)
	if err := f.Tend(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
	search := func(ahead *knowledge.Ahead) (sources []knowledge.SourceID) {
		t.Helper()
		passages, _, err := f.Retrieve(t.Context(), f.ref, agent, "harbour", knowledge.RetrieveParams{Ranking: knowledge.RankHybrid, Ahead: ahead})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range passages {
			sources = append(sources, one.SourceID)
		}
		slices.Sort(sources)
		return sources
	}
	both := slices.Sorted(slices.Values([]knowledge.SourceID{harbour, tower}))
	// turn begins a turn: its search goes first, unless it is late.
	turn := func(late bool) (ahead *knowledge.Ahead, found []knowledge.SourceID) {
		t.Helper()
		ahead = f.Service.Ahead(f.ref, agent)
		if !late {
			found = search(ahead)
		}
		if ahead.Held() {
			t.Error("it held before anybody was asked")
		}
		if _, err := f.db.Ask(t.Context(), ahead.Step()); err != nil {
			t.Fatal(err)
		}
		if late {
			found = search(ahead)
		}
		return ahead, found
	}
	for range 3 { // the first asks itself, and reads the sources into memory
		if ahead, found := turn(false); !ahead.Held() || !slices.Equal(found, both) {
			t.Fatalf("found %v, held %v", found, ahead.Held())
		}
	}
	f.exec("ALTER TABLE source_attachments RENAME TO attachments_away")
	ahead := f.Service.Ahead(f.ref, agent)
	found := search(ahead)
	f.exec("ALTER TABLE attachments_away RENAME TO source_attachments")
	if !slices.Equal(found, both) {
		t.Errorf("without asking: %v", found)
	}
	if err := f.Detach(t.Context(), f.ref, agent, tower); err != nil {
		t.Fatal(err)
	}
	ahead, _ = turn(false)
	if ahead.Held() {
		t.Error("a source was detached, and the search held")
	}
	if found := search(ahead); !slices.Equal(found, []knowledge.SourceID{harbour}) || !ahead.Held() {
		t.Errorf("made again: %v, held %v", found, ahead.Held())
	}
	f.attach(f.ref, agent, knowledge.UsageAuto, tower)
	if ahead, found := turn(true); !slices.Equal(found, both) || !ahead.Held() {
		t.Errorf("behind the question: %v, held %v", found, ahead.Held())
	}
	if ahead, found := turn(false); !slices.Equal(found, both) || !ahead.Held() {
		t.Errorf("the turn after: %v, held %v", found, ahead.Held())
	}
}
