package openai

import (
	"errors"
	"slices"

	"parlance.dev/parlance/conversation"
)

// openResponse is the response that is going out.
type openResponse struct {
	id       string
	metadata map[string]string
	// output are the items by output_index, each in its newest form.
	output []any
	// at is an item's output_index.
	at map[string]int
}

// add gives an item the next output_index.
func (r *openResponse) add(itemID string, item any) int {
	r.at[itemID] = len(r.output)
	r.output = append(r.output, item)
	return r.at[itemID]
}

// Event takes an event of the core. Closed is the socket's business and ignored.
func (d *Dialect) Event(e conversation.Event) Step {
	switch e := e.(type) {
	case conversation.ItemAdded:
		d.sendWhole(e.Item, e.PreviousItemID)
	case conversation.ResponseStarted:
		d.startResponse(e)
	case conversation.ResponseDone:
		d.finishResponse(e)
	case conversation.Configured:
		d.session, d.tools = e.Session, e.ClientTools
		d.send(&sessionEvent{head{Type: "session.updated"}, effective(d.session, d.audio, d.tools)})
	case conversation.ItemRemoved:
		d.dropItem(e)
	case conversation.ItemTruncated:
		d.cutItem(e)
	case conversation.Failed:
		d.failed(e)
	default:
		d.content(e)
	}
	return d.take()
}

// content takes the events within a response; there is none of them outside one.
func (d *Dialect) content(e conversation.Event) {
	if d.response == nil {
		return
	}
	switch e := e.(type) {
	case conversation.MessageStarted:
		d.startMessage(e)
	case conversation.TextDelta:
		d.send(&deltaEvent{head{Type: "response.output_text.delta"}, d.place(e.ItemID), e.Text})
	case conversation.MessageDone:
		d.finishMessage(e)
	case conversation.ToolStarted:
		item := startedCall(e.ItemID, e.Name)
		d.items.put(e.ItemID, item)
		index := d.response.add(e.ItemID, item)
		d.send(&outputItemEvent{head{Type: "response.output_item.added"}, d.response.id, index, item})
	case conversation.ToolDone:
		d.finishTool(e)
	case conversation.ApprovalRequested:
		d.askApproval(e)
	case conversation.ClientToolCalled:
		d.callClient(e)
	}
}

// sendWhole tells of an item outside a response. For an mcp_call there is no
// conversation.item.done: it makes the agents SDK send a response.create of its own.
func (d *Dialect) sendWhole(one conversation.Item, previous string) {
	item := wireItem(one)
	d.items.insert(one.ID, previous, item)
	d.whole = one.ID
	d.send(&itemEvent{head{Type: "conversation.item.added"}, optional(previous), item})
	if one.Kind != conversation.ToolItem {
		d.send(&itemEvent{head{Type: "conversation.item.done"}, optional(previous), item})
	}
}

func (d *Dialect) startResponse(e conversation.ResponseStarted) {
	d.response = &openResponse{id: e.ResponseID, metadata: d.metadata[e.CommandID], at: map[string]int{}}
	delete(d.metadata, e.CommandID)
	started := d.newResponse(statusInProgress)
	d.send(&responseEvent{head{Type: "response.created"}, started})
}

// newResponse is the open response in its wire form, without usage.
func (d *Dialect) newResponse(status string) response {
	output := slices.Clone(d.response.output)
	if output == nil {
		output = []any{}
	}
	return response{
		ID: d.response.id, Object: "realtime.response", Status: status, Output: output, OutputModalities: textOnly(),
		ConversationID: string(d.session.ID), MaxOutputTokens: maxOutputTokens(d.session), Metadata: d.response.metadata,
		Audio: responseAudio{Output: responseOutput{Format: d.audio.output, Voice: voiceName(d.session)}},
	}
}

func (d *Dialect) place(itemID string) place {
	return place{ResponseID: d.response.id, ItemID: itemID, OutputIndex: d.response.at[itemID]}
}

func (d *Dialect) startMessage(e conversation.MessageStarted) {
	item := emptyAgentMessage(e.ItemID)
	previous := optional(d.items.last())
	d.items.put(e.ItemID, item)
	index := d.response.add(e.ItemID, item)
	d.send(&outputItemEvent{head{Type: "response.output_item.added"}, d.response.id, index, item})
	d.send(&itemEvent{head{Type: "conversation.item.added"}, previous, item})
	d.send(&partEvent{head{Type: "response.content_part.added"}, d.place(e.ItemID), part{Type: "text"}})
}

func (d *Dialect) finishMessage(e conversation.MessageDone) {
	if _, known := d.response.at[e.ItemID]; !known {
		return // the contract has a MessageStarted for each
	}
	status := statusCompleted
	if e.Cut {
		status = statusIncomplete
	}
	item := agentMessage(e.ItemID, e.Text, status, nil)
	previous := d.previous(e.ItemID)
	d.items.put(e.ItemID, item)
	at := d.place(e.ItemID)
	d.response.output[at.OutputIndex] = item
	d.send(&textEvent{head{Type: "response.output_text.done"}, at, e.Text})
	d.send(&partEvent{head{Type: "response.content_part.done"}, at, part{Type: "text", Text: e.Text}})
	d.whole = e.ItemID
	d.send(&itemEvent{head{Type: "conversation.item.done"}, previous, item})
	d.send(&outputItemEvent{head{Type: "response.output_item.done"}, d.response.id, at.OutputIndex, item})
}

func (d *Dialect) dropItem(e conversation.ItemRemoved) {
	d.items.drop(e.ItemID)
	if d.whole == e.ItemID {
		d.whole = d.items.last()
	}
	d.send(&deletedEvent{head{Type: "conversation.item.deleted"}, e.ItemID})
}

func (d *Dialect) cutItem(e conversation.ItemTruncated) {
	if _, known := d.items.byID[e.ItemID]; known {
		d.items.put(e.ItemID, wireItem(conversation.Item{ID: e.ItemID, Kind: conversation.AssistantItem, Text: e.Text, Audio: &conversation.Audio{Transcribed: true}}))
	}
	d.send(&truncatedEvent{head{Type: "conversation.item.truncated"}, e.ItemID, 0, e.AudioEndMS})
}

// previous is the item before one that is known; nil for the first.
func (d *Dialect) previous(itemID string) *string {
	if at := slices.Index(d.items.order, itemID); at > 0 {
		return &d.items.order[at-1]
	}
	return nil
}

// finishTool tells of a result inside the response, and never by conversation.item.done or
// response.mcp_call.in_progress: the agents SDK would ask for a response or for the item.
func (d *Dialect) finishTool(e conversation.ToolDone) {
	item := finishedCall(e.ItemID, e.Name, e.Arguments, e.Output, e.Failed)
	index, known := d.response.at[e.ItemID]
	if !known {
		return // the contract has a ToolStarted for each
	}
	d.items.put(e.ItemID, item)
	d.response.output[index] = item
	d.whole = e.ItemID
	d.send(&outputItemEvent{head{Type: "response.output_item.done"}, d.response.id, index, item})
	outcome := "response.mcp_call.completed"
	if e.Failed {
		outcome = "response.mcp_call.failed"
	}
	d.send(&mcpEvent{head{Type: outcome}, e.ItemID, index})
}

// askApproval asks whether a call may be made; conversation.item.done is what makes the SDK ask its user.
func (d *Dialect) askApproval(e conversation.ApprovalRequested) {
	item := approvalRequestItem{ID: e.RequestID, Object: realtimeItem, Type: "mcp_approval_request", ServerLabel: serverLabel, Name: e.Name, Arguments: rawText(e.Arguments)}
	previous := optional(d.items.last())
	d.items.put(e.RequestID, item)
	index := d.response.add(e.RequestID, item)
	d.send(&outputItemEvent{head{Type: "response.output_item.added"}, d.response.id, index, item})
	d.send(&itemEvent{head{Type: "conversation.item.added"}, previous, item})
	d.send(&itemEvent{head{Type: "conversation.item.done"}, previous, item})
	d.send(&outputItemEvent{head{Type: "response.output_item.done"}, d.response.id, index, item})
}

// callClient asks the client to run a tool; response.output_item.done is what makes the SDK do it.
func (d *Dialect) callClient(e conversation.ClientToolCalled) {
	arguments := rawText(e.Arguments)
	opened := functionCall(e.ItemID, e.CallID, e.Name, nil, statusInProgress)
	called := functionCall(e.ItemID, e.CallID, e.Name, []byte(arguments), statusCompleted)
	previous := optional(d.items.last())
	d.items.put(e.ItemID, called)
	index := d.response.add(e.ItemID, called)
	d.send(&outputItemEvent{head{Type: "response.output_item.added"}, d.response.id, index, opened})
	d.send(&itemEvent{head{Type: "conversation.item.added"}, previous, opened})
	d.send(&argumentsEvent{head: head{Type: "response.function_call_arguments.delta"}, ResponseID: d.response.id, ItemID: e.ItemID, OutputIndex: index, CallID: e.CallID, Delta: &arguments})
	d.send(&argumentsEvent{head: head{Type: "response.function_call_arguments.done"}, ResponseID: d.response.id, ItemID: e.ItemID, OutputIndex: index, CallID: e.CallID, Arguments: &arguments, Name: e.Name})
	d.whole = e.ItemID
	d.send(&itemEvent{head{Type: "conversation.item.done"}, previous, called})
	d.send(&outputItemEvent{head{Type: "response.output_item.done"}, d.response.id, index, called})
}

// finishResponse closes the response. Citations go twice: as our own event, whole, and in the
// response's metadata, whose values are strings, for clients that only see what the protocol knows.
func (d *Dialect) finishResponse(e conversation.ResponseDone) {
	if d.response == nil {
		return
	}
	done := d.newResponse(string(e.Status))
	done.Usage = &usage{
		TotalTokens: e.Usage.InputTokens + e.Usage.OutputTokens, InputTokens: e.Usage.InputTokens, OutputTokens: e.Usage.OutputTokens,
		InputTokenDetails: tokenDetails{TextTokens: e.Usage.InputTokens}, OutputTokenDetails: tokenDetails{TextTokens: e.Usage.OutputTokens},
	}
	switch e.Status {
	case conversation.ResponseCancelled:
		done.StatusDetails = &statusDetails{Type: "cancelled", Reason: "client_cancelled"}
	case conversation.ResponseFailed:
		failure := &statusError{Type: "server_error"}
		if e.Err != nil {
			failure.Code, failure.Message = string(e.Err.Reason), e.Err.Message
		}
		done.StatusDetails = &statusDetails{Type: "failed", Error: failure}
	case conversation.ResponseCompleted:
	}
	if len(e.Citations) > 0 {
		d.cite(&done, e)
	}
	d.response = nil
	d.send(&responseEvent{head{Type: "response.done"}, done})
}

// citationsKey is the metadata that holds a response's citations as JSON.
const citationsKey = "parlance_citations"

func (d *Dialect) cite(done *response, e conversation.ResponseDone) {
	encoded, err := encode(e.Citations)
	if err != nil {
		d.step.Err = err
		return
	}
	metadata := map[string]string{citationsKey: string(encoded)}
	for key, value := range done.Metadata {
		metadata[key] = value
	}
	done.Metadata = metadata
	d.send(&citationsEvent{head{Type: "parlance.citations"}, e.ResponseID, e.Citations})
}

// refusals are decisions of the core that the protocol has words for.
var refusals = []struct {
	cause                error
	code, message, param string
}{
	{conversation.ErrNothingToCancel, "response_cancel_not_active", "There is no response going out to cancel.", ""},
	{conversation.ErrNoPlace, "item_create_invalid_previous_item_id", "There is no item with the id that previous_item_id names.", "previous_item_id"},
	{conversation.ErrItemTaken, "item_create_duplicate_id", "There is an item with that id already.", "item.id"},
	{conversation.ErrNothingToRemove, "item_delete_invalid_item_id", "There is no item with that id.", "item_id"},
	{conversation.ErrNothingToTruncate, "item_truncate_invalid_item_id", "There is no item with that id.", "item_id"},
}

func (d *Dialect) failed(e conversation.Failed) {
	delete(d.metadata, e.CommandID)
	if e.Err == nil {
		return
	}
	for _, known := range refusals {
		if errors.Is(e.Err, known.cause) {
			d.refuse(e.CommandID, &refusal{code: known.code, message: known.message, param: known.param})
			return
		}
	}
	if fields := e.Err.Fields; len(fields) > 0 && slices.Contains([]string{"not_audio", "range"}, fields[0].Code) {
		d.refuse(e.CommandID, invalid(fields[0].Field, fields[0].Message))
		return
	}
	d.fail(e.CommandID, e.Err)
}
