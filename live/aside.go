package live

import (
	"context"
	"errors"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
)

// An answer out of band (Respond.OutOfBand) goes out beside the others and leaves nothing behind
// but its tokens in the session's usage: no turn, no items, no receipt. It may call the client's
// tools, whose results nobody waits for, and none of the agent's.

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
	r.Session, r.Aside = e.session, true
	e.s.workers.Go(func() {
		defer cancel(nil)
		e.send(asideDone{run: run, err: r.RunAside(ctx)}) // the engine stays while it is going out
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

// maxInput bounds the items that an answer is given in place of the conversation.
const maxInput = 256

// ErrNoReference is the cause of Failed for an InputItem that refers to no item.
var ErrNoReference = errors.New("no such item to refer to")

// ErrNoCall is the cause of Failed for an InputItem that is the result of a call which is not among
// the others.
var ErrNoCall = errors.New("no such call to answer")

// inputOf is what an answer is given in place of the conversation; nil when it is the conversation.
func (e *engine) inputOf(items []InputItem) ([]sessions.Message, error) {
	if items == nil {
		return nil, nil
	}
	if len(items) > maxInput {
		return nil, fault.InvalidField("input", "max_items", "input has at most %d items.", maxInput)
	}
	ctx, cancel := context.WithTimeout(e.s.live, sessions.WriteTimeout)
	defer cancel()
	input := []sessions.Message{}
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
func answersCalls(messages []sessions.Message) error {
	called := map[string]bool{}
	for _, m := range messages {
		for _, call := range m.Calls {
			called[call.ID] = true
		}
	}
	for _, m := range messages {
		if m.Role == sessions.RoleTool && !called[m.CallID] {
			return fault.Wrap(ErrNoCall, fault.InvalidRequest, "No call %q is among the input that a result of it is in.", m.CallID)
		}
	}
	return nil
}

func checkInput(item sessions.Item) *fault.Error {
	switch item.Kind {
	case sessions.ToolOutputItem:
		if len(item.Text) > turns.MaxClientOutputBytes || !sessions.IsStorable(item.Text) {
			return fault.InvalidField("output", "length", "output is text of at most %d bytes, without the character U+0000. Send less.", turns.MaxClientOutputBytes)
		}
	case sessions.ClientToolCallItem:
		_, err := insertedCall(Insert{Kind: item.Kind, CallID: item.CallID, Name: item.Name, Arguments: item.Arguments})
		return err
	case sessions.UserItem, sessions.AssistantItem, sessions.SystemItem:
		if !turns.IsSayable(item.Text) {
			return turns.ErrTextLength()
		}
	case sessions.ToolItem:
		return fault.InvalidField("input", "type", "Calls of the service's tools are referred to, not sent.")
	}
	return nil
}

// messagesOf is an item as messages of a model's request.
func messagesOf(item sessions.Item) []sessions.Message {
	call := sessions.MessageCall{ID: item.CallID, Name: item.Name, Arguments: item.Arguments, Client: true}
	switch item.Kind {
	case sessions.SystemItem:
		return []sessions.Message{{Role: sessions.RoleSystem, Text: item.Text}}
	case sessions.AssistantItem:
		return []sessions.Message{{Role: sessions.RoleAssistant, Text: item.Text}}
	case sessions.ClientToolCallItem:
		return []sessions.Message{{Role: sessions.RoleAssistant, Calls: []sessions.MessageCall{call}}}
	case sessions.ToolItem:
		return []sessions.Message{{Role: sessions.RoleAssistant, Calls: []sessions.MessageCall{call}}, {Role: sessions.RoleTool, CallID: item.CallID, Text: item.Text}}
	case sessions.ToolOutputItem:
		return []sessions.Message{{Role: sessions.RoleTool, CallID: item.CallID, Text: tools.CutForModel(item.Text)}}
	case sessions.UserItem:
	}
	return []sessions.Message{{Role: sessions.RoleUser, Text: item.Text, Audio: item.Audio}}
}
