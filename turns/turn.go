package turns

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

// The types of a [StreamEvent].
const (
	StreamStarted    = "turn.started"
	StreamDelta      = "turn.delta"
	StreamToolCall   = "turn.tool_call"
	StreamClientCall = "turn.client_tool_call"
	StreamApproval   = "turn.approval_requested"
	StreamDone       = "turn.done"
)

// StreamEvent is a piece of a turn that is taken without a socket.
type StreamEvent struct {
	Type string
	// ID names the event for [Service.Follow]; it says what of the turn has come with it.
	ID     string
	TurnID sessions.TurnID
	// Delta is the next piece of the answer (turn.delta); all of them make its text.
	Delta string
	// ToolCall is a call that has its result (turn.tool_call), or one that the caller is to run
	// (turn.client_tool_call).
	ToolCall *sessions.ToolCall
	// Approval is a call that waits for somebody's word (turn.approval_requested).
	Approval *sessions.Approval
	// Turn is the whole turn, recorded (turn.done).
	Turn *sessions.Turn
}

// TurnParams is what a caller without a socket says.
type TurnParams struct {
	// Text has 1 to 32,000 characters; it may be empty beside Outputs.
	Text string
	// ClientTools are tools that the caller runs itself, offered for this answer; at most 128.
	ClientTools []model.Tool
	// Outputs are results of calls that the session's clients were asked to make; Respond and the
	// items' ids are not read.
	Outputs []ToolOutput

	// asked is when the caller came.
	asked time.Time
}

func (p TurnParams) check() error {
	if !IsSayable(p.Text) && (p.Text != "" || len(p.Outputs) == 0) {
		return ErrTextLength()
	}
	if len(p.ClientTools) > maxClientTools {
		return fault.InvalidField("client_tools", "max_items", "At most %d client tools can be offered.", maxClientTools)
	}
	for i, tool := range p.ClientTools {
		if tool.Name == "" || !sessions.IsStorable(tool.Name) {
			return fault.InvalidField("client_tools["+strconv.Itoa(i)+"].name", "required", "A client tool needs a name.")
		}
		if slices.ContainsFunc(p.ClientTools[:i], func(other model.Tool) bool { return other.Name == tool.Name }) {
			return fault.InvalidField("client_tools["+strconv.Itoa(i)+"].name", "taken", "There are two client tools with the name %q.", tool.Name)
		}
	}
	for i, output := range p.Outputs {
		field := "tool_outputs[" + strconv.Itoa(i) + "]."
		if output.CallID == "" || !sessions.IsStorable(output.CallID) || len(output.CallID) > MaxItemIDBytes {
			return fault.InvalidField(field+"call_id", "length", "call_id is the id of one of client_tool_calls.")
		}
		if len(output.Output) > MaxClientOutputBytes || !sessions.IsStorable(output.Output) {
			return fault.InvalidField(field+"output", "length", "output is text of at most %d bytes, without the character U+0000. Send less.", MaxClientOutputBytes)
		}
	}
	return nil
}

// said is the text as it is stored.
func (p TurnParams) said() []sessions.Message {
	if p.Text == "" {
		return nil
	}
	return []sessions.Message{{Role: sessions.RoleUser, ItemID: idgen.New(idgen.Item), Text: p.Text}}
}

// results are the outputs as they are stored.
func (p TurnParams) results() []sessions.Message {
	var said []sessions.Message
	for _, output := range p.Outputs {
		m := sessions.Message{Role: sessions.RoleTool, ItemID: idgen.New(idgen.Item), CallID: output.CallID, Text: tools.CutForModel(output.Output), Result: &sessions.CallResult{}}
		if output.IsError {
			m.Result.ErrorCode, m.Result.ErrorMessage = CodeClient, ClientToolFailed
			m.Text = sessions.ErrorText(CodeClient, ClientToolFailed+" "+m.Text)
		}
		said = append(said, m)
	}
	return said
}

// IsSayable says whether a user can have said the text: something, and not too much.
func IsSayable(text string) bool {
	return strings.TrimSpace(text) != "" && utf8.RuneCountInString(text) <= sessions.MaxTextChars && sessions.IsStorable(text)
}

func ErrTextLength() *fault.Error {
	return fault.InvalidField("text", "length", "text must have 1 to %d characters, not only spaces, and cannot have the character U+0000.", sessions.MaxTextChars)
}

// Turn is [Service.Say] with nothing but a text.
func (s *Service) Turn(ctx context.Context, p workspaces.Principal, id sessions.ID, text string, emit func(StreamEvent) error) (sessions.Turn, error) {
	return s.Say(ctx, p, id, TurnParams{Text: text}, emit)
}

// Say says something to the agent and returns its recorded answer. A pending session begins with
// it; while another turn of the session runs, on any node, it waits. When ctx ends, or emit (nil:
// nobody listens) fails, the answer is stopped and what was said of it recorded as cancelled. A
// turn that Cancel stopped is no error: its status says so.
//
// Errors: NotFound, Invalid invalid-request, Precondition session-closed, Upstream upstream-failed
// (the turn is recorded as failed; the session goes on), RateLimited rate-limited (too many wait),
// Unavailable unavailable, Canceled canceled.
func (s *Service) Say(ctx context.Context, p workspaces.Principal, id sessions.ID, params TurnParams, emit func(StreamEvent) error) (sessions.Turn, error) {
	params.asked = s.sessions.Now()
	session, err := s.sayTo(ctx, p, id, params)
	if err != nil {
		return sessions.Turn{}, err
	}
	leave, err := s.queueTurn(ctx, session)
	if err != nil {
		return sessions.Turn{}, err
	}
	defer leave()
	if emit == nil {
		emit = func(StreamEvent) error { return nil }
	}
	return s.say(ctx, session, params, emit)
}

// sayTo is the session that is spoken to, if it can be.
func (s *Service) sayTo(ctx context.Context, p workspaces.Principal, id sessions.ID, params TurnParams) (sessions.Session, error) {
	if err := params.check(); err != nil {
		return sessions.Session{}, err
	}
	session, err := s.sessions.Get(ctx, p, id)
	if err != nil {
		return sessions.Session{}, err
	}
	return session, sessions.CheckOpen(session)
}

// say takes the turn.
func (s *Service) say(ctx context.Context, session sessions.Session, params TurnParams, emit func(StreamEvent) error) (sessions.Turn, error) {
	stream := &turnStream{emit: emit}
	start := Start{
		Session: session, Turn: sessions.TurnID(idgen.In(ctx, idgen.Turn)), Said: params.said(), outputs: params.results(),
		answered: &[]tools.ClientCall{}, offered: offerOf(params.ClientTools), Asked: params.asked,
	}
	r := &Runner{
		S: s, Start: start, ResponseID: idgen.New(idgen.Response), Options: Options{ClientTools: params.ClientTools}, Approvals: NewApprovals(), Emit: stream.take,
	}
	defer func() { s.dropOffer(ctx, session, r.Start) }()
	went := r.Run(ctx)
	if errors.Is(went.Err, ErrExists) { // see idgen.In
		made, err := sessions.FindTurn(ctx, s.db, session, r.Start.Turn)
		if err != nil {
			return made, err
		}
		if made.Status == sessions.TurnCompleted {
			stream.turn = made.ID
			return made, stream.send(StreamEvent{Type: StreamDone, Turn: &made})
		}
		if made.Status == sessions.TurnInProgress { // its node was lost
			turn, err := s.sayAgain(ctx, session, made.ID, params, emit)
			if !errors.Is(err, ErrTaken) {
				return turn, err
			}
		}
		r.Start.Turn = sessions.TurnID(idgen.New(idgen.Turn)) // this is another try
		went = r.Run(ctx)
	}
	return s.said(ctx, stream, went, *start.answered)
}

// said ends a turn without a socket, whose last event it sends.
func (s *Service) said(ctx context.Context, stream *turnStream, went Outcome, answered []tools.ClientCall) (sessions.Turn, error) {
	s.tellEngine(went.Turn)
	if went.Turn.SessionID != "" && s.tools != nil {
		for _, call := range answered {
			s.tools.TraceClient(context.WithoutCancel(ctx), call)
		}
	}
	if err := went.Err; err != nil && (!went.stopped || ctx.Err() != nil) {
		return went.Turn, err
	}
	if err := stream.send(StreamEvent{Type: StreamDone, Turn: &went.Turn}); err != nil {
		return went.Turn, goneError{err} // recorded all the same
	}
	return went.Turn, nil
}

// turnStream turns the core's events into those of a turn without a socket.
type turnStream struct {
	emit  func(StreamEvent) error
	turn  sessions.TurnID
	place place
	said  bool // a message is out: the next one stands apart from it
	apart bool
}

func (t *turnStream) send(e StreamEvent) error {
	t.place.pass(e)
	e.TurnID, e.ID = t.turn, t.place.id(t.turn)
	if e.Approval != nil {
		e.Approval.TurnID = t.turn
	}
	return t.emit(e)
}

func (t *turnStream) take(e Event) error {
	switch e := e.(type) {
	case ResponseStarted:
		t.turn = e.TurnID
		return t.send(StreamEvent{Type: StreamStarted})
	case MessageStarted:
		t.apart = t.said
	case TextDelta:
		delta := e.Text
		if t.apart {
			delta = sessions.BetweenMessages + delta
		}
		t.said, t.apart = true, false
		return t.send(StreamEvent{Type: StreamDelta, Delta: delta})
	case ToolDone:
		call := &sessions.ToolCall{CallResult: e.Result, ID: e.CallID, Name: e.Name, Arguments: e.Arguments, Output: e.Output, Settled: true}
		return t.send(StreamEvent{Type: StreamToolCall, ToolCall: call})
	case ApprovalRequested:
		return t.send(StreamEvent{Type: StreamApproval, Approval: &sessions.Approval{
			CallID: e.CallID, Name: e.Name, Arguments: e.Arguments, Status: sessions.ApprovalWaiting, CreatedAt: e.AskedAt, ExpiresAt: e.ExpiresAt,
		}})
	case ClientToolCalled:
		call := &sessions.ToolCall{ID: e.CallID, Name: e.Name, Arguments: e.Arguments, CallResult: sessions.CallResult{ToolID: tools.ClientPrefix + e.Name}}
		return t.send(StreamEvent{Type: StreamClientCall, ToolCall: call})
	}
	return nil
}

// place is how much of a turn's events somebody has: it is written into each event's id, so that
// what comes next can be told from the recorded turn alone.
type place struct {
	// events counts them, bytes those of the text, calls the calls with a result.
	events, bytes, calls int
	// losses are the turn's: after each, its events begin anew.
	losses int
}

func (p *place) pass(e StreamEvent) {
	p.events++
	p.bytes += len(e.Delta)
	if e.Type == StreamToolCall {
		p.calls++
	}
}

// id is turn_….<events>.<bytes>.<calls>, and .<losses> when there were any.
func (p place) id(turn sessions.TurnID) string {
	id := string(turn) + "." + strconv.Itoa(p.events) + "." + strconv.Itoa(p.bytes) + "." + strconv.Itoa(p.calls)
	if p.losses > 0 {
		id += "." + strconv.Itoa(p.losses)
	}
	return id
}

var errEventID = errors.New("not an event's id")

// TurnOfEvent is the turn that an event's id names. Errors: Invalid invalid-request.
func TurnOfEvent(id string) (sessions.TurnID, error) {
	turn, _, err := readPlace(id)
	if err != nil {
		return "", fault.InvalidField("last_event_id", "format", "Give the id of an event of a turn as it came; %q is none.", id)
	}
	return turn, nil
}

func readPlace(id string) (turn sessions.TurnID, p place, err error) {
	parts := strings.Split(id, ".")
	if len(parts) < 4 || len(parts) > 5 || !idgen.Valid(idgen.Turn, parts[0]) {
		return "", place{}, errEventID
	}
	for i, into := range []*int{&p.events, &p.bytes, &p.calls, &p.losses}[:len(parts)-1] {
		if *into, err = strconv.Atoi(parts[i+1]); err != nil || *into < 0 {
			return "", place{}, errEventID
		}
	}
	return sessions.TurnID(parts[0]), p, nil
}
