package knowledge_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/provider/rerank"
	fake "parlance.dev/parlance/test/fake/rerank"
)

func (f *fixture) retrieve(agent agents.ID, question string, p knowledge.RetrieveParams) ([]knowledge.Passage, knowledge.Trace) {
	f.t.Helper()
	passages, trace, err := f.Search(f.ref, agent, nil).Retrieve(f.t.Context(), question, p)
	if err != nil {
		f.t.Fatalf("retrieve: %v", err)
	}
	return passages, trace
}

// uses are what became of the chunks of a trace.
func uses(trace knowledge.Trace) map[knowledge.Use]int {
	counts := map[knowledge.Use]int{}
	for _, one := range trace.Considered {
		counts[one.Use]++
	}
	return counts
}

// TestDuplicates takes one of passages that say nearly the same, and fills its place.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	for i, text := range []string{
		"The museum opens at nine in the morning, and visitors may bring their dogs into the garden.\n",
		"The museum opens at nine in the morning, and visitors may bring their dogs into the garden!\n",
		"THE MUSEUM opens at nine in the morning, and visitors may bring their dogs into the garden…\n",
		"The museum closes early when the river floods the garden.\n",
	} {
		f.attach(f.ref, agent, knowledge.UsageAuto, f.ready(f.ref, fmt.Sprint("source ", i), text))
	}
	for _, ranking := range []knowledge.Ranking{knowledge.RankSimilarity, knowledge.RankHybrid} {
		passages, trace := f.retrieve(agent, "When does the museum open in the morning?",
			knowledge.RetrieveParams{TopK: 2, Ranking: ranking})
		if len(passages) != 2 || passages[0].Content == passages[1].Content || !strings.Contains(passages[1].Content, "floods") {
			t.Errorf("%s: got %+v", ranking, passages)
		}
		if got := uses(trace); got[knowledge.UsePassage] != 2 || got[knowledge.UseDuplicate] != 2 {
			t.Errorf("%s: the trace says %v", ranking, got)
		}
	}
}

// handbook has three chunks under one heading that overlap, and one under another.
func handbook() (text string, sentence func(i int) string) {
	sentence = func(i int) string {
		return fmt.Sprintf("Rule %d of the harbour says that captain%03d moors vessel%03d beside the lantern of pier%03d before the bell. ",
			i, i, i, i)
	}
	var b strings.Builder
	b.WriteString("# Harbour rules\n\n")
	for i := range 110 {
		b.WriteString(sentence(i))
	}
	b.WriteString("\n\n# Kitchen\n\nThe cook bakes bread with rye and serves soup to whoever comes in wet from the weather at any " +
		"hour of the night.\n")
	return b.String(), sentence
}

// TestNeighbours gives the best passage what stands before and behind it, once.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	text, sentence := handbook()
	id := f.ready(f.ref, "handbook", text)
	f.attach(f.ref, agent, knowledge.UsageAuto, id)
	if n := f.count("SELECT count(*) FROM chunks WHERE heading = 'Harbour rules'"); n < 3 {
		t.Fatalf("%d chunks under one heading: the test wants three", n)
	}
	middle := 50
	passages, trace := f.retrieve(agent, fmt.Sprintf("Where does captain%03d moor vessel%03d?", middle, middle),
		knowledge.RetrieveParams{TopK: 1})
	if len(passages) != 1 || trace.Considered[0].ChunkID != passages[0].ChunkID || trace.Considered[0].Use != knowledge.UsePassage {
		t.Fatalf("got %d passages, %+v", len(passages), trace)
	}
	content := passages[0].Content
	var single string
	if err := f.db.NewRaw("SELECT content FROM chunks WHERE id = ?", passages[0].ChunkID).Scan(t.Context(), &single); err != nil {
		t.Fatal(err)
	}
	if len(content) <= len(single) {
		t.Errorf("the passage is its chunk alone")
	}
	if strings.Contains(content, "rye") {
		t.Error("the passage reaches under another heading")
	}
	first := -1
	for i := range 110 {
		switch n := strings.Count(content, strings.TrimSpace(sentence(i))); {
		case n > 1:
			t.Errorf("sentence %d stands in the passage %d times", i, n)
		case n == 1 && first < 0:
			first = i
		}
	}
	if !strings.Contains(content, strings.TrimSpace(sentence(middle))) {
		t.Error("the sentence that was asked for is not in the passage")
	}

	// Chunks that were found and follow each other are one passage, in the order of the source.
	passages, trace = f.retrieve(agent, "the rules of the harbour, captains, vessels, lanterns",
		knowledge.RetrieveParams{TopK: 5, Ranking: knowledge.RankHybrid})
	if len(passages) == 0 || uses(trace)[knowledge.UseMerged] == 0 {
		t.Fatalf("got %d passages, %v", len(passages), uses(trace))
	}
	if n := strings.Count(passages[0].Content, strings.TrimSpace(sentence(10))); n > 1 {
		t.Errorf("a sentence stands in a merged passage %d times", n)
	}
}

// TestTrace says what was under the floor, and what there was no room for.
func TestTrace(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	for i, text := range catalogue {
		f.attach(f.ref, agent, knowledge.UsageAuto, f.ready(f.ref, fmt.Sprint(i), text))
	}
	passages, trace := f.retrieve(agent, "When does the harbour boat leave?", knowledge.RetrieveParams{
		TopK:    1,
		Ranking: knowledge.RankHybrid,
	})
	got := uses(trace)
	if len(passages) != 1 || got[knowledge.UsePassage] != 1 || got[knowledge.UseCrowdedOut] == 0 || got[knowledge.UseBelowFloor] == 0 {
		t.Errorf("got %d passages, %v", len(passages), got)
	}
	if trace.Ranking != knowledge.RankHybrid || trace.Model != hashing.New().Model().Name ||
		trace.Floor != hashing.New().Model().DefaultFloor {
		t.Errorf("got %+v", trace)
	}
	best := trace.Considered[0]
	if best.Scores.WordPlace != 1 || best.Scores.SimilarityPlace != 1 || best.Scores.Fused == 0 || best.Similarity < trace.Floor {
		t.Errorf("the best is %+v", best)
	}
	for _, one := range trace.Considered {
		if (one.Use == knowledge.UseBelowFloor) != (one.Similarity < trace.Floor) {
			t.Errorf("%+v is used as %s", one, one.Use)
		}
	}
}

// TestAlwaysBudget refuses more text in every prompt than fits, and attaches nothing then.
func TestAlwaysBudget(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	var ids []knowledge.SourceID
	for i := range 3 {
		var b strings.Builder
		for j := range 300 {
			fmt.Fprintf(&b, "Rule %d.%d says that everybody greets guest number %d. ", i, j, j)
		}
		ids = append(ids, f.ready(f.ref, fmt.Sprint(i), b.String()))
	}
	tokens := f.count("SELECT sum(token_count) FROM chunks WHERE source_id = ?", ids[0])
	if tokens < 2700 || tokens > 7900 {
		t.Fatalf("%d tokens a source: the test wants one to fit and three not to", tokens)
	}
	attach := func(mode knowledge.UsageMode, ids ...knowledge.SourceID) error {
		_, err := f.Attach(t.Context(), f.ref, knowledge.AttachParams{AgentID: agent, SourceIDs: ids, UsageMode: mode})
		return err
	}
	if err := attach(knowledge.UsagePrompt, ids[0]); err != nil {
		t.Fatal(err)
	}
	if err := attach(knowledge.UsagePrompt, ids[1:]...); !fault.IsReason(err, fault.InvalidRequest) ||
		!strings.Contains(err.Error(), "8000") {
		t.Errorf("over the budget: got %v", err)
	}
	if n := f.count("SELECT count(*) FROM source_attachments"); n != 1 {
		t.Errorf("%d attachments, want the first only", n)
	}
	if err := attach(knowledge.UsageAuto, ids...); err != nil {
		t.Errorf("as auto: %v", err)
	}
	for range 10 { // side by side they must not pass each other
		agent = f.agent(f.ref)
		var group sync.WaitGroup
		for _, id := range ids {
			group.Go(func() { _ = attach(knowledge.UsagePrompt, id) }) // one is refused
		}
		group.Wait()
		total := f.count(`
			SELECT coalesce(sum(c.token_count), 0)
			FROM chunks AS c
			JOIN source_attachments AS a ON a.workspace_id = c.workspace_id AND a.source_id = c.source_id
			WHERE a.agent_id = ?
			  AND a.tenant_id = c.tenant_id`, agent)
		if total > 8000 || total < tokens {
			t.Fatalf("attached side by side: %d tokens in every prompt", total)
		}
	}
}

// TestRerank has a server order what was found; without it, or when it fails, the order stays.
func TestRerank(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	server := fake.Start(t)
	askFor := func(timeout time.Duration) {
		t.Helper()
		var err error
		f.reranker, err = rerank.New(rerank.Deps{
			BaseURL: server.URL, APIKey: fake.APIKey, Model: fake.Model,
			Timeout: timeout, Client: &http.Client{},
		})
		if err != nil {
			t.Fatal(err)
		}
		f.node = f.with(hashing.New())
	}
	agent := f.agent(f.ref)
	var ids []knowledge.SourceID
	for i, text := range catalogue {
		ids = append(ids, f.ready(f.ref, fmt.Sprint(i), text))
	}
	f.attach(f.ref, agent, knowledge.UsageAuto, ids...)
	question := knowledge.QueryParams{AgentID: agent, Question: "harbour boats and the boat cellar", TopK: 2, Rerank: true}
	query := func() knowledge.Answer {
		t.Helper()
		answer, err := f.Query(t.Context(), f.ref, question)
		if err != nil || len(answer.Chunks) != 2 {
			t.Fatalf("got %v, %v", answer, err)
		}
		return answer
	}
	plain := query()
	if plain.Reranked != knowledge.RerankUnset || plain.Chunks[0].Scores.Rerank != nil {
		t.Errorf("without a server: got %q", plain.Reranked)
	}
	askFor(time.Minute)
	answer := query()
	if answer.Reranked != knowledge.RerankDone || answer.Chunks[0].SourceID != ids[3] && answer.Chunks[0].SourceID != ids[5] {
		t.Errorf("got %q and %v, want a source with the cellar first", answer.Reranked, sourcesOf(answer.Chunks))
	}
	if score := answer.Chunks[0].Scores.Rerank; score == nil || *score != 1 {
		t.Errorf("the first scores %v", score)
	}
	if asked := server.Asked(); len(asked) != 1 || len(asked[0]) != len(catalogue) {
		t.Errorf("the server was shown %v, want all candidates", asked)
	}
	passages, trace := f.retrieve(agent, "harbour boats and the boat cellar", knowledge.RetrieveParams{TopK: 2, Rerank: true})
	if trace.Reranked != knowledge.RerankDone || len(passages) != 2 || trace.Considered[0].Scores.Rerank == nil {
		t.Errorf("in a conversation: %d passages, %+v", len(passages), trace)
	}
	question.Rerank = false
	if answer := query(); answer.Reranked != knowledge.RerankNone || len(server.Asked()) != 2 {
		t.Errorf("not asked for: got %q after %d calls", answer.Reranked, len(server.Asked()))
	}
	question.Rerank = true
	for name, damage := range map[string]func(){
		"refusing": func() { server.Fail(http.StatusBadRequest) },
		"too slow": func() { askFor(300 * time.Millisecond); server.Hang() },
	} {
		damage()
		if answer := query(); answer.Reranked != knowledge.RerankFailed || !slices.Equal(sourcesOf(answer.Chunks),
			sourcesOf(plain.Chunks)) {
			t.Errorf("%s: got %q and %v, want the order from before: %v", name, answer.Reranked,
				sourcesOf(answer.Chunks), sourcesOf(plain.Chunks))
		}
	}
}
