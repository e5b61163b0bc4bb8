package requests

import (
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
)

// encoder turns the events of a turns.Runner into those of a request.
type encoder struct {
	sender
	// spoken says that a message has been sent, so that the next one is set apart from it; apart
	// that the next delta does so.
	spoken, apart bool
}

func (c *encoder) encode(e turns.Event) error {
	switch e := e.(type) {
	case turns.ResponseStarted:
		c.turn = e.TurnID
		return c.send(Event{Type: EventStarted})
	case turns.LeftToOperator:
		c.turn = e.TurnID
		return c.send(Event{Type: EventStarted})
	case turns.MessageStarted:
		c.apart = c.spoken
	case turns.TextDelta:
		delta := e.Text
		if c.apart {
			delta = sessions.BetweenMessages + delta
		}
		c.spoken, c.apart = true, false
		return c.send(Event{Type: EventDelta, Delta: delta})
	case turns.ToolDone:
		return c.send(Event{Type: EventToolCall, ToolCall: &sessions.ToolCall{
			CallResult: e.Result, ID: e.CallID, Name: e.Name, Arguments: e.Arguments, Output: e.Output, Settled: true,
		}})
	case turns.ApprovalRequested:
		return c.send(Event{Type: EventApproval, Approval: &sessions.Approval{
			CallID: e.CallID, Name: e.Name, Arguments: e.Arguments, Status: sessions.ApprovalWaiting,
			CreatedAt: e.AskedAt, ExpiresAt: e.ExpiresAt,
		}})
	case turns.ClientToolCalled:
		return c.send(Event{Type: EventClientCall, ToolCall: &sessions.ToolCall{
			ID: e.CallID, Name: e.Name, Arguments: e.Arguments, CallResult: sessions.CallResult{ToolID: tools.ClientPrefix + e.Name},
		}})
	}
	return nil
}

// replay sends what a lost turn has before it is resumed.
func (c *encoder) replay(turn sessions.Turn) error {
	if text := sessions.AgentText(turn.Messages); text != "" {
		c.spoken = true
		if err := c.send(Event{Type: EventDelta, Delta: text}); err != nil {
			return err
		}
	}
	for _, call := range turn.ToolCalls() {
		if !call.Settled {
			continue
		}
		if err := c.send(Event{Type: EventToolCall, ToolCall: &call}); err != nil {
			return err
		}
	}
	return nil
}
