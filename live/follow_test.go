package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/rooms"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/requests"
)

// eventListener records the events of a stream and hangs up at the event number quits; 0: never.
type eventListener struct {
	quits  int
	mu     sync.Mutex
	events []requests.Event
}

func (e *eventListener) receive(event requests.Event) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, event)
	if e.quits > 0 && len(e.events) >= e.quits {
		return errors.New("gone")
	}
	return nil
}

func (e *eventListener) received() []requests.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]requests.Event{}, e.events...)
}

func (e *eventListener) text() (text string, types []string) {
	for _, event := range e.received() {
		text += event.Delta
		types = append(types, strings.TrimPrefix(event.Type, "turn."))
	}
	return text, types
}

// TestStreamOfARevokedKey: a stream that is not to go on says why, and not that its caller has
// gone.
func TestStreamOfARevokedKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	refuse := func(requests.Event) error { return fault.New(fault.AuthInvalidKey, "The API key is not valid.") }
	err := f.Stream(t.Context(), f.principal, f.create(t).Session.ID, requests.Params{Text: "Hello?"}, refuse)
	wantReason(t, err, fault.AuthInvalidKey)
}

// paced emits its pieces one by one, each when let has a value.
func paced(let <-chan struct{}, pieces ...string) step {
	return func(ctx context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
		for _, piece := range pieces {
			select {
			case <-let:
			case <-ctx.Done():
				return model.Result{}, ctx.Err()
			}
			if err := emit(model.TextDelta{Text: piece}); err != nil {
				return model.Result{}, err
			}
		}
		return model.Result{Text: strings.Join(pieces, ""), Model: "script-1"}, nil
	}
}

// TestFollow: a caller hangs up in the middle of a streamed answer and returns on the same node, on
// another one, and when the answer has ended.
func TestFollow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(t)
	let := make(chan struct{}, 10)
	f.model = &script{steps: []step{say("Let me see.", call("skipped", `{}`)), paced(let, "Grüße ", "aus ", "Köln.")}}
	made := f.create(t)
	id := made.Session.ID
	let <- struct{}{}
	first := &eventListener{quits: 4} // started, the first message, the call, the first piece
	wantReason(t, f.Stream(t.Context(), f.principal, id, requests.Params{Text: "Hallo?"}, first.receive), fault.CallerCanceled)
	let <- struct{}{} // the piece after the caller hung up
	_, types := first.text()
	if diff := cmp.Diff([]string{"started", "delta", "tool_call", "delta"}, types); diff != "" {
		t.Fatalf("before the hang-up (-want +got):\n%s", diff)
	}
	turn, last := first.received()[0].TurnID, first.received()[3].ID
	here, there := &eventListener{}, &eventListener{}
	var following sync.WaitGroup
	for node, e := range map[*rooms.Node]*eventListener{f.Node: here, other: there} {
		following.Go(func() {
			if err := node.Follow(t.Context(), f.principal, id, turn, last, e.receive); err != nil {
				t.Errorf("following: %v", err)
			}
		})
	}
	await(t, "the second piece", func() bool { text, _ := here.text(); return text != "" })
	running, err := f.GetTurn(t.Context(), f.principal, id, turn)
	if err != nil || running.Status != sessions.TurnInProgress {
		t.Errorf("the turn while it runs: %s, %v", running.Status, err)
	}
	let <- struct{}{}
	following.Wait()
	const whole = "Let me see.\n\nGrüße aus Köln."
	before, _ := first.text()
	for where, e := range map[string]*eventListener{"here": here, "there": there} {
		rest, types := e.text()
		if before+rest != whole || types[len(types)-1] != "done" || strings.Contains(strings.Join(types, " "),
			"started") || strings.Contains(strings.Join(types, " "), "tool_call") {
			t.Errorf("%s: %q and then %q %v", where, before, rest, types)
		}
	}
	// After the answer, each event id gives the events that follow it.
	for i, e := range first.received() {
		again := &eventListener{}
		if err := other.Follow(t.Context(), f.principal, id, turn, e.ID, again.receive); err != nil {
			t.Fatal(err)
		}
		seen := ""
		for _, earlier := range first.received()[:i+1] {
			seen += earlier.Delta
		}
		rest, types := again.text()
		called := strings.Contains(strings.Join(types, " "), "tool_call")
		if types[len(types)-1] != "done" {
			t.Errorf("after event %d: %v", i, types)
		}
		if seen+rest != whole || called != (i < 2) {
			t.Errorf("after event %d: %q and %q, %v", i, seen, rest, types)
		}
	}
	full := &eventListener{}
	if err := f.Follow(t.Context(), f.principal, id, turn, "", full.receive); err != nil {
		t.Fatal(err)
	}
	events := full.received()
	if text, _ := full.text(); text != whole || events[0].Type != requests.EventStarted || events[len(events)-1].Turn.AgentText != whole {
		t.Errorf("from the beginning: %+v", events)
	}
	for where, e := range map[string]*eventListener{"here": here, "there": there, "when it was over": full} {
		events := e.received()
		done := events[len(events)-1]
		again := &eventListener{}
		if err := other.Follow(t.Context(), f.principal, id, turn, done.ID, again.receive); err != nil ||
			done.Type != requests.EventDone || len(again.received()) != 0 {
			t.Errorf("after the end as it was received %s (%s %s): %+v, %v", where, done.Type, done.ID, again.received(), err)
		}
		if of, err := requests.TurnOfEvent(done.ID); err != nil || of != turn {
			t.Errorf("%s is of the turn %q, %v", done.ID, of, err)
		}
	}
	for _, bad := range []string{"7", string(turn), string(turn) + ".1.2", strings.Replace(last, string(turn),
		"turn_00000000000000000000000000", 1), last + "0x"} {
		wantReason(t, f.Follow(t.Context(), f.principal, id, turn, bad, full.receive), fault.InvalidRequest)
	}
	wantReason(t, f.Follow(t.Context(), f.principal, f.create(t).Session.ID, turn, last, full.receive), fault.ResourceNotFound)
}

// TestTurnWithoutFollowers is a streamed turn whose caller does not return.
func TestTurnWithoutFollowers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hasty := f.start(t, rooms.Deps{FollowGrace: time.Millisecond})
	said := make(chan struct{})
	f.model = &script{steps: []step{sayAndWait("Half", said)}}
	made := f.create(t)
	err := hasty.Stream(t.Context(), f.principal, made.Session.ID, requests.Params{Text: "go"}, (&eventListener{quits: 2}).receive)
	wantReason(t, err, fault.CallerCanceled)
	await(t, "the end of the turn", func() bool {
		return f.transcript(t, made.Session.ID)[0].Status == sessions.TurnCancelled
	})
	if turn := f.transcript(t, made.Session.ID)[0]; turn.AgentText != "Half" {
		t.Errorf("recorded %q", turn.AgentText)
	}
}

// TestCancelTurn stops a streamed turn and a socket's turn from another node.
func TestCancelTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(t)
	said, again := make(chan struct{}), make(chan struct{})
	f.model = &script{steps: []step{sayAndWait("Half", said), sayAndWait("A", again), say("Go on.")}}
	made := f.create(t)
	listener := &eventListener{}
	streamed := make(chan error, 1)
	go func() {
		streamed <- f.Stream(t.Context(), f.principal, made.Session.ID, requests.Params{Text: "one"}, listener.receive)
	}()
	received(t, "the answer", said)
	await(t, "the first piece", func() bool { text, _ := listener.text(); return text != "" })
	turn := listener.received()[0].TurnID
	for range 2 { // the second call finds the turn cancelled
		stopped, err := other.CancelTurn(t.Context(), f.principal, made.Session.ID, turn)
		if err != nil || stopped.Status != sessions.TurnCancelled || stopped.AgentText != "Half" {
			t.Errorf("cancelled: %s %q, %v", stopped.Status, stopped.AgentText, err)
		}
	}
	if err := <-streamed; err != nil {
		t.Errorf("the stream ended with %v", err)
	}
	events := listener.received()
	if last := events[len(events)-1]; last.Type != requests.EventDone || last.Turn.Status != sessions.TurnCancelled {
		t.Errorf("the last event: %+v", last)
	}
	s := f.join(t, f.Node, made)
	s.do(live.UserMessage{Text: "two"})
	s.do(live.Respond{})
	received(t, "the socket's answer", again)
	taken := f.transcript(t, made.Session.ID)
	if _, err := other.CancelTurn(t.Context(), f.principal, made.Session.ID, taken[1].ID); err != nil {
		t.Fatal(err)
	}
	if done, _ := until[turns.ResponseDone](s); done.Status != turns.ResponseCancelled {
		t.Errorf("the socket's answer: %+v", done)
	}
	if turn := f.turn(t, made.Session.ID, "three"); turn.AgentText != "Go on." {
		t.Errorf("afterwards: %q", turn.AgentText)
	}
	_, err := f.CancelTurn(t.Context(), f.principal, made.Session.ID, "turn_nobody")
	wantReason(t, err, fault.ResourceNotFound)
	_, err = f.GetTurn(t.Context(), f.principal, f.create(t).Session.ID, turn)
	wantReason(t, err, fault.ResourceNotFound)
}

// TestClientToolsWithoutASocket: a call ends the answer, and its result begins the next one.
func TestClientToolsWithoutASocket(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	answers := &script{steps: []step{
		say("", call("open_page", `{"url":"/cart"}`), call("read_clipboard", `{}`)), say("It is open."), say("",
			call("open_page", `{"url":"/x"}`)), say("Then not."),
	}}
	f.model = answers
	made := f.create(t)
	id := made.Session.ID
	own := []model.Tool{
		{Name: "open_page", Description: "Opens a page.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Name: "read_clipboard", InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Name: "end_call"}, // shadows nothing
	}
	listener := &eventListener{}
	if err := f.Stream(t.Context(), f.principal, id, requests.Params{Text: "Open my cart.", ClientTools: own}, listener.receive); err != nil {
		t.Fatal(err)
	}
	if _, types := listener.text(); strings.Join(types, " ") != "started client_tool_call client_tool_call done" {
		t.Errorf("events %v", types)
	}
	events := listener.received()
	asked := events[len(events)-1].Turn.OpenClientCalls()
	if len(asked) != 2 || asked[0].Name != "open_page" || string(asked[0].Arguments) != `{"url":"/cart"}` ||
		asked[0].ID != events[1].ToolCall.ID {
		t.Fatalf("asked for %+v", asked)
	}
	if asked[0].ToolID != "client:open_page" || events[1].ToolCall.ToolID != asked[0].ToolID {
		t.Errorf("the ids of the tool: %q in the turn, %q in the stream", asked[0].ToolID, events[1].ToolCall.ToolID)
	}
	for i, e := range events[:2] { // a caller that was cut off before the last event
		again := &eventListener{}
		if err := f.Follow(t.Context(), f.principal, id, e.TurnID, e.ID, again.receive); err != nil {
			t.Fatal(err)
		}
		if _, types := again.text(); strings.Join(types, " ") != "client_tool_call client_tool_call done" {
			t.Errorf("after event %d: %v", i, types)
		}
		if diff := cmp.Diff(asked, []sessions.ToolCall{*again.received()[0].ToolCall, *again.received()[1].ToolCall}); diff != "" {
			t.Errorf("the calls, followed (-want +got):\n%s", diff)
		}
	}
	output := func(call, text string) requests.Params {
		return requests.Params{Outputs: []turns.ToolOutput{{CallID: call, Output: text}}}
	}
	_, err := f.Say(t.Context(), f.principal, id, output("call_nobody", "x"), nil)
	wantReason(t, err, fault.InvalidRequest)
	_, err = f.Say(t.Context(), f.principal, id, output(asked[0].ID, "a\x00b"), nil)
	wantReason(t, err, fault.InvalidRequest)
	_, err = f.Say(t.Context(), f.principal, id, requests.Params{}, nil)
	wantReason(t, err, fault.InvalidRequest)
	both := output(asked[0].ID, "opened")
	both.Outputs = append(both.Outputs, both.Outputs[0])
	_, err = f.Say(t.Context(), f.principal, id, both, nil)
	wantReason(t, err, fault.InvalidRequest)
	both.Outputs = append(both.Outputs[:1], turns.ToolOutput{CallID: asked[1].ID, Output: "denied", IsError: true})
	turn, err := f.Say(t.Context(), f.principal, id, both, nil)
	if err != nil || turn.AgentText != "It is open." || turn.UserText != "" {
		t.Fatalf("answered %q, %v", turn.AgentText, err)
	}
	told := answers.requests()[1].Messages
	if n := len(told); told[n-2].Bare != "opened" || !strings.Contains(told[n-1].Text, "denied") || told[n-1].Role != model.RoleTool {
		t.Errorf("the model was told %+v", told)
	}
	_, err = f.Say(t.Context(), f.principal, id, output(asked[0].ID, "twice"), nil)
	wantReason(t, err, fault.InvalidRequest)
	recorded := f.transcript(t, id)
	if calls := recorded[0].ToolCalls(); calls[0].Output != "opened" || calls[0].ToolID != "client:open_page" ||
		calls[1].ErrorCode != "client-error" || len(recorded) != 2 {
		t.Errorf("recorded %+v in %d turns", calls, len(recorded))
	}
	if own := recorded[1].Messages; len(own) != 3 || own[0].CallID != asked[0].ID || own[1].CallID != asked[1].ID {
		t.Errorf("the turn that brought the results: %+v", own)
	}
	// A call without a result: the conversation continues, and the model is told.
	if _, err := f.Say(t.Context(), f.principal, id, requests.Params{Text: "And x.", ClientTools: own}, nil); err != nil {
		t.Fatal(err)
	}
	f.turn(t, id, "Never mind.")
	last := answers.requests()[3]
	if text := last.Messages[len(last.Messages)-2].Text; !strings.Contains(text, "not answered") {
		t.Errorf("of the open call the model was told %q", text)
	}
	for _, tool := range last.Tools {
		if tool.Name == "open_page" {
			t.Error("a client tool was offered in a turn that did not name it")
		}
	}
}

// TestFloodOfTurns sends more turns than may wait. The excess is refused at once, and the others
// are answered in turn.
func TestFloodOfTurns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	node := f.start(t, rooms.Deps{TenantTurns: 20})
	said := make(chan struct{})
	goOn := make(chan struct{})
	steps := []step{func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
		close(said)
		<-goOn
		return say("0")(ctx, req, emit)
	}}
	for range 40 {
		steps = append(steps, say("x"))
	}
	f.model = &script{steps: steps}
	made, second := f.create(t), f.create(t)
	results := make(chan error, 30)
	take := func(id sessions.ID) {
		go func() {
			_, err := node.Turn(t.Context(), f.principal, id, "go", nil)
			results <- err
		}()
	}
	take(made.Session.ID)
	received(t, "the first answer", said)
	for range 18 {
		take(made.Session.ID)
	}
	for range 2 { // 1 runs, 16 wait
		err := <-results
		wantReason(t, err, fault.RateLimitedReason)
		if fault.From(err).RetryAfter <= 0 {
			t.Error("no time to wait is given")
		}
	}
	close(goOn)
	for range 17 {
		if err := <-results; err != nil {
			t.Errorf("a turn that waited: %v", err)
		}
	}
	if taken := f.transcript(t, made.Session.ID); len(taken) != 17 {
		t.Errorf("%d turns", len(taken))
	}
	// The bound of a tenant, over all its sessions.
	hold := make(chan struct{})
	held := func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
		select { // both sessions' first turns run
		case <-hold:
		case <-ctx.Done():
		}
		return say("0")(ctx, req, emit)
	}
	f.model = &script{steps: slices.Repeat([]step{held}, 25)}
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	refused := make(chan error, 25)
	for i := range 25 {
		id := []sessions.ID{made.Session.ID, second.Session.ID}[i%2]
		waiting.Go(func() {
			_, err := node.Turn(ctx, f.principal, id, "go", nil)
			if fault.IsReason(err, fault.RateLimitedReason) {
				refused <- err
			}
		})
	}
	for range 5 {
		select {
		case err := <-refused:
			if !strings.Contains(err.Error(), "tenant") {
				t.Errorf("refused with %v", err)
			}
		case <-time.After(patience):
			t.Fatal("fewer were refused than are over the limit")
		}
	}
	cancel()
	close(hold)
	waiting.Wait()
}

// TestListFilters: each filter, and all of them over several pages.
func TestListFilters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var made []sessions.Session
	for _, modality := range []sessions.Modality{sessions.Text, sessions.Voice, sessions.VoiceAndText, sessions.Text} {
		made = append(made, f.create(t, func(p *sessions.CreateParams) { p.Modality = modality }).Session)
		f.clock.advance(time.Minute)
	}
	if _, err := f.End(t.Context(), f.principal, made[0].ID, sessions.EndParams{Status: sessions.Completed, Reason: "sold"}); err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name   string
		params sessions.ListParams
		want   []int // newest first
	}{
		{"modality", sessions.ListParams{Modality: sessions.Text}, []int{3, 0}},
		{"end_reason", sessions.ListParams{EndReason: "sold"}, []int{0}},
		{"end_reason of none", sessions.ListParams{EndReason: "hang_up"}, nil},
		{"created_after is inclusive", sessions.ListParams{CreatedAfter: made[2].CreatedAt}, []int{3, 2}},
		{"created_before is not", sessions.ListParams{CreatedBefore: made[2].CreatedAt}, []int{1, 0}},
		{"between", sessions.ListParams{CreatedAfter: made[1].CreatedAt, CreatedBefore: made[3].CreatedAt}, []int{2, 1}},
		{"status and modality", sessions.ListParams{Status: sessions.Pending, Modality: sessions.Text}, []int{3}},
		{"agent and workspace", sessions.ListParams{AgentID: f.agent.ID, WorkspaceID: f.ref.ID}, []int{3, 2, 1, 0}},
		{"another agent", sessions.ListParams{AgentID: "agt_nobody"}, nil},
	}
	for _, row := range rows {
		var got, want []sessions.ID
		for _, i := range row.want {
			want = append(want, made[i].ID)
		}
		for { // one a page
			row.params.Page.Size = 1
			list, next, err := f.List(t.Context(), f.principal, row.params)
			if err != nil {
				t.Fatalf("%s: %v", row.name, err)
			}
			for _, one := range list {
				got = append(got, one.ID)
			}
			if row.params.Page.Token = next; next == "" {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}
