package openai

import (
	"maps"

	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/turns"
)

// responseContent takes the events within a response.
func (d *Dialect) responseContent(e turns.Event) {
	switch e := e.(type) {
	case turns.MessageStarted:
		d.inResponse(e.ResponseID, func(r *openResponse) { d.startMessage(r, e) })
	case turns.TextDelta:
		d.inResponse(e.ResponseID, func(r *openResponse) {
			kind := "response.output_text.delta"
			if r.spoken {
				kind = "response.output_audio_transcript.delta"
			}
			d.send(&deltaEvent{head{Type: kind}, r.place(e.ItemID), e.Text})
		})
	case turns.MessageDone:
		d.inResponse(e.ResponseID, func(r *openResponse) { d.finishMessage(r, e) })
	case turns.ZoneEntered:
		d.inResponse(e.ResponseID, func(r *openResponse) {
			d.send(&guardEvent{head{Type: "parlance.guard_triggered"}, r.id, e.Guard, e.Action, e.Side})
		})
	case turns.ToolStarted:
		d.inResponse(e.ResponseID, func(r *openResponse) {
			item := startedCall(e.ItemID, e.Name)
			d.items.put(e.ItemID, item)
			index := r.add(e.ItemID, item)
			d.send(&outputItemEvent{head{Type: "response.output_item.added"}, r.id, index, item})
		})
	case turns.ToolDone:
		d.inResponse(e.ResponseID, func(r *openResponse) { d.finishTool(r, e) })
	case turns.ApprovalRequested:
		d.inResponse(e.ResponseID, func(r *openResponse) { d.askApproval(r, e) })
	case turns.ClientToolCalled:
		d.inResponse(e.ResponseID, func(r *openResponse) { d.callClient(r, e) })
	}
}

// inResponse calls do for a response that is open.
func (d *Dialect) inResponse(responseID string, do func(*openResponse)) {
	if r := d.responses[responseID]; r != nil {
		do(r)
	}
}

func (d *Dialect) startResponse(e turns.ResponseStarted) {
	r := &openResponse{
		id: e.ResponseID, outOfBand: e.OutOfBand, spoken: e.Spoken, requested: d.requested[e.CommandID],
		indexes: map[string]int{},
	}
	d.responses[e.ResponseID] = r
	if !r.outOfBand {
		d.lastResponse = e.ResponseID
	}
	delete(d.requested, e.CommandID)
	d.send(&responseEvent{head{Type: "response.created"}, d.showResponse(r, statusInProgress)})
}

func (d *Dialect) startMessage(r *openResponse, e turns.MessageStarted) {
	item := emptyAgentMessage(e.ItemID)
	previous := d.recordItem(r, e.ItemID, item)
	index := r.add(e.ItemID, item)
	d.send(&outputItemEvent{head{Type: "response.output_item.added"}, r.id, index, item})
	d.sendItem(r, "conversation.item.added", previous, item)
	d.send(&partEvent{head{Type: "response.content_part.added"}, r.place(e.ItemID), r.part("")})
}

func (d *Dialect) finishMessage(r *openResponse, e turns.MessageDone) {
	if _, known := r.indexes[e.ItemID]; !known {
		return // the conversation sends a MessageStarted for each
	}
	status := statusCompleted
	if e.Cut {
		status = statusIncomplete
	}
	item := agentMessage(e.ItemID, e.Text, status, r.audio())
	previous := d.recordItem(r, e.ItemID, item)
	place := r.place(e.ItemID)
	r.output[place.OutputIndex] = item
	if r.spoken {
		d.send(&placeEvent{head{Type: "response.output_audio.done"}, place})
		d.send(&transcriptEvent{head{Type: "response.output_audio_transcript.done"}, place, e.Text})
	} else {
		d.send(&textEvent{head{Type: "response.output_text.done"}, place, e.Text})
	}
	d.send(&partEvent{head{Type: "response.content_part.done"}, place, r.part(e.Text)})
	d.noteWhole(r, e.ItemID)
	d.sendItem(r, "conversation.item.done", previous, item)
	d.send(&outputItemEvent{head{Type: "response.output_item.done"}, r.id, place.OutputIndex, item})
}

// finishTool sends a call's result within the response. It does not send conversation.item.done
// or response.mcp_call.in_progress: the agents SDK would ask for a response or for the item.
func (d *Dialect) finishTool(r *openResponse, e turns.ToolDone) {
	item := finishedCall(e.ItemID, e.Name, e.Arguments, e.Output, e.Failed)
	index, known := r.indexes[e.ItemID]
	if !known {
		return // the conversation sends a ToolStarted for each
	}
	d.items.put(e.ItemID, item)
	r.output[index] = item
	d.lastWholeItem = e.ItemID
	d.send(&outputItemEvent{head{Type: "response.output_item.done"}, r.id, index, item})
	outcome := "response.mcp_call.completed"
	if e.Failed {
		outcome = "response.mcp_call.failed"
	}
	d.send(&mcpEvent{head{Type: outcome}, e.ItemID, index})
}

// askApproval asks whether a call may be made. SDKs ask their user when conversation.item.done
// comes.
func (d *Dialect) askApproval(r *openResponse, e turns.ApprovalRequested) {
	item := approvalRequestItem{
		ID: e.RequestID, Object: realtimeItem, Type: "mcp_approval_request", ServerLabel: serverLabel,
		Name: e.Name, Arguments: argumentsText(e.Arguments),
	}
	previous := d.recordItem(r, e.RequestID, item)
	index := r.add(e.RequestID, item)
	d.send(&outputItemEvent{head{Type: "response.output_item.added"}, r.id, index, item})
	d.send(&itemEvent{head{Type: "conversation.item.added"}, previous, item})
	d.send(&itemEvent{head{Type: "conversation.item.done"}, previous, item})
	d.send(&outputItemEvent{head{Type: "response.output_item.done"}, r.id, index, item})
}

// callClient asks the client to run a tool. SDKs do it when response.output_item.done comes.
func (d *Dialect) callClient(r *openResponse, e turns.ClientToolCalled) {
	arguments := argumentsText(e.Arguments)
	opened := functionCall(e.ItemID, e.CallID, e.Name, nil, statusInProgress)
	called := functionCall(e.ItemID, e.CallID, e.Name, []byte(arguments), statusCompleted)
	previous := d.recordItem(r, e.ItemID, called)
	index := r.add(e.ItemID, called)
	d.send(&outputItemEvent{head{Type: "response.output_item.added"}, r.id, index, opened})
	d.sendItem(r, "conversation.item.added", previous, opened)
	d.send(&argumentsEvent{
		head:       head{Type: "response.function_call_arguments.delta"},
		ResponseID: r.id, ItemID: e.ItemID, OutputIndex: index, CallID: e.CallID, Delta: &arguments,
	})
	d.send(&argumentsEvent{
		head:       head{Type: "response.function_call_arguments.done"},
		ResponseID: r.id, ItemID: e.ItemID, OutputIndex: index, CallID: e.CallID,
		Arguments: &arguments, Name: e.Name,
	})
	d.noteWhole(r, e.ItemID)
	d.sendItem(r, "conversation.item.done", previous, called)
	d.send(&outputItemEvent{head{Type: "response.output_item.done"}, r.id, index, called})
}

// finishResponse ends a response. Its citations are sent twice: in an event of our own, and in the
// response's metadata, as a string, for clients that see only what the protocol knows.
func (d *Dialect) finishResponse(e turns.ResponseDone) {
	r := d.responses[e.ResponseID]
	if r == nil {
		return
	}
	done := d.showResponse(r, string(e.Status))
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
		d.addCitations(&done, e)
	}
	delete(d.responses, e.ResponseID)
	d.send(&responseEvent{head{Type: "response.done"}, done})
}

// citationsKey is the member of a response's metadata with its citations as JSON.
const citationsKey = "parlance_citations"

func (d *Dialect) addCitations(done *response, e turns.ResponseDone) {
	encoded, err := dialect.Encode(e.Citations)
	if err != nil {
		d.step.Err = err
		return
	}
	metadata := map[string]string{citationsKey: string(encoded)}
	maps.Copy(metadata, done.Metadata)
	done.Metadata = metadata
	d.send(&citationsEvent{head{Type: "parlance.citations"}, e.ResponseID, encoded})
}
