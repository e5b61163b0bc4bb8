package live_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/requests"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// handsOver is a configuration with two destinations.
func handsOver() agents.Config {
	return agents.Config{Instructions: "You help.", Handover: agents.Handover{Enabled: true, Destinations: []agents.Destination{
		{Name: "sales", PhoneNumber: "+15550100001"}, {Name: "support", PhoneNumber: "+15550100002"},
	}}}
}

// offered are the names of the tools of a request, and what is known of one of them.
func offered(req model.Request, name string) (names []string, found model.Tool) {
	for _, tool := range req.Tools {
		names = append(names, tool.Name)
		if tool.Name == name {
			found = tool
		}
	}
	return names, found
}

func (f *fixture) handoverEvents(t *testing.T, id sessions.ID) (n int) {
	t.Helper()
	err := f.db.NewRaw("SELECT count(*) FROM events WHERE type = '_session.handover_requested' AND subject = ?", id).Scan(t.Context(), &n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// counted is how much of a meter the tenant of a session has used.
func (f *fixture) counted(t *testing.T, session sessions.Session, meter usage.Meter) (n int) {
	t.Helper()
	err := f.db.NewRaw("SELECT coalesce(sum(quantity), 0) FROM usage_records WHERE tenant_id = ? AND meter = ?", session.TenantID, meter).
		Scan(t.Context(), &n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (f *fixture) takeOver(t *testing.T, id sessions.ID, operator string) sessions.Session {
	t.Helper()
	session, err := f.Handover.TakeOver(t.Context(), f.principal, id, operator)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func (f *fixture) operatorSays(t *testing.T, id sessions.ID, text string) sessions.Turn {
	t.Helper()
	turn, err := f.Handover.Say(t.Context(), f.principal, id, text)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func TestTransferToPerson(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, f.ref, handsOver())
	arguments := `{"reason":"Wants a refund.","summary":"Bought shoes.","destination":"support"}`
	answers := &script{steps: []step{
		say("", call("transfer_to_person", arguments)), say("Somebody will come."),
		say("", call("transfer_to_person", `{"reason":"Again."}`)), say("Please wait."),
	}}
	f.model = answers
	made := f.create(t)
	s := f.join(t, f.Node, made)
	s.do(live.UserMessage{Text: "A person, please."})
	s.do(live.Respond{})
	called, _ := until[turns.ToolDone](s)
	if called.Output != "A person was asked to take over. Tell the user, and say nothing else." || called.Failed {
		t.Errorf("the model was told %+v", called)
	}
	changed, before := until[live.HandoverChanged](s)
	if changed.Status != sessions.HandoverRequested {
		t.Errorf("the socket was told %+v", changed)
	}
	if !slices.ContainsFunc(before, func(e turns.Event) bool { _, done := e.(turns.ResponseDone); return done }) {
		until[turns.ResponseDone](s)
	}
	_, tool := offered(answers.requests()[0], "transfer_to_person")
	if !strings.Contains(string(tool.InputSchema), `"enum":["sales","support"]`) {
		t.Errorf("offered %s", tool.InputSchema)
	}
	want := sessions.Handover{
		Status: sessions.HandoverRequested, Reason: "Wants a refund.", Summary: "Bought shoes.", Destination: "support",
	}
	got := f.get(t, made.Session.ID).Handover
	if got.RequestedAt.IsZero() {
		t.Error("nobody knows since when")
	}
	if got.RequestedAt = (time.Time{}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	talk(s, "Hello?")
	again := f.transcript(t, made.Session.ID)[1].ToolCalls()
	if len(again) != 1 || !strings.Contains(again[0].Output, "Nothing was changed") ||
		f.get(t, made.Session.ID).Handover.Reason != want.Reason {
		t.Errorf("a second request: %+v", again)
	}
	if n := f.handoverEvents(t, made.Session.ID); n != 1 {
		t.Errorf("%d events, want 1", n)
	}
	filter := tools.CallFilter{SessionID: string(made.Session.ID)}
	traces, _, err := f.tools.ListCallsOfSession(t.Context(), f.ref, filter, postgres.PageParams{})
	if err != nil || len(traces) != 2 || traces[0].ToolID != "system:transfer_to_person" {
		t.Errorf("traces %+v, %v", traces, err)
	}
	receipt, _, err := f.Receipt(t.Context(), f.principal, made.Session.ID, f.transcript(t, made.Session.ID)[0].ID)
	if err != nil || len(receipt.ToolCalls) != 1 || receipt.ToolCalls[0].Status != "succeeded" {
		t.Errorf("receipt %+v, %v", receipt.ToolCalls, err)
	}
}

// TestTransferIsOffered: the tool is an agent's setting, and gives way to tools of the workspace
// and of the client.
func TestTransferIsOffered(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	plain := f.agent
	f.agent = f.newAgent(t, f.ref, agents.Config{Handover: agents.Handover{Enabled: true}})
	answers := &script{steps: []step{say("one"), say("two"), say("three"), say("four")}}
	f.model = answers
	f.turn(t, f.create(t).Session.ID, "hi")
	own := []model.Tool{{Name: "transfer_to_person", Description: "The client's.", InputSchema: []byte(`{"type":"object"}`)}}
	if _, err := f.Say(t.Context(), f.principal, f.create(t).Session.ID, requests.Params{Text: "hi", ClientTools: own}, nil); err != nil {
		t.Fatal(err)
	}
	f.attach(t, "transfer_to_person", "GET", 0)
	f.turn(t, f.create(t).Session.ID, "hi")
	f.agent = plain
	f.turn(t, f.create(t).Session.ID, "hi")
	asked := answers.requests()
	if _, tool := offered(asked[0], "transfer_to_person"); tool.Name == "" || strings.Contains(string(tool.InputSchema), "destination") {
		t.Errorf("without destinations %+v", tool)
	}
	if names, tool := offered(asked[1], "transfer_to_person"); tool.Description != "The client's." || count(names, tool.Name) != 1 {
		t.Errorf("beside a tool of the client %q: %v", tool.Description, names)
	}
	names, tool := offered(asked[2], "transfer_to_person")
	if count(names, "transfer_to_person") != 1 || strings.HasPrefix(tool.Description, "Hands the conversation") {
		t.Errorf("beside a tool of the workspace %q: %v", tool.Description, names)
	}
	if _, tool := offered(asked[3], "transfer_to_person"); tool.Name != "" {
		t.Error("offered although it is off")
	}
}

func count(names []string, name string) (n int) {
	for _, one := range names {
		if one == name {
			n++
		}
	}
	return n
}

// TestTakeOver takes a conversation over on another node than its socket's, while the model
// answers, and gives it back.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	said := make(chan struct{})
	answers := &script{steps: []step{sayAndWait("I think", said), say("Back again.")}}
	f.model = answers
	made := f.create(t)
	s := f.join(t, f.node(t), made)
	s.do(live.UserMessage{Text: "Help!"})
	s.do(live.Respond{})
	received(t, "the model's first word", said)
	f.takeOver(t, made.Session.ID, "Ruth")
	done, before := until[turns.ResponseDone](s)
	if done.Status != turns.ResponseCancelled || done.Text != "I think" {
		t.Errorf("the answer in progress %+v", done)
	}
	if !strings.Contains(kinds(before), "HandoverChanged") { // it comes while the answer is stopped
		awaitState(s, sessions.HandoverOperator)
	}
	s.do(live.UserMessage{CommandID: "m", ItemID: "mine", Text: "Who is there?"})
	s.do(live.Respond{CommandID: "r"})
	if added, _ := until[live.ItemAdded](s); added.Item.ID != "mine" {
		t.Errorf("the user's message %+v", added)
	}
	if left, before := until[turns.LeftToOperator](s); left.CommandID != "r" || strings.Contains(kinds(before), "Response") {
		t.Errorf("the request for an answer: %+v after %s", left, kinds(before))
	}
	await(t, "the user's message is a turn without an answer", func() bool {
		taken := f.transcript(t, made.Session.ID)
		return len(taken) == 2 && taken[1].Status == sessions.TurnCompleted && taken[1].UserText == "Who is there?" &&
			taken[1].AgentText == "" && taken[1].Metrics.Operator == "Ruth"
	})
	if n := f.counted(t, made.Session, usage.Turns); n != 1 {
		t.Errorf("%d turns are counted, want the one that the model answered", n)
	}
	written := f.operatorSays(t, made.Session.ID, "Ruth here.")
	added, _ := until[live.ItemAdded](s)
	if added.Item.Kind != sessions.AssistantItem || added.Item.Text != "Ruth here." || added.Item.Operator != "Ruth" {
		t.Errorf("the operator's message %+v", added.Item)
	}
	last := f.transcript(t, made.Session.ID)[2]
	if last.ID != written.ID || last.AgentText != "" || last.Messages[0].Role != sessions.RoleOperator || len(last.Items) != 1 {
		t.Errorf("in the transcript %+v", last)
	}
	if _, err := f.Handover.Release(t.Context(), f.principal, made.Session.ID, "Promised a refund."); err != nil {
		t.Fatal(err)
	}
	awaitState(s, sessions.NoHandover)
	s.do(live.UserMessage{Text: "And now?"})
	s.do(live.Respond{})
	if done, before := until[turns.ResponseDone](s); done.Text != "Back again." || strings.Contains(fmt.Sprint(before), "Promised") {
		t.Errorf("after the release %+v, after %s", done, kinds(before))
	}
	asked := answers.requests()
	seen := fmt.Sprint(asked[len(asked)-1].Messages)
	for _, words := range []string{"Who is there?", "[operator Ruth] Ruth here.", "Promised a refund.", "And now?"} {
		if !strings.Contains(seen, words) {
			t.Errorf("the model does not see %q in %s", words, seen)
		}
	}
	if len(asked) != 2 {
		t.Errorf("the model was asked %d times", len(asked))
	}
}

// awaitState reads events until the socket is told of a status.
func awaitState(s *socket, status sessions.HandoverStatus) {
	s.t.Helper()
	for {
		if changed, _ := until[live.HandoverChanged](s); changed.Status == status {
			return
		}
	}
}

// TestTakenOverOverHTTP: a turn without a socket is stored and not answered, and a socket that
// joins later knows who has the conversation.
func TestTakenOverOverHTTP(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	answers := &script{steps: []step{say("I am back.")}}
	f.model = answers
	made := f.create(t)
	session := f.takeOver(t, made.Session.ID, "Ruth")
	if session.Status != sessions.InProgress || session.Handover.TakenAt.IsZero() {
		t.Errorf("taken over while pending: %+v", session)
	}
	turn := f.turn(t, made.Session.ID, "Is anybody there?")
	if turn.Status != sessions.TurnCompleted || turn.AgentText != "" || turn.Metrics.Handover != sessions.HandoverOperator {
		t.Errorf("answered %+v", turn)
	}
	var types []string
	err := f.Stream(t.Context(), f.principal, made.Session.ID, requests.Params{Text: "Hello?"}, func(e requests.Event) error {
		types = append(types, e.Type)
		return nil
	})
	if err != nil || strings.Join(types, " ") != "turn.started turn.done" {
		t.Errorf("streamed %v, %v", types, err)
	}
	s := f.join(t, f.Node, made)
	if changed, _ := until[live.HandoverChanged](s); changed.Operator != "Ruth" {
		t.Errorf("a socket that joins is told %+v", changed)
	}
	s.do(live.Respond{CommandID: "aside", OutOfBand: true})
	if failed, _ := until[live.Failed](s); failed.Err.Reason != fault.SessionTakenOver {
		t.Errorf("an answer out of band: %+v", failed)
	}
	if len(answers.requests()) != 0 {
		t.Error("the model was asked")
	}
	if _, err := f.Handover.Release(t.Context(), f.principal, made.Session.ID, ""); err != nil {
		t.Fatal(err)
	}
	if turn := f.turn(t, made.Session.ID, "Hello?"); turn.AgentText != "I am back." {
		t.Errorf("after the release %+v", turn)
	}
}

func TestHandoverRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx, h, id := t.Context(), f.Handover, f.create(t).Session.ID
	_, err := h.Say(ctx, f.principal, id, "Hi.")
	wantReason(t, err, fault.SessionNotTakenOver)
	first := f.takeOver(t, id, "Ruth")
	if again := f.takeOver(t, id, " Ruth "); !again.Handover.TakenAt.Equal(first.Handover.TakenAt) {
		t.Error("taking over again changed something")
	}
	_, err = h.TakeOver(ctx, f.principal, id, "Paul")
	wantReason(t, err, fault.SessionTakenOver)
	_, err = h.TakeOver(ctx, f.principal, id, "  ")
	wantReason(t, err, fault.InvalidRequest)
	_, err = h.Say(ctx, f.principal, id, " ")
	wantReason(t, err, fault.InvalidRequest)
	other, _ := f.tenant(t, "pro")
	for what, call := range map[string]func(p workspaces.Principal) error{
		"take over": func(p workspaces.Principal) error { _, err := h.TakeOver(ctx, p, id, "Ruth"); return err },
		"say":       func(p workspaces.Principal) error { _, err := h.Say(ctx, p, id, "Hi."); return err },
		"release":   func(p workspaces.Principal) error { _, err := h.Release(ctx, p, id, ""); return err },
	} {
		if err := call(other); !fault.IsReason(err, fault.ResourceNotFound) {
			t.Errorf("%s in another tenant: %v", what, err)
		}
	}
	for range 2 {
		if released, err := h.Release(ctx, f.principal, id, "x"); err != nil || released.Handover != (sessions.Handover{}) {
			t.Errorf("released %+v, %v", released.Handover, err)
		}
	}
	f.takeOver(t, id, "Paul")
	if _, err := f.End(ctx, f.principal, id, sessions.EndParams{Status: sessions.Completed}); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		func() error { _, err := h.TakeOver(ctx, f.principal, id, "Paul"); return err }(),
		func() error { _, err := h.Say(ctx, f.principal, id, "Hi."); return err }(),
		func() error { _, err := h.Release(ctx, f.principal, id, ""); return err }(),
	} {
		wantReason(t, err, fault.SessionClosed)
	}
}

// TestEscalationHandsOver: a guard's escalate asks for a person where the agent hands over.
func TestEscalationHandsOver(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	config := handsOver()
	config.Guards = []agents.Guard{{Name: "weapons", Phrases: []string{"bomb"}, Action: agents.GuardEscalate, Reply: "Somebody comes."}}
	f.agent = f.newAgent(t, f.ref, config)
	made := f.create(t)
	if turn := f.turn(t, made.Session.ID, "A bomb!"); turn.Metrics.Handover != sessions.HandoverRequested {
		t.Errorf("answered %+v", turn)
	}
	got := f.get(t, made.Session.ID).Handover
	if got.Status != sessions.HandoverRequested || got.Reason != "weapons" || got.Destination != "sales" {
		t.Errorf("asked for %+v", got)
	}
	if f.handoverEvents(t, made.Session.ID) != 1 || f.escalations(t) != "weapons user" {
		t.Error("one of the events is missing")
	}
	list := func(status sessions.HandoverStatus) (n int) {
		found, _, err := f.List(t.Context(), f.principal, sessions.ListParams{Handover: status})
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if list(sessions.HandoverRequested) != 1 || list(sessions.HandoverOperator) != 0 {
		t.Error("the lists do not have what waits")
	}
	f.takeOver(t, made.Session.ID, "Ruth")
	if list(sessions.HandoverRequested) != 0 || list(sessions.HandoverOperator) != 1 {
		t.Error("the lists do not have what was taken over")
	}
}

// TestHandoverContent: what was said is stored as the agent's words are, and what is not kept is
// deleted.
func TestHandoverContent(t *testing.T) {
	t.Parallel()
	rows := map[string]agents.Privacy{"redacted": {Redact: []string{"email", "phone"}}, "not kept": {ZeroRetention: true}}
	for name, privacy := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			config := handsOver()
			config.Privacy = privacy
			f.agent = f.newAgent(t, f.ref, config)
			f.model = &script{steps: []step{
				say("", call("transfer_to_person", `{"reason":"Write to `+plantedEmail+`","summary":"Calls from `+plantedPhone+`"}`)), say("Yes."),
			}}
			made := f.create(t)
			f.turn(t, made.Session.ID, "A person!")
			f.takeOver(t, made.Session.ID, "Ruth")
			s := f.join(t, f.Node, made)
			if told := f.operatorSays(t, made.Session.ID, "I am "+plantedEmail); told.Messages[0].Text != "I am "+plantedEmail {
				t.Errorf("the writer reads %q", told.Messages[0].Text)
			}
			if added, _ := until[live.ItemAdded](s); added.Item.Text != "I am "+plantedEmail {
				t.Errorf("the user reads %q", added.Item.Text)
			}
			var stored []string
			err := f.db.NewRaw("SELECT s.handover_reason || s.handover_summary || (SELECT string_agg(t.messages::text, '') FROM turns AS t"+
				" WHERE t.session_id = s.id) FROM sessions AS s WHERE s.id = ?", made.Session.ID).Scan(t.Context(), &stored)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{plantedEmail, plantedPhone} {
				if strings.Contains(stored[0], secret) {
					t.Errorf("stored with %s: %s", secret, stored[0])
				}
			}
			shown, err := f.Handover.Opened(t.Context(), []sessions.Session{f.get(t, made.Session.ID)})
			if err != nil || strings.Contains(shown[0].Handover.Summary, "sealed") ||
				strings.Contains(shown[0].Handover.Summary, plantedPhone) != privacy.ZeroRetention {
				t.Errorf("the operator reads %+v, %v", shown[0].Handover, err)
			}
		})
	}
}

// TestPressKeys: keys are offered in telephone calls only, and the socket is told of them behind
// the call.
func TestPressKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, f.ref, agents.Config{
		Instructions: "The caller is {{system__caller_id}}, {{system__called_number}}.", Callbacks: agents.Callbacks{PressKeys: true},
	})
	answers := &script{steps: []step{
		say("not here"), say("", call("press_keys", `{"digits":"1w2#"}`), call("press_keys", `{"digits":"x"}`)), say("Pressed."),
	}}
	f.model = answers
	f.turn(t, f.create(t).Session.ID, "hi")
	s := f.join(t, f.Node, f.create(t, func(p *sessions.CreateParams) {
		p.OnTelephone, p.CallerID, p.CalledNumber = true, "+15550100003", "+15550100004"
	}))
	s.do(live.UserMessage{Text: "Press 1."})
	s.do(live.Respond{})
	_, before := until[turns.ResponseDone](s)
	var keys []turns.KeysWanted
	for i, e := range before {
		if wanted, is := e.(turns.KeysWanted); is {
			keys = append(keys, wanted)
			if done, is := before[i-1].(turns.ToolDone); !is || done.Failed {
				t.Errorf("keys behind %+v", before[i-1])
			}
		}
	}
	if len(keys) != 1 || keys[0].Digits != "1w2#" || keys[0].ResponseID == "" {
		t.Errorf("keys %+v", keys)
	}
	asked := answers.requests()
	if _, tool := offered(asked[0], "press_keys"); tool.Name != "" {
		t.Error("offered without a telephone")
	}
	if _, tool := offered(asked[1], "press_keys"); tool.Name == "" {
		t.Error("not offered on the telephone")
	}
	if !strings.Contains(asked[1].System, "+15550100003, +15550100004.") {
		t.Errorf("instructions %q", asked[1].System)
	}
}

// TestHandedOverActivity: the idle time-out begins anew with what either side says.
func TestHandedOverActivity(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, f.ref, agents.Config{IdleTimeoutSeconds: 60})
	made := f.create(t)
	f.takeOver(t, made.Session.ID, "Ruth")
	idle := time.Duration(made.Session.IdleTimeoutSeconds) * time.Second
	for _, act := range []func(){
		func() { f.operatorSays(t, made.Session.ID, "One moment.") },
		func() { f.turn(t, made.Session.ID, "Yes.") },
		func() {},
	} {
		f.clock.advance(idle * 2 / 3)
		act()
		f.sweep(t)
		if session := f.get(t, made.Session.ID); session.Closed() {
			t.Fatalf("ended: %s", session.EndReason)
		}
	}
	f.clock.advance(idle)
	f.sweep(t)
	if session := f.get(t, made.Session.ID); session.EndReason != sessions.ReasonIdle {
		t.Errorf("after a silence: %+v", session)
	}
	posted := fmt.Sprint(f.postCalls(t, made.Session.ID))
	if !strings.Contains(posted, "operator:Ruth") || !strings.Contains(posted, "message:One moment.") {
		t.Errorf("announced %s", posted)
	}
}
