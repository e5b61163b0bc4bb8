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
	"parlance.dev/parlance/voice"
)

// openResponse is an answer that has not ended.
type openResponse struct {
	turn int
	// messages counts the agent's messages so far. Parts of the answer are sent when there is one.
	messages int
	// sent is the text that the client has.
	sent strings.Builder
	// spoken is set when the answer is speech. Its whole text is sent before its sound has ended,
	// and isWritten is set then; isInterrupted when the client was told that it is not said to its
	// end.
	spoken, isWritten, isInterrupted bool
	// filler is the message that is said because the user waits: only its sound is sent.
	filler string
	// endCall is the result of the tool end_call, which is sent last, for the SDK hangs up when it
	// comes.
	endCall *turns.ToolDone
}

// isFiller reports whether a message is said because the user waits.
func (r *openResponse) isFiller(itemID string) bool { return itemID != "" && itemID == r.filler }

// messageSeparator is between the messages of one answer, as in its transcript.
const messageSeparator = "\n\n"

// toolEndCall makes the SDK close the connection.
const toolEndCall = "end_call"

// responseContent takes the events within an answer.
func (d *Dialect) responseContent(e turns.Event) {
	switch e := e.(type) {
	case turns.MessageStarted:
		if d.response.isFiller(e.ItemID) {
			return
		}
		if d.response.messages++; d.response.messages == 1 {
			d.sendPart("start", "")
		} else {
			d.sendPart("delta", messageSeparator)
		}
	case turns.TextDelta:
		if !d.response.isFiller(e.ItemID) {
			d.sendPart("delta", e.Text)
		}
	case turns.ZoneEntered:
		d.send(d.eventID(), "guardrail_triggered", guardrailTriggered{Guard: e.Guard, Action: e.Action, Side: e.Side, EventID: d.eventID()})
	case turns.ToolStarted:
		d.startTool(e)
	case turns.ToolDone:
		d.finishTool(e)
	case turns.ApprovalRequested:
		d.askApproval(e)
	case turns.ClientToolCalled:
		d.send(d.eventID(), "client_tool_call", clientToolCall{
			Name: e.Name, CallID: e.CallID, Parameters: objectOf(e.Arguments), EventID: d.eventID(),
		})
	default: // MessageDone: its text went out in deltas
		d.voiceContent(e)
	}
}

// voiceContent takes the events within an answer that is spoken.
func (d *Dialect) voiceContent(e turns.Event) {
	id := d.eventID()
	switch e := e.(type) {
	case voice.Audio:
		d.send(0, "audio", sound{Data: e.Data, EventID: id})
	case voice.Filler:
		d.response.filler = e.ItemID
	case voice.Written:
		d.response.isWritten = true
		if e.Text != "" {
			d.sendAnswer(id, e.Text, nil)
		}
	case voice.Interrupted:
		d.response.isInterrupted = true
		d.send(id, "interruption", interruption{EventID: userEventID(d.response.turn + 1)})
	}
}

// eventID is the id of the open answer's events.
func (d *Dialect) eventID() int { return agentEventID(d.response.turn) }

func (d *Dialect) sendPart(kind, text string) {
	d.response.sent.WriteString(text)
	d.send(d.eventID(), "agent_chat_response_part", part{Type: kind, Text: text, EventID: d.eventID()})
}

// sendItem sends an item outside an open answer: what the user said, or an item of a turn that
// this socket did not ask for. The protocol has no event for calls of such turns and their results.
func (d *Dialect) sendItem(item sessions.Item) {
	answer := agentEventID(item.TurnIndex)
	switch item.Kind {
	case sessions.UserItem:
		d.sendUserMessage(item)
		if !d.withOperator && (d.response == nil || d.eventID() < answer) {
			d.awaited = max(d.awaited, answer)
		}
	case sessions.AssistantItem:
		d.sendMessage(item)
		if d.awaited <= answer {
			d.stopAwaiting()
		}
	default:
	}
}

// maxHeldItems bounds what is held.
const maxHeldItems = 64

// holdItem holds a message of a turn behind the open answer, or a user's message behind an answer
// that is about to begin, and reports whether it did. Held messages are sent when the answer has
// ended: event_id must grow, and clients show messages in the order in which they arrive.
func (d *Dialect) holdItem(item sessions.Item) bool {
	unfinished, held := d.awaited, item.Kind == sessions.UserItem
	if d.response != nil {
		unfinished, held = d.eventID(), held || item.Kind == sessions.AssistantItem
	}
	if unfinished == 0 || userEventID(item.TurnIndex) < unfinished || !held {
		return false
	}
	hasID := func(held sessions.Item) bool { return held.ID == item.ID }
	if slices.ContainsFunc(d.heldItems, hasID) {
		return true
	}
	if len(d.heldItems) >= maxHeldItems {
		return false
	}
	d.heldItems = append(d.heldItems, item)
	return true
}

// beginResponse opens an answer. Messages that are held behind it stay so.
func (d *Dialect) beginResponse(e turns.ResponseStarted) {
	if d.response != nil || d.awaited < agentEventID(e.TurnIndex) { // the answer before had no end
		d.sendHeldItems()
	}
	d.response, d.awaited = &openResponse{turn: e.TurnIndex, spoken: e.Spoken}, 0
	d.turns = max(d.turns, e.TurnIndex+1)
	d.sendTyping(d.eventID(), typing{Is: true})
}

// stopAwaiting sends the messages that are held behind an answer that will not begin.
func (d *Dialect) stopAwaiting() {
	if d.response == nil {
		d.awaited = 0
		d.sendHeldItems()
	}
}

// sendHeldItems sends the messages that were held.
func (d *Dialect) sendHeldItems() {
	held := d.heldItems
	d.heldItems = nil
	for _, item := range held {
		d.sendItem(item)
	}
}

func (d *Dialect) sendUserMessage(item sessions.Item) {
	id := userEventID(item.TurnIndex)
	d.turns = max(d.turns, item.TurnIndex+1)
	d.send(id, "user_transcript", userTranscript{Text: item.Text, EventID: id})
}

// sendMessage sends a message of the agent, or of the person who has the conversation.
func (d *Dialect) sendMessage(item sessions.Item) {
	id := agentEventID(item.TurnIndex)
	d.send(id, "agent_response", agentResponse{Text: item.Text, EventID: id, Operator: item.Operator})
}

// handoverChanged says that a person was asked for, has the conversation, or has given it back.
func (d *Dialect) handoverChanged(e live.HandoverChanged) {
	d.withOperator = e.Status == sessions.HandoverOperator
	d.send(0, "parlance_handover", handoverState{Status: dialect.HandoverStatus(e), Operator: e.Operator})
	if d.withOperator {
		d.stopAwaiting()
	}
}

// sendAnswer sends a whole answer.
func (d *Dialect) sendAnswer(id int, text string, citations []sessions.Citation) {
	said := agentResponse{Text: text, EventID: id}
	if len(citations) > 0 {
		said.Citations = citations
	}
	d.send(id, "agent_response", said)
}

// finishResponse ends an answer: its whole text, how it was interrupted or failed, the held
// messages, and at the very end what makes the client hang up.
func (d *Dialect) finishResponse(e turns.ResponseDone) {
	if d.response == nil {
		return
	}
	id, sent := d.eventID(), d.response.sent.String()
	if d.response.messages > 0 {
		d.sendPart("stop", "")
	}
	if sent != "" && !d.response.isWritten {
		d.sendAnswer(id, sent, e.Citations)
	}
	switch e.Status {
	case turns.ResponseCancelled:
		d.sendInterruption(sent, e.Text)
	case turns.ResponseFailed:
		d.sendFailure(e)
	default:
	}
	d.sendTyping(id, typing{Is: false})
	d.sendHeldItems()
	if d.response.endCall != nil {
		d.sendToolResponse(*d.response.endCall)
	}
	d.response = nil
}

// sendInterruption sends the interruption of an answer, and the text of it that is kept. The
// interruption has the event id of the user's message that interrupted, which is still to come; its
// frame belongs to the answer.
func (d *Dialect) sendInterruption(sent, kept string) {
	id := d.eventID()
	if !d.response.isInterrupted {
		d.send(id, "interruption", interruption{EventID: userEventID(d.response.turn + 1)})
	}
	if sent != "" {
		d.send(id, "agent_response_correction", correction{Original: sent, Corrected: kept, EventID: id})
	}
}

func (d *Dialect) sendFailure(e turns.ResponseDone) {
	failure := wireError{
		Code: codeInternal, Type: typeModel, Message: "The agent could not answer. Try again.",
	}
	if e.Err != nil {
		failure.Message, failure.Details.Code = e.Err.Message, string(e.Err.Reason)
	}
	d.send(d.eventID(), "error", failure)
}

// sendTyping reports whether the agent is about to answer, at the beginning and the end of every
// answer, also of one without text. id is the answer's.
func (d *Dialect) sendTyping(id int, t typing) {
	d.send(id, "agent_typing", t)
}

// startTool sends a call that the service runs.
func (d *Dialect) startTool(e turns.ToolStarted) {
	if e.Kind == tools.KindMCP {
		d.sendMCPCall(e.CallID, e.Name, mcpCall{Parameters: objectOf(e.Arguments), State: "loading"})
		return
	}
	d.send(d.eventID(), "agent_tool_request", toolRequest{
		Name: e.Name, CallID: e.CallID, Type: toolType(e.Kind, e.System), EventID: d.eventID(),
	})
}

// toolType is the protocol's name for where a tool comes from; builtin is our own.
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

func (d *Dialect) sendMCPCall(callID, name string, call mcpCall) {
	call.CallID, call.Name = callID, name
	call.Timestamp = d.now().UTC().Format(time.RFC3339Nano)
	call.ServiceID, _, _ = strings.Cut(name, "__") // the tool's slug stands for its server
	d.send(d.eventID(), "mcp_tool_call", call)
}

// askApproval asks the client whether a call may be made. The protocol has this for MCP tools only;
// tools of other kinds are shown in the same way.
func (d *Dialect) askApproval(e turns.ApprovalRequested) {
	d.approvals[e.CallID] = e.RequestID
	seconds := int(e.Timeout / time.Second)
	d.sendMCPCall(e.CallID, e.Name, mcpCall{
		Parameters: objectOf(e.Arguments), State: "awaiting_approval", ApprovalSeconds: &seconds,
	})
}

// finishTool sends a result.
func (d *Dialect) finishTool(e turns.ToolDone) {
	_, asked := d.approvals[e.CallID]
	delete(d.approvals, e.CallID)
	if asked || e.Kind == tools.KindMCP {
		done := mcpCall{Parameters: objectOf(e.Arguments), State: "success"}
		if e.Failed {
			done.State, done.ErrorMessage = "failure", &e.Output
		} else {
			done.Result = []mcpResult{{Type: "text", Text: e.Output}}
		}
		d.sendMCPCall(e.CallID, e.Name, done)
	}
	switch {
	case e.Kind == tools.KindMCP:
	case e.Name == toolEndCall && e.Failed: // the SDK would hang up all the same
	case e.Name == toolEndCall:
		d.response.endCall = &e
	default:
		d.sendToolResponse(e)
	}
}

func (d *Dialect) sendToolResponse(e turns.ToolDone) {
	done := toolResponse{
		Name: e.Name, CallID: e.CallID, Type: toolType(e.Kind, e.System), IsError: e.Failed,
		IsCalled: e.Result.Made(), EventID: d.eventID(),
	}
	d.send(d.eventID(), "agent_tool_response", done)
	if d.enabled[fullPayload] {
		d.send(d.eventID(), fullPayload, fullToolResponse{toolResponse: done, Result: e.Output})
	}
}

// fullPayload is an event that is sent only to clients that ask for it.
const fullPayload = "agent_tool_response_full_payload"

// commandFields are the protocol's names of fields of the conversation's commands.
var commandFields = map[string]string{
	"call_id": "tool_call_id", "approval_request_id": "tool_call_id", "output": "result",
}

// failed sends the error of a command. An interruption with nothing to interrupt is no error.
func (d *Dialect) failed(e live.Failed) {
	nothingToInterrupt := e.CommandID == commandInterrupt && errors.Is(e.Err, live.ErrNothingToCancel)
	if e.Err == nil || nothingToInterrupt {
		return
	}
	failure := wireError{
		Code: codePolicy, Type: typeValue, Message: e.Err.Message,
		Details: errorDetails{Code: string(e.Err.Reason), Event: e.CommandID},
	}
	if e.Err.Reason == fault.STTNotConfigured {
		failure.Type = typeASR
	}
	if e.Err.Kind().Status() >= 500 {
		failure.Code, failure.Type = codeInternal, typeUnknown
	}
	fields := make([]fault.Field, len(e.Err.Fields))
	for i, field := range e.Err.Fields {
		field.Field = cmp.Or(commandFields[field.Field], field.Field)
		fields[i] = field
		failure.Details.Fields = append(failure.Details.Fields, errorField{
			Field: field.Field, Code: field.Code, Message: field.Message,
		})
	}
	if e.Err.Reason == fault.InvalidRequest && len(fields) > 0 {
		failure.Message = fault.InvalidFields(fields...).Message
	}
	d.send(0, "error", failure)
}

// guardrailTriggered says that the words of the user or the agent are in a no-go zone.
type guardrailTriggered struct {
	Guard   string `json:"guard"`
	Action  string `json:"action"`
	Side    string `json:"side"`
	EventID int    `json:"event_id"`
}
