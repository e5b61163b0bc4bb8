package convai

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
)

// openResponse is the answer that is going out.
type openResponse struct {
	turn int
	// messages counts the agent's messages so far; parts are sent when there was one.
	messages int
	// sent is what the client has of the text.
	sent strings.Builder
	// farewell is the result of end_call. The SDK hangs up when it sees it, so it comes last.
	farewell *turns.ToolDone
}

// betweenMessages stands between the messages of one answer, as in its transcript.
const betweenMessages = "\n\n"

// toolEndCall makes the SDK close the connection.
const toolEndCall = "end_call"

// Event takes an event of the core.
func (d *Dialect) Event(e turns.Event) dialect.Step {
	switch e := e.(type) {
	case live.ItemAdded:
		if !d.holdBack(e.Item) {
			d.added(e.Item)
		}
	case turns.ResponseStarted:
		d.tellLater() // should the answer before have had no end
		d.response = &openResponse{turn: e.TurnIndex}
		d.typing(d.event(), true)
	case turns.ResponseDone:
		d.finish(e)
	case live.AnswerEnded:
		d.endAnswer(e)
	case live.Configured:
		d.configured(e)
	case live.Failed:
		d.failed(e)
	default:
		if d.response != nil {
			d.content(e)
		}
	}
	return d.take()
}

// content takes the events within an answer.
func (d *Dialect) content(e turns.Event) {
	switch e := e.(type) {
	case turns.MessageStarted:
		if d.response.messages++; d.response.messages == 1 {
			d.part("start", "")
		} else {
			d.part("delta", betweenMessages)
		}
	case turns.TextDelta:
		d.part("delta", e.Text)
	case turns.ToolStarted:
		d.startTool(e)
	case turns.ToolDone:
		d.finishTool(e)
	case turns.ApprovalRequested:
		d.askApproval(e)
	case turns.ClientToolCalled:
		d.send(d.event(), "client_tool_call", &clientToolEvent{Call: clientToolCall{
			Name: e.Name, CallID: e.CallID, Parameters: object(e.Arguments), EventID: d.event(),
		}})
	default: // MessageDone: its text went out in deltas
	}
}

// event is the id of what the agent says and does now.
func (d *Dialect) event() int { return agentEvent(d.response.turn) }

func (d *Dialect) part(kind, text string) {
	d.response.sent.WriteString(text)
	d.send(d.event(), "agent_chat_response_part", &partEvent{Part: part{Type: kind, Text: text, EventID: d.event()}})
}

// added tells of an item outside an answer: what the user said here, or of a turn that this socket
// did not ask for. Calls of such turns, and results, the protocol has no event for.
func (d *Dialect) added(item sessions.Item) {
	switch item.Kind {
	case sessions.UserItem:
		d.tellUser(item)
	case sessions.AssistantItem:
		d.tellAgent(item)
	default:
	}
}

// maxLater bounds what is held back.
const maxLater = 64

// holdBack keeps what was said of a turn behind the answer that is going out, and says that it did. It is told when
// that has its end, for event_id only grows, and a client shows what comes in the order in which it comes.
func (d *Dialect) holdBack(item sessions.Item) bool {
	if d.response == nil || item.TurnIndex <= d.response.turn || item.Kind != sessions.UserItem && item.Kind != sessions.AssistantItem {
		return false
	}
	if slices.ContainsFunc(d.later, func(one sessions.Item) bool { return one.ID == item.ID }) {
		return true
	}
	if len(d.later) >= maxLater {
		return false
	}
	d.later = append(d.later, item)
	return true
}

// tellLater tells what was said while an answer was going out.
func (d *Dialect) tellLater() {
	for _, item := range d.later {
		d.added(item)
	}
	d.later = nil
}

func (d *Dialect) tellUser(item sessions.Item) {
	id := userEvent(item.TurnIndex)
	d.send(id, "user_transcript", &userTranscriptEvent{Said: userTranscript{Text: item.Text, EventID: id}})
}

func (d *Dialect) tellAgent(item sessions.Item) {
	d.tellAnswer(agentEvent(item.TurnIndex), item.Text, nil)
}

// tellAnswer tells a whole answer.
func (d *Dialect) tellAnswer(id int, text string, citations []sessions.Citation) {
	said := agentResponse{Text: text, EventID: id}
	if len(citations) > 0 {
		said.Citations = citations
	}
	d.send(id, "agent_response", &agentResponseEvent{Said: said})
}

// finish closes an answer: its whole text once, what became of it when it was broken off, what was said meanwhile,
// and at the very end what makes the client hang up.
func (d *Dialect) finish(e turns.ResponseDone) {
	if d.response == nil {
		return
	}
	id, sent := d.event(), d.response.sent.String()
	if d.response.messages > 0 {
		d.part("stop", "")
	}
	if sent != "" {
		d.tellAnswer(id, sent, e.Citations)
	}
	switch e.Status {
	case turns.ResponseCancelled:
		d.interrupted(sent, e.Text)
	case turns.ResponseFailed:
		d.tellFailure(e)
	default:
	}
	d.typing(id, false)
	d.tellLater()
	if d.response.farewell != nil {
		d.tellTool(*d.response.farewell)
	}
	d.response = nil
}

// interrupted tells that an answer was broken off, and what of it stands. The interruption has the event id of what
// the user said then, which is still to come, and a frame of the answer's.
func (d *Dialect) interrupted(sent, kept string) {
	id := d.event()
	d.send(id, "interruption", &interruptionEvent{Interruption: interruption{EventID: userEvent(d.response.turn + 1)}})
	if sent != "" {
		d.send(id, "agent_response_correction", &correctionEvent{Said: correction{Original: sent, Corrected: kept, EventID: id}})
	}
}

func (d *Dialect) tellFailure(e turns.ResponseDone) {
	failure := wireError{Code: codeInternal, Type: typeModel, Message: "The agent could not answer. Try again."}
	if e.Err != nil {
		failure.Message, failure.Details.Code = e.Err.Message, string(e.Err.Reason)
	}
	d.send(d.event(), "error", &errorEvent{Error: failure})
}

// typing says whether the agent is about to answer. It opens and closes every answer, one without
// words too. id is the answer's.
func (d *Dialect) typing(id int, is bool) {
	d.send(id, "agent_typing", &typingEvent{Typing: typing{Is: is}})
}

// startTool tells of a call that the service makes.
func (d *Dialect) startTool(e turns.ToolStarted) {
	if e.Kind == tools.KindMCP {
		d.tellMCP(e.CallID, e.Name, mcpCall{Parameters: object(e.Arguments), State: "loading"})
		return
	}
	d.send(d.event(), "agent_tool_request", &toolRequestEvent{Request: toolRequest{
		Name: e.Name, CallID: e.CallID, Type: toolType(e.Kind, e.System), EventID: d.event(),
	}})
}

// toolType is the protocol's word for where a tool comes from; builtin is ours.
func toolType(kind tools.Kind, system bool) string {
	switch {
	case system:
		return "system"
	case kind == tools.KindHTTP:
		return "webhook"
	case kind == tools.KindMCP:
		return "mcp"
	}
	return "builtin"
}

func (d *Dialect) tellMCP(callID, name string, call mcpCall) {
	call.CallID, call.Name, call.Timestamp = callID, name, d.now().UTC().Format(time.RFC3339Nano)
	call.ServiceID, _, _ = strings.Cut(name, "__") // the tool's slug, which stands for its server
	d.send(d.event(), "mcp_tool_call", &mcpEvent{Call: call})
}

// askApproval asks the client whether a call may be made. The protocol has this for MCP tools; ours
// of other kinds are asked for in the same way.
func (d *Dialect) askApproval(e turns.ApprovalRequested) {
	d.asked[e.CallID] = e.RequestID
	seconds := int(e.Timeout / time.Second)
	d.tellMCP(e.CallID, e.Name, mcpCall{Parameters: object(e.Arguments), State: "awaiting_approval", ApprovalSeconds: &seconds})
}

// finishTool tells of a result.
func (d *Dialect) finishTool(e turns.ToolDone) {
	_, asked := d.asked[e.CallID]
	delete(d.asked, e.CallID)
	if asked || e.Kind == tools.KindMCP {
		done := mcpCall{Parameters: object(e.Arguments), State: "success", Result: []mcpResult{{Type: "text", Text: e.Output}}}
		if e.Failed {
			done = mcpCall{Parameters: done.Parameters, State: "failure", ErrorMessage: &e.Output}
		}
		d.tellMCP(e.CallID, e.Name, done)
	}
	switch {
	case e.Kind == tools.KindMCP:
	case e.Name == toolEndCall && e.Failed: // the SDK would hang up all the same
	case e.Name == toolEndCall:
		d.response.farewell = &e
	default:
		d.tellTool(e)
	}
}

func (d *Dialect) tellTool(e turns.ToolDone) {
	done := toolResponse{
		Name: e.Name, CallID: e.CallID, Type: toolType(e.Kind, e.System), IsError: e.Failed,
		IsCalled: e.Result.Made(), EventID: d.event(),
	}
	d.send(d.event(), "agent_tool_response", &toolResponseEvent{Response: done})
	if d.wanted[fullPayload] {
		d.send(d.event(), fullPayload, &fullResponseEvent{Response: fullToolResponse{toolResponse: done, Result: e.Output}})
	}
}

// fullPayload is an event that comes only when it is asked for.
const fullPayload = "agent_tool_response_full_payload"

// coreFields are what fields of the core's commands are called in this protocol.
var coreFields = map[string]string{"call_id": "tool_call_id", "approval_request_id": "tool_call_id", "output": "result"}

// failed tells of a decision of the core on a command. That there was nothing to interrupt is none.
func (d *Dialect) failed(e live.Failed) {
	if e.Err == nil || (e.CommandID == commandInterrupt && errors.Is(e.Err, live.ErrNothingToCancel)) {
		return
	}
	failure := wireError{Code: codePolicy, Type: typeValue, Message: e.Err.Message, Details: errorDetails{Code: string(e.Err.Reason), Event: e.CommandID}}
	if e.Err.Kind().Status() >= 500 {
		failure.Code, failure.Type = codeInternal, typeUnknown
	}
	fields := make([]fault.Field, len(e.Err.Fields))
	for i, field := range e.Err.Fields {
		field.Field = cmp.Or(coreFields[field.Field], field.Field)
		fields[i] = field
		failure.Details.Fields = append(failure.Details.Fields, errorField{Field: field.Field, Code: field.Code, Message: field.Message})
	}
	if e.Err.Reason == fault.InvalidRequest && len(fields) > 0 {
		failure.Message = fault.InvalidFields(fields...).Message
	}
	d.send(0, "error", &errorEvent{Error: failure})
}
