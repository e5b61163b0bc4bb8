package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// openResponse is a response that is going out.
type openResponse struct {
	id string
	// aside says that it is out of band: its items are not the conversation's.
	aside bool
	asked asked
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
func (d *Dialect) Event(e turns.Event) Step {
	switch e := e.(type) {
	case live.ItemAdded:
		d.addItem(e)
	case turns.ResponseStarted:
		d.startResponse(e)
	case turns.ResponseDone:
		d.finishResponse(e)
	case live.AnswerEnded:
		d.endAnswer(e)
	case live.Configured:
		d.configured(e)
	case live.ItemRetrieved:
		d.send(&retrievedEvent{head{Type: "conversation.item.retrieved"}, wireItem(e.Item)})
	case live.ItemRemoved:
		d.dropItem(e)
	case live.ItemTruncated:
		d.cutItem(e)
	case live.Failed:
		d.failed(e)
	default:
		d.content(e)
	}
	return d.take()
}

// configured tells what is in force. What the agent does not allow is left out silently: SDKs send more than they
// mean. What is wrong in itself is an error beside it.
func (d *Dialect) configured(e live.Configured) {
	d.session, d.tools, d.maxTokens = e.Session, e.ClientTools, e.MaxOutputTokens
	for _, left := range e.Refused {
		switch {
		case left.Field == live.FieldToolChoice:
			d.audio.toolChoice = json.RawMessage(`"auto"`)
			d.refuse(e.CommandID, invalid("session.tool_choice", left.Message))
		case left.Field == turns.FieldTools:
			d.refuse(e.CommandID, invalid("session.tools", left.Message))
		case left.Code != string(fault.OverrideNotAllowed):
			d.refuse(e.CommandID, &refusal{code: "invalid_type", message: "The value of " + left.Field + " was left out: " + left.Message, param: "session." + cmp.Or(overridden[left.Field], left.Field)})
		}
	}
	d.send(&sessionEvent{head{Type: "session.updated"}, d.effective()})
}

// overridden are the members of a session that overrides of another name came from.
var overridden = map[string]string{"voice": "audio.output.voice"}

// content takes the events within a response; there is none of them outside one.
func (d *Dialect) content(e turns.Event) {
	switch e := e.(type) {
	case turns.MessageStarted:
		d.within(e.ResponseID, func(r *openResponse) { d.startMessage(r, e) })
	case turns.TextDelta:
		d.within(e.ResponseID, func(r *openResponse) {
			d.send(&deltaEvent{head{Type: "response.output_text.delta"}, r.place(e.ItemID), e.Text})
		})
	case turns.MessageDone:
		d.within(e.ResponseID, func(r *openResponse) { d.finishMessage(r, e) })
	case turns.ToolStarted:
		d.within(e.ResponseID, func(r *openResponse) {
			item := startedCall(e.ItemID, e.Name)
			d.items.put(e.ItemID, item)
			index := r.add(e.ItemID, item)
			d.send(&outputItemEvent{head{Type: "response.output_item.added"}, r.id, index, item})
		})
	case turns.ToolDone:
		d.within(e.ResponseID, func(r *openResponse) { d.finishTool(r, e) })
	case turns.ApprovalRequested:
		d.within(e.ResponseID, func(r *openResponse) { d.askApproval(r, e) })
	case turns.ClientToolCalled:
		d.within(e.ResponseID, func(r *openResponse) { d.callClient(r, e) })
	}
}

func (d *Dialect) within(responseID string, do func(*openResponse)) {
	if r := d.responses[responseID]; r != nil {
		do(r)
	}
}

// sendWhole tells of an item outside a response. For an mcp_call there is no
// conversation.item.done: it makes the agents SDK send a response.create of its own.
func (d *Dialect) sendWhole(one sessions.Item, previous string) {
	item := wireItem(one)
	d.items.insert(one.ID, previous, item)
	d.whole = one.ID
	d.send(&itemEvent{head{Type: "conversation.item.added"}, optional(previous), item})
	if one.Kind != sessions.ToolItem {
		d.send(&itemEvent{head{Type: "conversation.item.done"}, optional(previous), item})
	}
}

// addItem tells of an item. What was spoken was committed first, and is not transcribed.
func (d *Dialect) addItem(e live.ItemAdded) {
	spoken := e.Item.Kind == sessions.UserItem && e.Item.Audio != nil && !e.Item.Audio.Transcribed
	if spoken {
		d.send(&committedEvent{head{Type: "input_audio_buffer.committed"}, optional(e.PreviousItemID), e.Item.ID})
	}
	d.sendWhole(e.Item, e.PreviousItemID)
	if spoken {
		d.send(&transcriptionEvent{head{Type: "conversation.item.input_audio_transcription.failed"}, e.Item.ID, 0, transcriptionError{
			Type: "transcription_error", Code: string(fault.STTNotConfigured), Message: "No transcriber is configured, so the words are not known.",
		}})
	}
}

func (d *Dialect) startResponse(e turns.ResponseStarted) {
	r := &openResponse{id: e.ResponseID, aside: e.OutOfBand, asked: d.asked[e.CommandID], at: map[string]int{}}
	d.responses[e.ResponseID] = r
	if !r.aside {
		d.response = e.ResponseID
	}
	delete(d.asked, e.CommandID)
	d.send(&responseEvent{head{Type: "response.created"}, d.newResponse(r, statusInProgress)})
}

// newResponse is an open response in its wire form, without usage.
func (d *Dialect) newResponse(r *openResponse, status string) response {
	output := slices.Clone(r.output)
	if output == nil {
		output = []any{}
	}
	shown := response{
		ID: r.id, Object: "realtime.response", Status: status, Output: output, OutputModalities: textOnly(),
		ConversationID: optional(string(d.session.ID)), MaxOutputTokens: d.maxOutputTokens(r.asked.maxOutputTokens), Metadata: r.asked.metadata,
		Audio: responseAudio{Output: responseOutput{Format: d.audio.output, Voice: voiceName(d.session)}},
	}
	if r.aside {
		shown.ConversationID = nil
	}
	return shown
}

func (r *openResponse) place(itemID string) place {
	return place{ResponseID: r.id, ItemID: itemID, OutputIndex: r.at[itemID]}
}

// keep remembers an item of a response and returns the one before it. The items of a response out of band
// are in no conversation.
func (d *Dialect) keep(r *openResponse, itemID string, item any) *string {
	if r.aside {
		return nil
	}
	d.items.put(itemID, item)
	return d.previous(itemID)
}

// tellItem sends an event of the conversation about an item of a response.
func (d *Dialect) tellItem(r *openResponse, kind string, previous *string, item any) {
	if !r.aside {
		d.send(&itemEvent{head{Type: kind}, previous, item})
	}
}

// finished notes that the client has all of an item.
func (d *Dialect) finished(r *openResponse, itemID string) {
	if !r.aside {
		d.whole = itemID
	}
}

func (d *Dialect) startMessage(r *openResponse, e turns.MessageStarted) {
	item := emptyAgentMessage(e.ItemID)
	previous := d.keep(r, e.ItemID, item)
	index := r.add(e.ItemID, item)
	d.send(&outputItemEvent{head{Type: "response.output_item.added"}, r.id, index, item})
	d.tellItem(r, "conversation.item.added", previous, item)
	d.send(&partEvent{head{Type: "response.content_part.added"}, r.place(e.ItemID), part{Type: "text"}})
}

func (d *Dialect) finishMessage(r *openResponse, e turns.MessageDone) {
	if _, known := r.at[e.ItemID]; !known {
		return // the contract has a MessageStarted for each
	}
	status := statusCompleted
	if e.Cut {
		status = statusIncomplete
	}
	item := agentMessage(e.ItemID, e.Text, status, nil)
	previous := d.keep(r, e.ItemID, item)
	at := r.place(e.ItemID)
	r.output[at.OutputIndex] = item
	d.send(&textEvent{head{Type: "response.output_text.done"}, at, e.Text})
	d.send(&partEvent{head{Type: "response.content_part.done"}, at, part{Type: "text", Text: e.Text}})
	d.finished(r, e.ItemID)
	d.tellItem(r, "conversation.item.done", previous, item)
	d.send(&outputItemEvent{head{Type: "response.output_item.done"}, r.id, at.OutputIndex, item})
}

func (d *Dialect) dropItem(e live.ItemRemoved) {
	d.items.drop(e.ItemID)
	if d.whole == e.ItemID {
		d.whole = d.items.last()
	}
	d.send(&deletedEvent{head{Type: "conversation.item.deleted"}, e.ItemID})
}

func (d *Dialect) cutItem(e live.ItemTruncated) {
	if _, known := d.items.byID[e.ItemID]; known {
		d.items.put(e.ItemID, wireItem(sessions.Item{ID: e.ItemID, Kind: sessions.AssistantItem, Text: e.Text, Audio: &sessions.Audio{Transcribed: true}}))
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
func (d *Dialect) finishTool(r *openResponse, e turns.ToolDone) {
	item := finishedCall(e.ItemID, e.Name, e.Arguments, e.Output, e.Failed)
	index, known := r.at[e.ItemID]
	if !known {
		return // the contract has a ToolStarted for each
	}
	d.items.put(e.ItemID, item)
	r.output[index] = item
	d.whole = e.ItemID
	d.send(&outputItemEvent{head{Type: "response.output_item.done"}, r.id, index, item})
	outcome := "response.mcp_call.completed"
	if e.Failed {
		outcome = "response.mcp_call.failed"
	}
	d.send(&mcpEvent{head{Type: outcome}, e.ItemID, index})
}

// askApproval asks whether a call may be made; conversation.item.done is what makes the SDK ask its user.
func (d *Dialect) askApproval(r *openResponse, e turns.ApprovalRequested) {
	item := approvalRequestItem{ID: e.RequestID, Object: realtimeItem, Type: "mcp_approval_request", ServerLabel: serverLabel, Name: e.Name, Arguments: rawText(e.Arguments)}
	previous := d.keep(r, e.RequestID, item)
	index := r.add(e.RequestID, item)
	d.send(&outputItemEvent{head{Type: "response.output_item.added"}, r.id, index, item})
	d.send(&itemEvent{head{Type: "conversation.item.added"}, previous, item})
	d.send(&itemEvent{head{Type: "conversation.item.done"}, previous, item})
	d.send(&outputItemEvent{head{Type: "response.output_item.done"}, r.id, index, item})
}

// callClient asks the client to run a tool; response.output_item.done is what makes the SDK do it.
func (d *Dialect) callClient(r *openResponse, e turns.ClientToolCalled) {
	arguments := rawText(e.Arguments)
	opened := functionCall(e.ItemID, e.CallID, e.Name, nil, statusInProgress)
	called := functionCall(e.ItemID, e.CallID, e.Name, []byte(arguments), statusCompleted)
	previous := d.keep(r, e.ItemID, called)
	index := r.add(e.ItemID, called)
	d.send(&outputItemEvent{head{Type: "response.output_item.added"}, r.id, index, opened})
	d.tellItem(r, "conversation.item.added", previous, opened)
	d.send(&argumentsEvent{head: head{Type: "response.function_call_arguments.delta"}, ResponseID: r.id, ItemID: e.ItemID, OutputIndex: index, CallID: e.CallID, Delta: &arguments})
	d.send(&argumentsEvent{head: head{Type: "response.function_call_arguments.done"}, ResponseID: r.id, ItemID: e.ItemID, OutputIndex: index, CallID: e.CallID, Arguments: &arguments, Name: e.Name})
	d.finished(r, e.ItemID)
	d.tellItem(r, "conversation.item.done", previous, called)
	d.send(&outputItemEvent{head{Type: "response.output_item.done"}, r.id, index, called})
}

// finishResponse closes a response. Citations go twice: as our own event, whole, and in the
// response's metadata, whose values are strings, for clients that only see what the protocol knows.
func (d *Dialect) finishResponse(e turns.ResponseDone) {
	r := d.responses[e.ResponseID]
	if r == nil {
		return
	}
	done := d.newResponse(r, string(e.Status))
	done.Usage = newUsage(e.Usage)
	switch e.Status {
	case turns.ResponseCancelled, turns.ResponseIncomplete:
		done.StatusDetails = &statusDetails{Type: string(e.Status), Reason: e.Reason}
	case turns.ResponseFailed:
		failure := &statusError{Type: "server_error"}
		if e.Err != nil {
			failure.Code, failure.Message = string(e.Err.Reason), e.Err.Message
		}
		done.StatusDetails = &statusDetails{Type: "failed", Error: failure}
	case turns.ResponseCompleted:
	}
	if len(e.Citations) > 0 {
		d.cite(&done, e)
	}
	delete(d.responses, e.ResponseID)
	d.send(&responseEvent{head{Type: "response.done"}, done})
}

// citationsKey is the metadata that holds a response's citations as JSON.
const citationsKey = "parlance_citations"

func (d *Dialect) cite(done *response, e turns.ResponseDone) {
	encoded, err := encodeCitations(e.Citations)
	if err != nil {
		d.step.Err = err
		return
	}
	metadata := map[string]string{citationsKey: string(encoded)}
	for key, value := range done.Metadata {
		metadata[key] = value
	}
	done.Metadata = metadata
	d.send(&citationsEvent{head{Type: "parlance.citations"}, e.ResponseID, encoded})
}

// refusals are decisions of the core that the protocol has words for.
var refusals = []struct {
	cause                error
	code, message, param string
}{
	{live.ErrNothingToCancel, "response_cancel_not_active", "There is no response going out to cancel.", ""},
	{live.ErrNoAudio, "input_audio_buffer_commit_empty", "The audio buffer is too small: at least 100 ms are needed.", ""},
	{live.ErrNoReference, "invalid_value", "An item_reference names no item of the conversation.", "response.input"},
	{live.ErrNoCall, "invalid_value", "A function_call_output answers no function_call of the input.", "response.input"},
	{turns.ErrNoTool, "invalid_value", "tool_choice names a tool that is not offered.", "response.tool_choice"},
	{live.ErrNoPlace, "item_create_invalid_previous_item_id", "There is no item with the id that previous_item_id names.", "previous_item_id"},
	{live.ErrItemTaken, "item_create_duplicate_id", "There is an item with that id already.", "item.id"},
	{live.ErrNothingToRetrieve, "item_retrieve_invalid_item_id", "There is no item with that id.", "item_id"},
	{live.ErrNothingToRemove, "item_delete_invalid_item_id", "There is no item with that id.", "item_id"},
	{live.ErrNothingToTruncate, "item_truncate_invalid_item_id", "There is no item with that id.", "item_id"},
}

func (d *Dialect) failed(e live.Failed) {
	if wish, waits := d.asked[e.CommandID]; waits {
		delete(d.asked, e.CommandID)
		e.CommandID = wish.eventID
	}
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
