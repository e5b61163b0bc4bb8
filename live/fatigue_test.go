package live_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
)

// alerts are the windows and measures of fatigue.alert, in the order in which they were announced.
func (f *fixture) alerts(t *testing.T) string {
	t.Helper()
	var all []string
	err := f.db.NewRaw(`SELECT concat_ws(' ', data ->> 'user_id', data ->> 'window', data ->> 'measure', data ->> 'value', data ->> 'limit')
		FROM events, LATERAL (SELECT convert_from(body, 'UTF8')::jsonb -> 'data' AS data) AS d
		WHERE type = 'fatigue.alert' ORDER BY seq`).Scan(t.Context(), &all)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, ", ")
}

// of makes sessions of a user.
func of(user string) func(*sessions.CreateParams) {
	return func(p *sessions.CreateParams) { p.UserID = user }
}

func (f *fixture) tiring(t *testing.T, windows ...agents.FatigueWindow) {
	t.Helper()
	f.agent = f.newAgent(t, f.ref, agents.Config{Fatigue: windows})
}

// TestFatigueTurns: a window that slides fires when it is used up, once until it has cooled down,
// for each user by themselves, and over all their sessions.
func TestFatigueTurns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tiring(t, agents.FatigueWindow{Window: "30m", MaxTurns: 5})
	first, second, other := f.create(t, of("ada")).Session.ID, f.create(t, of("ada")).Session.ID, f.create(t, of("bob")).Session.ID
	for i := range 4 {
		f.turn(t, []sessions.ID{first, second}[i%2], "Hello?")
		f.turn(t, other, "Hello?")
		f.clock.advance(time.Minute)
	}
	if got := f.alerts(t); got != "" {
		t.Fatalf("announced too early: %s", got)
	}
	f.turn(t, first, "Hello?")
	f.turn(t, second, "Hello?")
	if got, want := f.alerts(t), "ada 30m turns 5 5"; got != want {
		t.Fatalf("announced %q, want %q", got, want)
	}
	f.clock.advance(29 * time.Minute) // the first four are out of the window: two are left, and this is the third
	f.turn(t, first, "Hello?")
	for range 2 {
		f.turn(t, first, "Hello?")
	}
	if got, want := f.alerts(t), "ada 30m turns 5 5, ada 30m turns 5 5"; got != want {
		t.Errorf("announced %q, want %q", got, want)
	}
}

// TestFatigueWithoutCooling: a user who goes on at the limit is announced once.
func TestFatigueWithoutCooling(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tiring(t, agents.FatigueWindow{Window: "10m", MaxTurns: 10})
	id := f.create(t).Session.ID
	for i := range 36 { // nine or ten are in the window, all the time
		f.turn(t, id, "Hello?")
		f.clock.advance(time.Minute + time.Second)
		if i%12 == 11 {
			f.clock.advance(time.Minute)
		}
	}
	if got := strings.Count(f.alerts(t), "turns"); got != 1 {
		t.Errorf("announced %d times: %s", got, f.alerts(t))
	}
}

// TestFatigueSessionsAndMinutes: sessions count when the user says something in them, minutes from
// their beginning to the last thing that happened.
func TestFatigueSessionsAndMinutes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tiring(t, agents.FatigueWindow{Window: "24h", MaxSessions: 2, MaxMinutes: 12})
	f.create(t, of("ada")) // nothing is said in it
	first, second := f.create(t, of("ada")).Session.ID, f.create(t, of("ada")).Session.ID
	f.turn(t, first, "Hello?")
	f.clock.advance(5 * time.Minute)
	f.turn(t, first, "Hello?")
	if got := f.alerts(t); got != "" {
		t.Fatalf("announced too early: %s", got)
	}
	f.turn(t, second, "Hello?")
	if got, want := f.alerts(t), "ada 24h sessions 2 2"; got != want {
		t.Fatalf("announced %q, want %q", got, want)
	}
	f.clock.advance(7*time.Minute + 6*time.Second)
	f.turn(t, second, "Hello?")
	if got, want := f.alerts(t), "ada 24h sessions 2 2, ada 24h minutes 12.1 12"; got != want {
		t.Errorf("announced %q, want %q", got, want)
	}
}

// TestFatigueSuggests says the message at the end of the turn that used the window up, and no
// other.
func TestFatigueSuggests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tiring(t, agents.FatigueWindow{Window: "1h", MaxTurns: 2, Action: agents.FatigueSuggest, Message: "How about a walk?"})
	id := f.create(t).Session.ID
	for i, suggests := range []bool{false, true, false} {
		turn := f.turn(t, id, "Hello?")
		if got := strings.HasSuffix(turn.AgentText, "\n\nHow about a walk?"); got != suggests || len(turn.AgentText) < 20 {
			t.Errorf("turn %d says %q", i, turn.AgentText)
		}
	}
}

// TestFatigueRefuses: who has used a window up gets no new session until it has room; others do,
// and the sessions that they have go on.
func TestFatigueRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tiring(t, agents.FatigueWindow{Window: "1h", MaxTurns: 2, Action: agents.FatigueRefuse})
	id := f.create(t, of("ada")).Session.ID
	f.turn(t, id, "Hello?")
	f.create(t, of("ada"))
	f.turn(t, id, "Hello?")
	begin := func(user string) error {
		params := sessions.CreateParams{AgentID: f.agent.ID, UserID: user, Modality: sessions.Text}
		_, err := f.Create(t.Context(), f.principal, params)
		return err
	}
	refused := fault.From(begin("ada"))
	if refused.Reason != fault.FatigueWindowUsedUp || refused.RetryAfter < 59*time.Minute || refused.RetryAfter > time.Hour+time.Second {
		t.Errorf("refused: %v after %s", refused, refused.RetryAfter)
	}
	if err := begin("bob"); err != nil {
		t.Errorf("another user: %v", err)
	}
	f.clock.advance(refused.RetryAfter + time.Second)
	if err := begin("ada"); err != nil {
		t.Errorf("after Retry-After: %v", err)
	}
	f.turn(t, id, "Hello?")
}

// TestFatigueOfRepeatedRequest: a request that is repeated is no further session, so it is not
// refused for the session that it has made.
func TestFatigueOfRepeatedRequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tiring(t, agents.FatigueWindow{Window: "1h", MaxSessions: 1, Action: agents.FatigueRefuse})
	begin := func(ctx context.Context) (sessions.Created, error) {
		return f.Create(ctx, f.principal, sessions.CreateParams{AgentID: f.agent.ID, UserID: "ada", Modality: sessions.Text})
	}
	request := idgen.WithSeed(t.Context(), idgen.Seed{At: f.clock.now(), Secret: []byte("of the caller's key")})
	made, err := begin(request)
	if err != nil {
		t.Fatal(err)
	}
	f.turn(t, made.Session.ID, "Hello?")
	if again, err := begin(request); err != nil || again.Session.ID != made.Session.ID || again.Token == "" {
		t.Errorf("repeated: %s, want %s (%v)", again.Session.ID, made.Session.ID, err)
	}
	if _, err := begin(t.Context()); !fault.IsReason(err, fault.FatigueWindowUsedUp) {
		t.Errorf("another request: %v", err)
	}
}

// TestFatigueOfOne: a maximum of one is used up by each turn, and fires again when the window was
// empty in between; so do others whose window had room before the turn.
func TestFatigueOfOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tiring(t, agents.FatigueWindow{Window: "1m", MaxTurns: 1}, agents.FatigueWindow{Window: "10m", MaxSessions: 1})
	id := f.create(t).Session.ID
	f.turn(t, id, "Hello?")
	f.turn(t, id, "Hello?")
	if got := f.alerts(t); got != "user-1 1m turns 1 1, user-1 10m sessions 1 1" {
		t.Fatalf("announced %q", got)
	}
	f.clock.advance(2 * time.Minute)
	f.turn(t, id, "Hello?")
	if got := strings.Count(f.alerts(t), "turns"); got != 2 {
		t.Errorf("announced %d times: %s", got, f.alerts(t))
	}
	f.clock.advance(11 * time.Minute)
	f.turn(t, f.create(t).Session.ID, "Hello?")
	if got := strings.Count(f.alerts(t), "sessions"); got != 2 {
		t.Errorf("announced %d times: %s", got, f.alerts(t))
	}
}

// TestFatigueOnSeveralNodes: turns that end side by side on nodes announce a window once.
func TestFatigueOnSeveralNodes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tiring(t, agents.FatigueWindow{Window: "1h", MaxTurns: 4})
	var ids []sessions.ID
	for range 8 {
		ids = append(ids, f.create(t, of("ada")).Session.ID)
	}
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() {
			if turn := f.turn(t, id, fmt.Sprint("Hello ", i)); turn.Status != sessions.TurnCompleted {
				t.Errorf("turn %d: %s", i, turn.Status)
			}
		})
	}
	all.Wait()
	if got := strings.Count(f.alerts(t), "turns"); got != 1 {
		t.Errorf("announced %d times: %s", got, f.alerts(t))
	}
}
