package knowledge_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

func sourcesOf(found []knowledge.Found) []knowledge.SourceID {
	ids := []knowledge.SourceID{}
	for _, one := range found {
		ids = append(ids, one.SourceID)
	}
	return ids
}

func (f *fixture) ask(agent agents.ID, p knowledge.QueryParams) []knowledge.Found {
	f.t.Helper()
	p.AgentID = agent
	answer, err := f.Query(f.t.Context(), f.ref, p)
	if err != nil {
		f.t.Fatalf("query: %v", err)
	}
	return answer.Chunks
}

// TestIsolation has the same question answered in the same words by sources that the agent may
// not see: another agent's, another workspace's, another tenant's.
func TestIsolation(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	neighbour, err := f.workspaces.CreateWorkspace(t.Context(), principal(f.ref), "neighbour")
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := f.workspaces.CreateTenant(t.Context(), "stranger", "large")
	if err != nil {
		t.Fatal(err)
	}
	refs := []workspaces.Ref{
		f.ref, f.ref, {TenantID: f.ref.TenantID, ID: neighbour.ID}, {TenantID: stranger.Tenant.ID, ID: stranger.Workspace.ID},
	}
	var ids []knowledge.SourceID
	var guides []agents.ID
	for i, ref := range refs {
		ids = append(ids, f.ready(ref, fmt.Sprint("source ", i), hours))
		guides = append(guides, f.agent(ref))
		f.attach(ref, guides[i], knowledge.UsageAuto, ids[i])
	}
	for _, ranking := range []knowledge.Ranking{knowledge.RankSimilarity, knowledge.RankHybrid} {
		for i, ref := range refs {
			answer, err := f.Query(t.Context(), ref, knowledge.QueryParams{
				AgentID:  guides[i],
				Question: "When does the museum open?", TopK: 50, Ranking: ranking,
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sourcesOf(answer.Chunks), ids[i:i+1]); diff != "" {
				t.Errorf("agent %d, %s: %s", i, ranking, diff)
			}
			passages, _, err := f.Search(ref, guides[i], nil).Retrieve(t.Context(), "When does the museum open?",
				knowledge.RetrieveParams{Ranking: ranking})
			if err != nil || len(passages) != 1 || passages[0].SourceID != ids[i] {
				t.Errorf("agent %d retrieves %+v, %v", i, passages, err)
			}
		}
	}
	for _, foreign := range []int{2, 3} {
		if _, err := f.Query(t.Context(), f.ref, knowledge.QueryParams{
			AgentID:  guides[foreign],
			Question: "museum",
		}); !fault.IsReason(err, fault.ResourceNotFound) {
			t.Errorf("foreign agent %d: got %v, want not-found", foreign, err)
		}
		if _, err := f.Get(t.Context(), f.ref, ids[foreign]); !fault.IsReason(err, fault.ResourceNotFound) {
			t.Errorf("foreign source %d: got %v, want not-found", foreign, err)
		}
		_, err := f.Attach(t.Context(), f.ref, knowledge.AttachParams{
			AgentID:   guides[0],
			SourceIDs: []knowledge.SourceID{ids[1], ids[foreign]},
		})
		if !fault.IsReason(err, fault.ResourceNotFound) {
			t.Errorf("attach of foreign source %d: got %v, want not-found", foreign, err)
		}
		if err := f.Delete(t.Context(), f.ref, ids[foreign]); !fault.IsReason(err, fault.ResourceNotFound) {
			t.Errorf("delete of foreign source %d: got %v, want not-found", foreign, err)
		}
	}
	if list, _, err := f.ListAttachments(t.Context(), f.ref, guides[0], postgres.PageParams{}); err != nil || len(list) != 1 {
		t.Errorf("attachments: got %v, %v; nothing was to be attached", list, err)
	}
}

func TestRanking(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	if found := f.ask(agent, knowledge.QueryParams{Question: "anything"}); len(found) != 0 {
		t.Fatalf("nothing attached: got %v", found)
	}
	museum := f.ready(f.ref, "museum", hours)
	twin := f.ready(f.ref, "twin", hours)
	boats := f.ready(f.ref, "boats", "Boats leave the harbour every hour in summer.\n")
	wine := f.ready(f.ref, "wine", "The cellar sells red and white wine by the bottle.\n")
	f.attach(f.ref, agent, knowledge.UsageAuto, wine, boats, twin, museum)

	found := f.ask(agent, knowledge.QueryParams{Question: "When do boats leave the harbour?"})
	if len(found) != 4 || found[0].SourceID != boats {
		t.Fatalf("got %v, want boats first", sourcesOf(found))
	}
	if !slices.IsSortedFunc(found, func(a, b knowledge.Found) int { return -int((a.Similarity - b.Similarity) * 1e9) }) {
		t.Errorf("not sorted: %+v", found)
	}
	if got := f.ask(agent, knowledge.QueryParams{Question: found[0].Content})[0].Similarity; got < 0.999 || got > 1 {
		t.Errorf("a chunk's own text: similarity %v, want 1", got)
	}
	top := f.ask(agent, knowledge.QueryParams{Question: "museum opens", TopK: 2})
	if diff := cmp.Diff(sourcesOf(top), []knowledge.SourceID{museum, twin}); diff != "" {
		t.Errorf("equal chunks are not in the order of their sources: %s", diff)
	}
	floor := top[1].Similarity
	for _, ranking := range []knowledge.Ranking{knowledge.RankSimilarity, knowledge.RankHybrid} {
		above := f.ask(agent, knowledge.QueryParams{Question: "museum opens", MinSimilarity: &floor, Ranking: ranking})
		if diff := cmp.Diff(sourcesOf(above), []knowledge.SourceID{museum, twin}); diff != "" {
			t.Errorf("%s above the floor: %s", ranking, diff)
		}
	}
	hybrid := f.ask(agent, knowledge.QueryParams{Question: "which wines, red? 'white' & | ! \x00", Ranking: knowledge.RankHybrid, TopK: 1})
	if diff := cmp.Diff(sourcesOf(hybrid), []knowledge.SourceID{wine}); diff != "" {
		t.Errorf("hybrid: %s", diff)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	museum := f.ready(f.ref, "museum", hours)
	boats := f.ready(f.ref, "boats", "Boats leave the harbour every hour in summer.\n")
	loose := f.ready(f.ref, "loose", hours)
	f.attach(f.ref, agent, knowledge.UsageAuto, museum, boats)
	high := 0.99
	rows := []struct {
		params knowledge.QueryParams
		want   knowledge.Outcome
	}{
		{knowledge.QueryParams{ExplainSourceID: museum}, knowledge.OutcomeFound},
		{knowledge.QueryParams{ExplainSourceID: loose}, knowledge.OutcomeNotAttached},
		{knowledge.QueryParams{ExplainSourceID: museum, MinSimilarity: &high}, knowledge.OutcomeBelowFloor},
		{knowledge.QueryParams{ExplainSourceID: boats, TopK: 1}, knowledge.OutcomeCrowdedOut},
	}
	for _, row := range rows {
		row.params.AgentID, row.params.Question = agent, "When does the museum open?"
		answer, err := f.Query(t.Context(), f.ref, row.params)
		if err != nil || answer.Explanation == nil || answer.Explanation.Outcome != row.want || answer.Explanation.Message == "" {
			t.Errorf("%s: got %+v, %v", row.want, answer.Explanation, err)
		}
	}
	_, err := f.Query(t.Context(), f.ref, knowledge.QueryParams{AgentID: agent, Question: "a", ExplainSourceID: "src_nothing"})
	if !fault.IsReason(err, fault.ResourceNotFound) {
		t.Errorf("unknown source: got %v, want not-found", err)
	}
}

func TestQueryRefused(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	over := 1.5
	for name, params := range map[string]knowledge.QueryParams{
		"top_k":          {AgentID: agent, TopK: 51},
		"min_similarity": {AgentID: agent, MinSimilarity: &over},
		"ranking":        {AgentID: agent, Ranking: "random"},
	} {
		if _, err := f.Query(t.Context(), f.ref, params); !fault.IsReason(err, fault.InvalidRequest) {
			t.Errorf("%s: got %v, want invalid-request", name, err)
		}
	}
	for _, id := range []agents.ID{"", "agt_\x00", agents.ID(idgen.New(idgen.Agent))} {
		if _, err := f.Query(t.Context(), f.ref, knowledge.QueryParams{AgentID: id}); !fault.IsReason(err, fault.ResourceNotFound) {
			t.Errorf("agent %q: got %v, want not-found", id, err)
		}
	}
}

// TestRetrieve puts the sources of every prompt first, and nothing that is no answer after them.
func TestRetrieve(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	museum := f.ready(f.ref, "museum", hours)
	manners := f.ready(f.ref, "manners", "Always greet the guest by name.\n")
	f.attach(f.ref, agent, knowledge.UsageAuto, museum)
	f.attach(f.ref, agent, knowledge.UsagePrompt, manners)
	passages, _, err := f.Search(f.ref, agent, nil).Retrieve(t.Context(), "When does the museum open?", knowledge.RetrieveParams{TopK: 5})
	if err != nil || len(passages) != 2 || passages[0].SourceID != manners || !passages[0].Always ||
		passages[1].SourceID != museum || passages[1].SourceName != "museum" {
		t.Fatalf("got %+v, %v", passages, err)
	}
	passages, _, err = f.Search(f.ref, agent, nil).Retrieve(t.Context(), "zzz qqq xxx", knowledge.RetrieveParams{})
	if err != nil || len(passages) != 1 || passages[0].SourceID != manners {
		t.Errorf("below the model's floor: got %+v, %v", passages, err)
	}
}

func TestAttach(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	first := f.ready(f.ref, "first", hours)
	second := f.ready(f.ref, "second", hours)
	waiting := f.inline(f.ref, "waiting", hours)
	attach := func(mode knowledge.UsageMode, ids ...knowledge.SourceID) ([]knowledge.Attachment, error) {
		return f.Attach(t.Context(), f.ref, knowledge.AttachParams{AgentID: agent, SourceIDs: ids, UsageMode: mode})
	}
	list := func() []knowledge.Attachment {
		attachments, _, err := f.ListAttachments(t.Context(), f.ref, agent, postgres.PageParams{})
		if err != nil {
			t.Fatal(err)
		}
		return attachments
	}
	for name, row := range map[string]struct {
		ids    []knowledge.SourceID
		reason fault.Reason
	}{
		"not ready": {[]knowledge.SourceID{first, waiting}, fault.KBSourceNotReady},
		"unknown":   {[]knowledge.SourceID{first, knowledge.SourceID(idgen.New(idgen.Source))}, fault.ResourceNotFound},
		"no id":     {[]knowledge.SourceID{first, "\x00"}, fault.ResourceNotFound},
		"none":      {nil, fault.InvalidRequest},
		"too many":  {make([]knowledge.SourceID, 101), fault.InvalidRequest},
	} {
		if _, err := attach("", row.ids...); fault.ReasonOf(err) != row.reason {
			t.Errorf("%s: got %v, want %s", name, err, row.reason)
		}
	}
	if got := list(); len(got) != 0 {
		t.Fatalf("something was attached: %v", got)
	}
	made, err := attach("", second, first, second)
	if err != nil || len(made) != 2 || made[0].SourceID != second || made[0].UsageMode != knowledge.UsageAuto ||
		made[0].Status != knowledge.StatusReady {
		t.Fatalf("attach: %+v, %v", made, err)
	}
	again, err := attach(knowledge.UsagePrompt, first)
	if err != nil || again[0].UsageMode != knowledge.UsagePrompt || !again[0].CreatedAt.Equal(made[1].CreatedAt) {
		t.Fatalf("second attach: %+v, %v", again, err)
	}
	if got := list(); len(got) != 2 || got[0].SourceName == "" || got[0].Status != knowledge.StatusReady {
		t.Fatalf("list: %+v", got)
	}
	for range 2 {
		if err := f.Detach(t.Context(), f.ref, agent, first); err != nil {
			t.Fatalf("detach: %v", err)
		}
	}
	if got := list(); len(got) != 1 || got[0].SourceID != second {
		t.Errorf("after detach: %+v", got)
	}
	if err := f.Delete(t.Context(), f.ref, second); err != nil {
		t.Fatal(err)
	}
	if err := f.Detach(t.Context(), f.ref, agent, second); err != nil {
		t.Errorf("detach of a deleted source: %v", err)
	}
	if err := f.Detach(t.Context(), f.ref, agent, knowledge.SourceID(idgen.New(idgen.Source))); !fault.IsReason(err,
		fault.ResourceNotFound) {
		t.Errorf("detach of what never was: got %v, want not-found", err)
	}
}
