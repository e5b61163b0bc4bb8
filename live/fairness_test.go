package live_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/rooms"
	"parlance.dev/parlance/workspaces"
)

// slowModel answers one request for each token, and records the order in which requests began.
type slowModel struct {
	tokens chan struct{}

	mu    sync.Mutex
	begun []string // by system prompt
}

func (m *slowModel) Name() string { return "slow" }

func (m *slowModel) Stream(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	m.mu.Lock()
	m.begun = append(m.begun, req.System)
	m.mu.Unlock()
	select {
	case <-m.tokens:
	case <-ctx.Done():
		return model.Result{}, ctx.Err()
	}
	return model.Result{Text: "ok"}, emit(model.TextDelta{Text: "ok"})
}

func (m *slowModel) order() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.begun)
}

// TestGreedyTurns: a hundred turns of one tenant at a slow model do not keep another tenant's turn
// waiting.
func TestGreedyTurns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	slow := &slowModel{tokens: make(chan struct{})}
	gate := fair.New(fair.Config{Name: "model", Slots: 4, MaxWaiting: 98})
	node := rooms.New(rooms.Deps{
		DB: f.db, Agents: f.agents, Workspaces: f.workspaces, Seal: f.keys, Gate: gate, PublicURL: "https://talk.example", Now: f.clock.now,
		Models: func(context.Context, workspaces.Ref, agents.Model) (model.Provider, error) { return slow, nil },
	})
	greedy, greedyRef := f.tenant(t, "enterprise")
	small, smallRef := f.tenant(t, "enterprise")
	var taken sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	say := func(p workspaces.Principal, ref workspaces.Ref, who string, n int) {
		agent := f.newAgent(t, ref, agents.Config{Instructions: who})
		for range n {
			made, err := node.Create(t.Context(), p, sessions.CreateParams{AgentID: agent.ID, UserID: "u", Modality: sessions.Text})
			if err != nil {
				t.Fatal(err)
			}
			taken.Go(func() {
				if _, err := node.Turn(t.Context(), p, made.Session.ID, "hello", nil); err != nil {
					wantReason(t, err, fault.ServiceUnavailable)
					mu.Lock()
					refused++
					mu.Unlock()
				}
			})
		}
	}
	say(greedy, greedyRef, "greedy", 100)
	await(t, "the greedy tenant's turns", func() bool { running, waiting := gate.Count(); return running == 4 && waiting == 96 })
	say(small, smallRef, "small", 3) // one more than may wait: the tenant with the most turns loses one
	await(t, "the refusal of a turn", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return refused == 1
	})
	for range 4 {
		slow.tokens <- struct{}{}
	}
	await(t, "four more requests", func() bool { return len(slow.order()) == 8 })
	served := 0
	for _, system := range slow.order()[4:] {
		if system[:5] == "small" {
			served++
		}
	}
	if served < 2 {
		t.Errorf("small had %d of four turns that became free, want 2 at least", served)
	}
	close(slow.tokens)
	taken.Wait()
	if refused != 1 {
		t.Errorf("%d turns refused, want 1", refused)
	}
	if failed := f.count(t,
		"SELECT count(*) FROM turns WHERE status = 'failed' AND error_code = 'unavailable' AND tenant_id = ?",
		greedy.TenantID); failed != 1 {
		t.Errorf("%d turns failed, want the greedy tenant's one", failed)
	}
}

// count returns a number from the database.
func (f *fixture) count(t *testing.T, query string, args ...any) (n int) {
	t.Helper()
	if err := f.db.NewRaw(query, args...).Scan(t.Context(), &n); err != nil {
		t.Fatal(err)
	}
	return n
}
