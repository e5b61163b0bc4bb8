package knowledge_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/evaluation"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// kbFixture is an agent with three sources attached and a fourth that is not.
type kbFixture struct {
	*fixture
	evaluations                       *evaluation.Service
	agent                             agents.ID
	refunds, parcels, coffee, archive knowledge.SourceID
}

func newKBFixture(t *testing.T) *kbFixture {
	t.Helper()
	f := setUp(t, "large", nil)
	s := &kbFixture{
		fixture: f, agent: f.agent(f.ref),
		refunds: f.ready(f.ref, "refunds", "Refunds are paid within thirty days of purchase to the card that was charged."),
		parcels: f.ready(f.ref, "parcels", "Parcels ship from the Rotterdam warehouse. Express shipping arrives the next day."),
		coffee:  f.ready(f.ref, "coffee", "The espresso machine needs descaling every two months."),
		archive: f.ready(f.ref, "archive", "The archive keeps contracts for seven years."),
	}
	s.evaluations = evaluation.New(evaluation.Deps{
		DB: f.db, Workspaces: f.workspaces, Agents: f.agents,
		Knowledge: f.Service, Now: f.clock.now,
	})
	f.attach(f.ref, s.agent, knowledge.UsageAuto, s.refunds, s.parcels, s.coffee)
	return s
}

func (s *kbFixture) evaluate(p evaluation.Params) evaluation.Evaluation {
	s.t.Helper()
	p.AgentID = s.agent
	made, err := s.evaluations.Evaluate(s.t.Context(), s.ref, p)
	if err != nil {
		s.t.Fatalf("evaluate: %v", err)
	}
	return made
}

// questions are answered at place 1, at place 1, further down, and not at all.
func (s *kbFixture) questions() []evaluation.Question {
	return []evaluation.Question{
		{Question: "When are refunds paid?", SourceIDs: []knowledge.SourceID{s.refunds}},
		{Question: "How long does express shipping take?", SourceNames: []string{"parcels"}},
		{Question: "Does the espresso machine need descaling?", SourceIDs: []knowledge.SourceID{s.refunds, s.parcels}},
		{Question: "How long does the archive keep contracts?", SourceIDs: []knowledge.SourceID{s.archive}},
	}
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	made := s.evaluate(evaluation.Params{Name: "first", TopK: 3, Questions: s.questions()})
	want := []knowledge.SourceID{s.refunds, s.parcels, s.refunds, s.archive}
	for i, result := range made.Results {
		if result.SourceIDs[0] != want[i] || len(result.Places) != 2 {
			t.Fatalf("question %d expects %v at %v", i, result.SourceIDs, result.Places)
		}
		for j, ranking := range []knowledge.Ranking{knowledge.RankSimilarity, knowledge.RankHybrid} {
			place := result.Places[j]
			if place.Ranking != ranking {
				t.Errorf("question %d: place %d is of %s", i, j, place.Ranking)
			}
			switch i {
			case 0, 1:
				if place.Rank != 1 || place.SourceID != want[i] || place.Outcome != knowledge.OutcomeFound || place.Similarity <= 0 {
					t.Errorf("question %d by %s: %+v", i, ranking, place)
				}
			case 2:
				if place.Rank != 2 || place.Outcome != knowledge.OutcomeFound {
					t.Errorf("question %d by %s: %+v, want place 2, behind the coffee", i, ranking, place)
				}
			case 3:
				if place.Rank != 0 || place.SourceID != "" || place.Outcome != knowledge.OutcomeNotAttached {
					t.Errorf("question %d by %s: %+v, want a miss: not attached", i, ranking, place)
				}
			}
		}
	}
	for _, m := range made.Metrics { // places 1, 1, 2 and a miss
		if m.Hits != 3 || m.HitRate != 0.75 || math.Abs(m.MRR-2.5/4) > 1e-9 {
			t.Errorf("%+v, want 3 hits, 0.75 and 0.625", m)
		}
	}
	stored, _, err := s.evaluations.Get(t.Context(), s.ref, made.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored, made); diff != "" {
		t.Errorf("stored otherwise than answered: %s", diff)
	}
}

// TestEvaluateExplainsMisses holds the outcomes of misses that a floor and too few places cause.
func TestEvaluateExplainsMisses(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	floor := 0.9
	one := []evaluation.Question{{Question: "When are refunds paid?", SourceIDs: []knowledge.SourceID{s.refunds}}}
	made := s.evaluate(evaluation.Params{MinSimilarity: &floor, Rankings: []knowledge.Ranking{knowledge.RankSimilarity}, Questions: one})
	if place := made.Results[0].Places[0]; place.Outcome != knowledge.OutcomeBelowFloor || place.Similarity <= 0 ||
		place.Similarity >= floor {
		t.Errorf("under the floor: %+v", place)
	}
	one[0].SourceIDs[0] = s.coffee
	made = s.evaluate(evaluation.Params{TopK: 1, Rankings: []knowledge.Ranking{knowledge.RankSimilarity}, Questions: one})
	if place := made.Results[0].Places[0]; place.Outcome != knowledge.OutcomeCrowdedOut || place.Rank != 0 {
		t.Errorf("behind others: %+v", place)
	}
}

func TestEvaluateCompare(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	questions := s.questions()
	before := s.evaluate(evaluation.Params{TopK: 3, Questions: questions})
	s.attach(s.ref, s.agent, knowledge.UsageAuto, s.archive)
	if err := s.Detach(t.Context(), s.ref, s.agent, s.refunds); err != nil {
		t.Fatal(err)
	}
	now := s.evaluate(evaluation.Params{TopK: 3, Rankings: []knowledge.Ranking{knowledge.RankHybrid}, Questions: append(questions[1:4:4],
		evaluation.Question{Question: "When are refunds paid?", SourceIDs: []knowledge.SourceID{s.refunds}},
		evaluation.Question{Question: "Something new?", SourceNames: []string{"coffee"}})})
	_, comparison, err := s.evaluations.Get(t.Context(), s.ref, now.ID, before.ID)
	if err != nil {
		t.Fatal(err)
	}
	if comparison.ComparedTo != before.ID || comparison.OnlyHere != 1 || comparison.OnlyThere != 0 || len(comparison.Changes) != 1 {
		t.Fatalf("%+v", comparison)
	}
	change := comparison.Changes[0]
	wantBetter := []evaluation.Move{{Question: questions[3].Question, RankBefore: 0, Rank: 1}}
	wantWorse := []evaluation.Move{{Question: questions[0].Question, RankBefore: 1, Rank: 0}}
	if diff := cmp.Diff(change.Better, wantBetter); diff != "" {
		t.Errorf("better: %s", diff)
	}
	if diff := cmp.Diff(change.Worse, wantWorse); diff != "" {
		t.Errorf("worse: %s", diff)
	}
	if change.Ranking != knowledge.RankHybrid || change.RankingBefore != knowledge.RankHybrid || change.Same != 2 ||
		change.HitRate != 0 || math.Abs(change.MRR) > 1e-9 {
		t.Errorf("%+v, want two at their place, and one hit for another", change)
	}
	// One ranking here and one there are compared although they differ.
	other := s.evaluate(evaluation.Params{Rankings: []knowledge.Ranking{knowledge.RankSimilarity}, Questions: questions[:1]})
	if _, comparison, err = s.evaluations.Get(t.Context(), s.ref, other.ID, now.ID); err != nil || len(comparison.Changes) != 1 ||
		comparison.Changes[0].RankingBefore != knowledge.RankHybrid || comparison.OnlyThere != 4 {
		t.Errorf("%+v, %v", comparison, err)
	}
}

func TestEvaluateRefuses(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	stranger, err := s.workspaces.CreateTenant(t.Context(), "stranger", "large")
	if err != nil {
		t.Fatal(err)
	}
	away := workspaces.Ref{TenantID: stranger.Tenant.ID, ID: stranger.Workspace.ID}
	foreign := s.inline(away, "theirs", "Something else.")
	good := evaluation.Question{Question: "q", SourceIDs: []knowledge.SourceID{s.refunds}}
	many := func(n int) []evaluation.Question {
		questions := make([]evaluation.Question, n)
		for i := range questions {
			questions[i] = good
		}
		return questions
	}
	for name, row := range map[string]struct {
		change func(p *evaluation.Params)
		want   fault.Reason
		says   string
	}{
		"NoQuestion": {func(p *evaluation.Params) { p.Questions = nil }, fault.InvalidRequest, "1 to 200"},
		"TooMany":    {func(p *evaluation.Params) { p.Questions = many(201) }, fault.InvalidRequest, "1 to 200"},
		"Empty":      {func(p *evaluation.Params) { p.Questions[0].Question = "" }, fault.InvalidRequest, "q must be 1 to 8000"},
		"Long": {
			func(p *evaluation.Params) { p.Questions[0].Question = strings.Repeat("x", 8001) },
			fault.InvalidRequest, "8000",
		},
		"NUL": {func(p *evaluation.Params) { p.Questions[0].Question = "a\x00b" }, fault.InvalidRequest, "U+0000"},
		"NothingExpected": {
			func(p *evaluation.Params) { p.Questions[0].SourceIDs = nil }, fault.InvalidRequest,
			"source_ids or source_names",
		},
		"UnknownName": {
			func(p *evaluation.Params) { p.Questions[0].SourceNames = []string{"Refunds"} },
			fault.InvalidRequest, "questions[0].source_names[0]",
		},
		"ForeignName": {
			func(p *evaluation.Params) { p.Questions[0].SourceNames = []string{"theirs"} },
			fault.InvalidRequest, "no source named",
		},
		"ForeignID": {
			func(p *evaluation.Params) { p.Questions[0].SourceIDs = []knowledge.SourceID{foreign} },
			fault.ResourceNotFound, string(foreign),
		},
		"MalformedID": {
			func(p *evaluation.Params) { p.Questions[0].SourceIDs = []knowledge.SourceID{"src_x"} },
			fault.ResourceNotFound, "src_x",
		},
		"UnknownAgent": {func(p *evaluation.Params) { p.AgentID = agents.ID(idgen.New(idgen.Agent)) }, fault.ResourceNotFound, "agent"},
		"TopK":         {func(p *evaluation.Params) { p.TopK = 51 }, fault.InvalidRequest, "top_k"},
		"Ranking":      {func(p *evaluation.Params) { p.Rankings = []knowledge.Ranking{"best"} }, fault.InvalidRequest, "ranking"},
		"RankingTwice": {
			func(p *evaluation.Params) { p.Rankings = []knowledge.Ranking{"hybrid", "hybrid"} },
			fault.InvalidRequest, "once",
		},
		"TooManyExpected": {
			func(p *evaluation.Params) { p.Questions[0].SourceIDs = make([]knowledge.SourceID, 21) },
			fault.InvalidRequest, "20 source_ids",
		},
		"TooManyByName": {
			func(p *evaluation.Params) { p.Questions[0].SourceNames = make([]string, 21) },
			fault.InvalidRequest, "20 source_names",
		},
		"MinSimilarityTwo": {func(p *evaluation.Params) { two := 2.0; p.MinSimilarity = &two }, fault.InvalidRequest, "min_similarity"},
	} {
		p := evaluation.Params{AgentID: s.agent, Questions: []evaluation.Question{good}}
		row.change(&p)
		if _, err := s.evaluations.Evaluate(t.Context(), s.ref, p); !fault.IsReason(err, row.want) ||
			!strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: got %v, want %s that says %q", name, err, row.want, row.says)
		}
	}
	if n := s.count("SELECT count(*) FROM knowledge_evaluations"); n != 0 {
		t.Errorf("%d were stored, want none", n)
	}
}

// TestEvaluationsOfOthers holds the walls of get, list, compare and delete.
func TestEvaluationsOfOthers(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	stranger, err := s.workspaces.CreateTenant(t.Context(), "stranger", "large")
	if err != nil {
		t.Fatal(err)
	}
	away := workspaces.Ref{TenantID: stranger.Tenant.ID, ID: stranger.Workspace.ID}
	mine := s.evaluate(evaluation.Params{Questions: s.questions()})
	second := s.evaluate(evaluation.Params{Questions: s.questions()[:1]})
	if _, _, err := s.evaluations.Get(t.Context(), away, mine.ID, ""); !fault.IsReason(err, fault.ResourceNotFound) {
		t.Errorf("another tenant's get: %v", err)
	}
	if _, _, err := s.evaluations.Get(t.Context(), s.ref, mine.ID,
		evaluation.ID(idgen.New(idgen.Evaluation))); !fault.IsReason(err, fault.ResourceNotFound) {
		t.Errorf("compared to nothing: %v", err)
	}
	if err := s.evaluations.Delete(t.Context(), away, mine.ID); !fault.IsReason(err, fault.ResourceNotFound) {
		t.Errorf("another tenant's delete: %v", err)
	}
	list, next, err := s.evaluations.List(t.Context(), s.ref, evaluation.ListParams{PageParams: postgres.PageParams{Size: 1}})
	if err != nil || len(list) != 1 || list[0].ID != second.ID || list[0].Results != nil || next == "" {
		t.Errorf("the first page: %+v, %q, %v", list, next, err)
	}
	if list, _, err = s.evaluations.List(t.Context(), away, evaluation.ListParams{}); err != nil || len(list) != 0 {
		t.Errorf("another tenant's list: %+v, %v", list, err)
	}
	if list, _, err = s.evaluations.List(t.Context(), s.ref, evaluation.ListParams{AgentID: s.agent}); err != nil || len(list) != 2 {
		t.Errorf("the agent's list: %+v, %v", list, err)
	}
	idle := evaluation.ListParams{AgentID: s.fixture.agent(s.ref)}
	if list, _, err = s.evaluations.List(t.Context(), s.ref, idle); err != nil || len(list) != 0 {
		t.Errorf("another agent's list: %+v, %v", list, err)
	}
	nobody := evaluation.ListParams{AgentID: agents.ID(idgen.New(idgen.Agent))}
	if _, _, err = s.evaluations.List(t.Context(), s.ref, nobody); !fault.IsReason(err, fault.ResourceNotFound) {
		t.Errorf("nobody's list: %v", err)
	}
	for range 2 { // deleting can be repeated
		if err := s.evaluations.Delete(t.Context(), s.ref, mine.ID); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	if err := s.evaluations.Delete(t.Context(), s.ref, evaluation.ID(idgen.New(idgen.Evaluation))); !fault.IsReason(err,
		fault.ResourceNotFound) {
		t.Errorf("delete of what never was: %v", err)
	}
}

// TestEvaluationsAreBounded holds that the oldest make room.
func TestEvaluationsAreBounded(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	first := s.evaluate(evaluation.Params{Questions: s.questions()[:1]})
	_, err := s.db.ExecContext(t.Context(), `
		INSERT INTO knowledge_evaluations
		SELECT 'evl_' || lpad(n::text, 26, '0'), tenant_id, workspace_id, agent_id, name, top_k, min_similarity, question_count,
		       embedding_model, metrics, results, created_at + n * interval '1 second', duration_ms
		FROM knowledge_evaluations, generate_series(1, 199) AS n
		WHERE tenant_id = ? AND workspace_id = ?`, s.ref.TenantID, s.ref.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.clock.advance(1e12)
	last := s.evaluate(evaluation.Params{Questions: s.questions()[:1]})
	if n := s.count("SELECT count(*) FROM knowledge_evaluations WHERE workspace_id = ?", s.ref.ID); n != 200 {
		t.Errorf("%d are kept, want 200", n)
	}
	if _, _, err := s.evaluations.Get(t.Context(), s.ref, first.ID, ""); !fault.IsReason(err, fault.ResourceNotFound) {
		t.Errorf("the oldest: %v, want not-found", err)
	}
	if _, _, err := s.evaluations.Get(t.Context(), s.ref, last.ID, ""); err != nil {
		t.Errorf("the newest: %v", err)
	}
}

// TestEvaluateMany asks as many questions as are allowed.
func TestEvaluateMany(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	questions := make([]evaluation.Question, 200)
	for i := range questions {
		questions[i] = evaluation.Question{Question: fmt.Sprintf("Refunds within %d days?", i), SourceNames: []string{"refunds"}}
	}
	made := s.evaluate(evaluation.Params{Questions: questions})
	for i, result := range made.Results {
		if result.Question != questions[i].Question || result.Places[0].Rank != 1 {
			t.Errorf("%d: %+v", i, result)
		}
	}
	if made.QuestionCount != 200 || made.Metrics[1].HitRate != 1 {
		t.Errorf("%+v", made.Metrics)
	}
}
