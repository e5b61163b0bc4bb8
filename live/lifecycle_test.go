package live_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/rooms"
)

// TestLifecycle is the table of decisions, Sessions: how a session ends, and whether the end is
// announced.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	type act func(t *testing.T, f *fixture, made sessions.Created)
	after := func(d time.Duration) act {
		return func(t *testing.T, f *fixture, _ sessions.Created) { f.clock.advance(d); f.sweep(t) }
	}
	turn := func(t *testing.T, f *fixture, made sessions.Created) { f.turn(t, made.Session.ID, "Hello?") }
	leave := func(how live.Leaving) act {
		return func(t *testing.T, f *fixture, made sessions.Created) { f.join(t, f.Node, made).Leave(how) }
	}
	join := func(t *testing.T, f *fixture, made sessions.Created) { f.join(t, f.Node, made) }
	end := func(status sessions.Status, reason string) act {
		return func(t *testing.T, f *fixture, made sessions.Created) {
			if _, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: status, Reason: reason}); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows := []struct {
		name   string
		acts   []act
		status sessions.Status
		reason string
		events int
	}{
		{"pending just before its time", []act{after(sessions.DefaultTTL - time.Second)}, sessions.Pending, "", 0},
		{"pending runs out", []act{after(sessions.DefaultTTL)}, sessions.Failed, "expired", 0},
		{"pending is ended", []act{end(sessions.Completed, "")}, sessions.Completed, "ended_by_api", 0},
		{"pending is ended as failed", []act{end(sessions.Failed, "spam")}, sessions.Failed, "spam", 0},
		{
			"ended after a turn",
			[]act{turn, end(sessions.Completed, "all done"), end(sessions.Failed, "too late")},
			sessions.Completed, "all done", 1,
		},
		{"failed after a turn", []act{turn, end(sessions.Failed, "")}, sessions.Failed, "ended_by_api", 1},
		{"ended before a word, as a hang-up", []act{join, end(sessions.Failed, "hang_up")}, sessions.Failed, "hang_up", 1},
		{"completed before a word, as a hang-up", []act{join, end(sessions.Completed, "hang_up")}, sessions.Completed, "hang_up", 1},
		{"hang-up without a turn", []act{leave(live.HungUp)}, sessions.Completed, "no_turns", 1},
		{"hang-up after a turn", []act{turn, leave(live.HungUp)}, sessions.Completed, "hang_up", 1},
		{"drop, 119 s", []act{turn, leave(live.Dropped), after(119 * time.Second)}, sessions.InProgress, "", 0},
		{
			"drop, 120 s",
			[]act{turn, leave(live.Dropped), after(120 * time.Second), after(time.Hour)},
			sessions.Completed, "disconnected", 1,
		},
		{"idle, not yet", []act{turn, after(299 * time.Second)}, sessions.InProgress, "", 0},
		{"idle", []act{turn, after(300 * time.Second), end(sessions.Failed, "")}, sessions.Completed, "idle_timeout", 1},
		{"a turn holds idleness off", []act{turn, after(299 * time.Second), turn, after(299 * time.Second)}, sessions.InProgress, "", 0},
		{"too long", []act{
			turn, after(250 * time.Second), turn, after(250 * time.Second), turn,
			after(100 * time.Second),
		}, sessions.Completed, "max_duration", 1},
		{"the token runs out under way", []act{turn, after(290 * time.Second), turn, after(290 * time.Second)}, sessions.InProgress, "", 0},
		{"end_call", []act{func(t *testing.T, f *fixture, made sessions.Created) {
			f.turn(t, made.Session.ID, "/tool end_call {}")
		}}, sessions.Completed, "end_call", 1},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.clock.stop()
			f.agent = f.newAgent(t, f.ref, agents.Config{FirstMessage: "Hello!", IdleTimeoutSeconds: 300, MaxDurationSeconds: 600})
			made := f.create(t)
			for _, act := range row.acts {
				act(t, f, made)
			}
			session := f.get(t, made.Session.ID)
			if session.Status != row.status || session.EndReason != row.reason {
				t.Errorf("got %s %q, want %s %q", session.Status, session.EndReason, row.status, row.reason)
			}
			calls := f.postCalls(t, made.Session.ID)
			if len(calls) != row.events {
				t.Fatalf("%d events, want %d", len(calls), row.events)
			}
			if !session.Closed() {
				return
			}
			_, err := f.Turn(t.Context(), f.principal, made.Session.ID, "more", nil)
			wantReason(t, err, fault.SessionClosed)
			if row.events > 0 && calls[0]["metadata"].(map[string]any)["termination_reason"] != row.reason {
				t.Errorf("event %+v", calls[0])
			}
		})
	}
}

// TestHangUpBesideAnotherNode: a socket that hangs up ends nothing while the session has another
// one on another node: what it has asked is answered.
func TestHangUpBesideAnotherNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	asked, goOn := make(chan struct{}), make(chan struct{})
	f.model = &script{steps: []step{paused(asked, goOn), say("In Bern.")}}
	made := f.create(t, func(p *sessions.CreateParams) { p.Modality = sessions.VoiceAndText })
	f.joinChannel(t, f.node(t), made, sessions.VoiceChannel)
	chat := f.join(t, f.Node, made)
	chat.do(live.UserMessage{Text: "When does it come?"})
	chat.do(live.Respond{})
	received(t, "the request", asked)
	chat.do(live.UserMessage{Text: "And where?"})
	chat.do(live.Respond{})
	chat.Leave(live.HungUp)
	close(goOn)
	var all []sessions.Turn
	await(t, "the end of both turns", func() bool {
		all = f.transcript(t, made.Session.ID)
		return !slices.ContainsFunc(all, func(turn sessions.Turn) bool { return turn.Status == sessions.TurnInProgress })
	})
	if len(all) != 2 || all[0].AgentText != "Half and half." || all[1].AgentText != "In Bern." || f.get(t, made.Session.ID).Closed() {
		t.Errorf("the turns %+v", all)
	}
}

// TestOneEventUnderConcurrentEnds ends an answering session in every way at once.
func TestOneEventUnderConcurrentEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(t)
	said := make(chan struct{})
	f.model = &script{steps: []step{sayAndWait("Half", said)}}
	made := f.create(t)
	s := f.join(t, other, made)
	s.do(live.UserMessage{Text: "one"})
	s.do(live.Respond{})
	received(t, "the answer", said)
	var ending sync.WaitGroup
	for i := range 12 {
		node := []*rooms.Node{f.Node, other}[i%2]
		ending.Go(func() {
			ended, err := node.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: sessions.Completed})
			if err != nil || !ended.Closed() {
				t.Errorf("got %s, %v", ended.Status, err)
			}
		})
	}
	ending.Go(func() { s.Leave(live.HungUp) })
	ending.Go(func() { f.sweep(t) })
	ending.Wait()
	calls := f.postCalls(t, made.Session.ID)
	if len(calls) != 1 {
		t.Fatalf("%d events", len(calls))
	}
	transcript, _ := calls[0]["transcript"].([]any)
	if len(transcript) != 2 || transcript[1].(map[string]any)["interrupted"] != true {
		t.Errorf("transcript %+v", transcript)
	}
}

// TestLostNode: a node is lost with a running turn and an open socket.
func TestLostNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(t)
	f.turn(t, made.Session.ID, "Hello?")
	_, err := f.db.ExecContext(t.Context(), `
		INSERT INTO turns (
			id, tenant_id, workspace_id, session_id, index, user_text, agent_text, status, messages, citations, metrics, started_at
		)
		SELECT 'turn_lost', tenant_id, workspace_id, id, 1, 'lost', '', 'in_progress',
			'[{"role":"user","text":"lost"},
				{"role":"assistant","text":"I","calls":[{"id":"call_1","name":"x","arguments":{}}]}]',
			'[]', '{}', now()
		FROM sessions`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.db.ExecContext(t.Context(),
		"UPDATE sessions SET running_turn_id = 'turn_lost', running_until = ?, turn_count = 2", f.clock.now().Add(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.db.ExecContext(t.Context(), `
		INSERT INTO session_connections (session_id, channel, tenant_id, number, node_id, joined_at, seen_at)
		SELECT id, 'chat', tenant_id, 1, 'node_dead', now(), ? FROM sessions`, f.clock.now())
	if err != nil {
		t.Fatal(err)
	}
	f.sweep(t)
	if session := f.get(t, made.Session.ID); session.RunningTurnID == "" || !session.DroppedAt.IsZero() {
		t.Fatal("given up too early")
	}
	f.clock.advance(40 * time.Second)
	f.sweep(t)
	session := f.get(t, made.Session.ID)
	if session.RunningTurnID != "" || session.DroppedAt.IsZero() || session.Status != sessions.InProgress {
		t.Errorf("session %+v", session)
	}
	lost := f.transcript(t, made.Session.ID)[1]
	if lost.Status != sessions.TurnFailed || lost.AgentText != "I" || lost.ToolCalls()[0].ErrorCode == "" {
		t.Errorf("turn %+v", lost)
	}
	f.turn(t, made.Session.ID, "Still there?")
	f.clock.advance(sessions.DropGrace)
	f.sweep(t)
	if session := f.get(t, made.Session.ID); session.EndReason != sessions.ReasonDisconnected {
		t.Errorf("ended with %q", session.EndReason)
	}
}

func TestPostCallPayload(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{
		say("Hi Ann.", call("language_detection", `{"language":"de"}`)),
		say("Auf Deutsch."), say(strings.Repeat("long ", 60_000)),
	}}
	end := func(made sessions.Created) map[string]any {
		if _, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: sessions.Completed}); err != nil {
			t.Fatal(err)
		}
		calls := f.postCalls(t, made.Session.ID)
		if len(calls) != 1 {
			t.Fatalf("%d events", len(calls))
		}
		return calls[0]
	}
	first := f.create(t, func(p *sessions.CreateParams) {
		p.DynamicVariables = map[string]string{"name": "Ann", "secret__pin": "4711-pin"}
		p.Overrides = map[string]json.RawMessage{"language": json.RawMessage(`"en"`)}
	})
	turn := f.turn(t, first.Session.ID, "Hallo!")
	if turn.AgentText != "Hi Ann.\n\nAuf Deutsch." || turn.InputTokens != 20 || turn.OutputTokens != 6 || turn.Model != "script-1" {
		t.Errorf("turn %+v", turn)
	}
	data := end(first)
	encoded, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"status":"done"`, `"message":"Hallo!"`, `"tool_name":"language_detection"`, `"main_language":"de"`, `"name":"Ann"`,
		`"conversation_id":"` + string(first.Session.ID) + `"`, `"input_tokens":20`,
		`"conversation_config_override":{"agent":{"language":"en"}}`, `"text_only":true`,
	} {
		if !strings.Contains(string(encoded), want) {
			t.Errorf("the payload lacks %s: %s", want, encoded)
		}
	}
	if strings.Contains(string(encoded), "4711-pin") || strings.Contains(string(encoded), "secret__") {
		t.Error("the payload shows a secret")
	}
	second := f.create(t)
	f.turn(t, second.Session.ID, "Tell me everything.")
	data = end(second)
	if data["truncated"] != true || data["transcript_url"] != "https://talk.example/v1/sessions/"+string(second.Session.ID)+"/transcript" {
		t.Errorf("a long call: truncated %v, url %v", data["truncated"], data["transcript_url"])
	}
	if transcript, _ := data["transcript"].([]any); len(transcript) != 0 {
		t.Errorf("%d utterances are still there", len(transcript))
	}
}

func TestListAndSessionTokens(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first, second := f.create(t), f.create(t, func(p *sessions.CreateParams) { p.UserID = "user-2" })
	list, _, err := f.List(t.Context(), f.principal, sessions.ListParams{})
	if err != nil || len(list) != 2 || list[0].ID != second.Session.ID {
		t.Errorf("listed %d, %v", len(list), err)
	}
	list, _, err = f.List(t.Context(), f.principal, sessions.ListParams{UserID: "user-1"})
	if err != nil || len(list) != 1 || list[0].ID != first.Session.ID {
		t.Errorf("of a user: %d, %v", len(list), err)
	}
	stranger, _ := f.tenant(t, "free")
	list, _, err = f.List(t.Context(), stranger, sessions.ListParams{WorkspaceID: f.ref.ID})
	if err != nil || len(list) != 0 {
		t.Errorf("a stranger sees %d, %v", len(list), err)
	}
	holder, err := f.Authenticate(t.Context(), first.Token)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Turn(t.Context(), holder, first.Session.ID, "mine", nil); err != nil {
		t.Errorf("a turn with the session's token: %v", err)
	}
	_, err = f.Turn(t.Context(), holder, second.Session.ID, "not mine", nil)
	wantReason(t, err, fault.SessionTokenInvalid)
	_, err = f.Turn(t.Context(), f.principal, first.Session.ID, "", nil)
	wantReason(t, err, fault.InvalidRequest)
	_, err = f.Turn(t.Context(), f.principal, "ses_nobody", "x", nil)
	wantReason(t, err, fault.ResourceNotFound)
}
