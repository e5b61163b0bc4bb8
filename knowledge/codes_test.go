package knowledge_test

import (
	"slices"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/workspaces"
)

// TestCodedSearch has an agent see more than is compared one by one, and looks that searching by
// codes answers as comparing with all does, shows nobody more than they may see, and misses nothing
// that has no codes yet.
func TestCodedSearch(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	f.node = f.with(hashing.New())
	l := newLibrary(3)
	ids := f.stock(l, 2000)
	all := f.attachMany(ids)
	most := f.attachMany(ids[:len(ids)*2/3])
	questions := make([]string, 30)
	for i := range questions {
		questions[i] = l.text(l.rand.IntN(libraryTopics), 8)
	}
	f.finds(all, most, questions) // as after an upgrade: no source has codes
	for range 2 {
		if err := f.Maintain(t.Context(), f.clock.now()); err != nil {
			t.Fatal(err)
		}
		if n := f.count("SELECT count(*) FROM source_codes"); n != len(ids) {
			t.Fatalf("%d sources have codes, want %d", n, len(ids))
		}
	}
	f.finds(all, most, questions)
	fresh := f.findsFresh(all, most)
	f.besideNeighbours(all)

	// Codes of nothing have their source not found, which shows that they are asked; by a service
	// that knows the true ones it is.
	f.exec("UPDATE source_codes SET codes = decode(repeat('00', octet_length(codes)), 'hex') WHERE words_number = (SELECT number "+
		"FROM source_words WHERE source_id = ?)", fresh)
	for name, one := range map[string]struct {
		service node
		found   bool
	}{"reads the codes": {f.with(hashing.New()), false}, "knows them": {f.node, true}} {
		answer, err := one.service.Query(t.Context(), f.ref, knowledge.QueryParams{AgentID: all, Question: zeppelin})
		if err != nil || slices.Contains(sourcesOf(answer.Chunks), fresh) != one.found {
			t.Errorf("a service that %s found %v, %v", name, sourcesOf(answer.Chunks), err)
		}
	}
	// Where codes are broken, of another model or of another version, vectors are compared.
	for _, change := range []string{"codes = '\\x0102'", "model = 'other'", "version = -1"} {
		f.exec("UPDATE source_codes SET " + change)
		f.node = f.with(hashing.New())
		if found := f.ask(all, knowledge.QueryParams{Question: zeppelin}); found[0].SourceID != fresh {
			t.Errorf("%s: found %v", change, sourcesOf(found))
		}
	}
	if err := f.Maintain(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
	if n := f.count("SELECT count(*) FROM source_codes WHERE model = ? AND version > 0",
		hashing.ModelName); n != f.count("SELECT count(*) FROM source_codes") || n != f.count("SELECT count(*) FROM source_words") {
		t.Errorf("%d sources have codes of their model", n)
	}
	f.finds(all, most, questions)
}

// finds looks at what two agents find, who see all and two thirds.
func (f *fixture) finds(all, most agents.ID, questions []string) {
	f.t.Helper()
	for name, agent := range map[string]agents.ID{"all": all, "two thirds": most} {
		if got := f.recall(agent, questions); got < 0.95 {
			f.t.Errorf("an agent that sees %s: recall %.3f, want 0.95", name, got)
		}
		f.onlySees(agent, questions)
	}
}

// findsFresh ingests a source and shows it to one of two agents.
func (f *fixture) findsFresh(sees, not agents.ID) knowledge.SourceID {
	f.t.Helper()
	fresh := f.ready(f.ref, "fresh", zeppelin)
	f.attach(f.ref, sees, knowledge.UsageAuto, fresh)
	if n := f.count("SELECT count(*) FROM source_codes WHERE words_number = (SELECT number FROM source_words WHERE source_id = ?)",
		fresh); n != 1 {
		f.t.Errorf("an ingested source has %d rows of codes, want 1", n)
	}
	for _, ranking := range []knowledge.Ranking{knowledge.RankSimilarity, knowledge.RankHybrid} {
		question := knowledge.QueryParams{Question: "zeppelin hangar varnish", Ranking: ranking, TopK: 50}
		if found := sourcesOf(f.ask(sees, question)); found[0] != fresh {
			f.t.Errorf("%s: a fresh source is not first: %v", ranking, found)
		}
		if slices.Contains(sourcesOf(f.ask(not, question)), fresh) {
			f.t.Errorf("%s: an agent found what is not attached to it", ranking)
		}
	}
	return fresh
}

const zeppelin = "The zeppelin hangar smells of varnish.\n"

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
	for _, ref := range []workspaces.Ref{{TenantID: f.ref.TenantID, ID: neighbour.ID}, {
		TenantID: stranger.Tenant.ID,
		ID:       stranger.Workspace.ID,
	}} {
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

// onlySees fails when an answer holds a source that is not attached, or fewer chunks than there
// are.
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
