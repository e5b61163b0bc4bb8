package conversation

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/tools"
)

// An answer out of band (Respond.OutOfBand) goes out beside the others and leaves nothing behind but its
// tokens in the session's usage: no turn, no items, no receipt. It may call the client's tools, whose results
// nobody waits for, and none of the agent's.

// maxAsides bounds the answers out of band that go out at once in a session.
const maxAsides = 4

// asideDone is the end of an answer out of band.
type asideDone struct {
	run *current
	err error
}

// respondAside begins an answer out of band.
func (e *engine) respondAside(wanted respond) {
	if len(e.asides) >= maxAsides {
		wanted.live.push(Failed{CommandID: wanted.command.CommandID, Err: fault.New(fault.RateLimitedReason, "%d answers out of band are going out already. Wait for one to be done.", maxAsides)})
		return
	}
	ctx, cancel := context.WithCancelCause(e.s.live)
	run := &current{live: wanted.live, commandID: wanted.command.CommandID, responseID: idgen.New(idgen.Response), aside: true, cancel: cancel}
	e.asides[run.responseID] = run
	r := e.runnerFor(wanted, run)
	r.session, r.aside = e.session, true
	e.s.workers.Go(func() {
		defer cancel(nil)
		e.send(asideDone{run: run, err: r.runAside(ctx)}) // the engine stays while it is going out
	})
}

// settleAside takes the end of an answer out of band.
func (e *engine) settleAside(m asideDone) {
	delete(e.asides, m.run.responseID)
	if !m.run.told && e.ending == nil { // it was never begun
		m.run.live.push(Failed{CommandID: m.run.commandID, Err: postgres.Decide(m.err)})
	}
	e.release(m.run.live)
	if e.ending != nil {
		e.close(*e.ending)
	}
}

// stopAsides stops the answers out of band, of one socket or (nil) of all.
func (e *engine) stopAsides(of *Live, cause error) {
	for _, run := range e.asides {
		if of == nil || run.live == of {
			run.cancel(cause)
		}
	}
}

// runAside takes an answer out of band. Its error is that of an answer which was never begun.
func (r *runner) runAside(ctx context.Context) error {
	ctx, span := r.trace(ctx)
	went := ran{session: r.session}
	defer func() { r.endTrace(span, went) }()
	config := r.session.Config
	session, err := selectSession(ctx, r.s.db, r.session.TenantID, r.session.ID, "")
	if err == nil {
		err = openError(session)
	}
	if err != nil {
		return err
	}
	note(ctx, session)
	session.Config = config
	r.session, r.begun = session, r.s.moment()
	r.making.asked = r.begun
	r.turn = newTurn(session, "", r.begun)
	err = r.tell(ResponseStarted{ResponseID: r.responseID, CommandID: r.commandID, OutOfBand: true})
	if err == nil {
		err = r.answerAside(ctx)
	}
	err = r.judge(ctx, err)
	r.s.count(ctx, r.session, r.turn.Usage())
	done := r.done(err)
	done.OutOfBand = true
	went.turn, went.err = Turn{InputTokens: r.turn.InputTokens, OutputTokens: r.turn.OutputTokens}, err
	_ = r.emit(done) // nobody may be left to hear it
	return nil
}

// answerAside asks the model once.
func (r *runner) answerAside(ctx context.Context) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("the answer panicked: %v\n%s", panicked, debug.Stack())
		}
	}()
	open, err := r.lookAside(ctx)
	if err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	r.earlier = append(r.earlier, open...)
	provider, err := r.s.models(ctx, r.session.Ref(), r.session.Config.Model)
	if err != nil {
		return upstream(err)
	}
	calls, err := r.speak(ctx, provider, r.request(true))
	if err != nil {
		return err
	}
	return r.callAside(calls)
}

// lookAside reads what is not answered yet, which the turns before do not have, and finds the question that
// passages are looked for with.
func (r *runner) lookAside(ctx context.Context) ([]Message, error) {
	seen := r.input
	var open []Message
	if r.input == nil {
		turns, err := selectOpenTurns(ctx, r.s.db, r.session)
		if err != nil {
			return nil, err
		}
		for _, turn := range turns {
			open = append(open, turn.Messages...)
		}
		seen = open
	}
	for _, m := range edited(seen, r.session.ItemEdits) {
		if m.Role == roleUser {
			r.turn.UserText = m.Text
		}
	}
	return open, nil
}

// callAside tells of the calls that the client is to make; there are no others.
func (r *runner) callAside(calls []model.ToolCall) error {
	for _, call := range calls {
		p := r.pending(call)
		if !p.call.Client {
			continue
		}
		r.turn.Messages = append(r.turn.Messages, Message{Role: roleAssistant, Calls: []MessageCall{p.call}})
		err := r.tell(ClientToolCalled{ResponseID: r.responseID, ItemID: p.call.ItemID, CallID: p.call.ID, Name: p.call.Name, Arguments: p.call.Arguments})
		if err != nil {
			return err
		}
	}
	return nil
}

// count adds to the session's usage what no turn has.
func (s *Service) count(ctx context.Context, session Session, usage Usage) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	_, err := s.db.NewUpdate().Model((*Session)(nil)).
		Set("input_tokens = s.input_tokens + ?", usage.InputTokens).Set("output_tokens = s.output_tokens + ?", usage.OutputTokens).
		Where("s.tenant_id = ?", session.TenantID).Where("s.id = ?", session.ID).Exec(ctx)
	if err != nil {
		s.log.ErrorContext(ctx, "tokens not counted", "session_id", session.ID, "input_tokens", usage.InputTokens, "output_tokens", usage.OutputTokens, "error", err)
	}
}

// selectOpenTurns reads the turns that are not finished: what was said and not answered, and the one that runs.
func selectOpenTurns(ctx context.Context, db bun.IDB, session Session) ([]Turn, error) {
	var turns []Turn
	err := db.NewSelect().Model(&turns).
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).
		Where("t.status = ?", TurnInProgress).OrderExpr("t.index").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading open turns: %w", err)
	}
	return turns, nil
}

// maxInput bounds the items that an answer is given in place of the conversation.
const maxInput = 256

// ErrNoReference is the cause of Failed for an InputItem that refers to no item.
var ErrNoReference = errors.New("no such item to refer to")

// ErrNoCall is the cause of Failed for an InputItem that is the result of a call which is not among the others.
var ErrNoCall = errors.New("no such call to answer")

// inputOf is what an answer is given in place of the conversation; nil when it is the conversation.
func (e *engine) inputOf(items []InputItem) ([]Message, error) {
	if items == nil {
		return nil, nil
	}
	if len(items) > maxInput {
		return nil, fault.InvalidField("input", "max_items", "input has at most %d items.", maxInput)
	}
	ctx, cancel := context.WithTimeout(e.s.live, writeTimeout)
	defer cancel()
	input := []Message{}
	for _, wanted := range items {
		item := wanted.Item
		if wanted.Reference != "" {
			found, ok, err := e.item(ctx, wanted.Reference)
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, fault.Wrap(ErrNoReference, fault.InvalidRequest, "There is no item with the id %q to refer to.", wanted.Reference)
			}
			item = found
		} else if refused := checkInput(item); refused != nil {
			return nil, refused
		}
		input = append(input, messagesOf(item)...)
	}
	return input, answersCalls(input)
}

// answersCalls refuses results whose calls are not there: a model is told of both or of neither.
func answersCalls(messages []Message) error {
	called := map[string]bool{}
	for _, m := range messages {
		for _, call := range m.Calls {
			called[call.ID] = true
		}
	}
	for _, m := range messages {
		if m.Role == roleTool && !called[m.CallID] {
			return fault.Wrap(ErrNoCall, fault.InvalidRequest, "No call %q is among the input that a result of it is in.", m.CallID)
		}
	}
	return nil
}

func checkInput(item Item) *fault.Error {
	switch item.Kind {
	case ToolOutputItem:
		if len(item.Text) > MaxClientOutputBytes || !storable(item.Text) {
			return fault.InvalidField("output", "length", "output is text of at most %d bytes, without the character U+0000. Send less.", MaxClientOutputBytes)
		}
	case ClientToolCallItem:
		_, err := insertedCall(Insert{Kind: item.Kind, CallID: item.CallID, Name: item.Name, Arguments: item.Arguments})
		return err
	case UserItem, AssistantItem, SystemItem:
		if !sayable(item.Text) {
			return errText()
		}
	case ToolItem:
		return fault.InvalidField("input", "type", "Calls of the service's tools are referred to, not sent.")
	}
	return nil
}

// messagesOf is an item as messages of a model's request.
func messagesOf(item Item) []Message {
	call := MessageCall{ID: item.CallID, Name: item.Name, Arguments: item.Arguments, Client: true}
	switch item.Kind {
	case SystemItem:
		return []Message{{Role: roleSystem, Text: item.Text}}
	case AssistantItem:
		return []Message{{Role: roleAssistant, Text: item.Text}}
	case ClientToolCallItem:
		return []Message{{Role: roleAssistant, Calls: []MessageCall{call}}}
	case ToolItem:
		return []Message{{Role: roleAssistant, Calls: []MessageCall{call}}, {Role: roleTool, CallID: item.CallID, Text: item.Text}}
	case ToolOutputItem:
		return []Message{{Role: roleTool, CallID: item.CallID, Text: tools.CutForModel(item.Text)}}
	case UserItem:
	}
	return []Message{{Role: roleUser, Text: item.Text, Audio: item.Audio}}
}
