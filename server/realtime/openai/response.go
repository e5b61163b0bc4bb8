package openai

import (
	"slices"
)

// requestedResponse is what a response.create set that its response shows.
type requestedResponse struct {
	// eventID is the client's id of the event, which may be another's too.
	eventID  string
	metadata map[string]string
	// maxOutputTokens is as in live.Respond.
	maxOutputTokens int
}

// openResponse is a response that has not ended.
type openResponse struct {
	id string
	// spoken is set when its messages are speech.
	spoken bool
	// outOfBand is set when its items are not the conversation's.
	outOfBand bool
	requested requestedResponse
	// output are the items by output_index, each in its newest form.
	output []any
	// indexes are the items' output_indexes.
	indexes map[string]int
}

// add gives an item the next output_index.
func (r *openResponse) add(itemID string, item any) int {
	index := len(r.output)
	r.indexes[itemID] = index
	r.output = append(r.output, item)
	return index
}

// showResponse is an open response as the client sees it, without usage.
func (d *Dialect) showResponse(r *openResponse, status string) response {
	output := slices.Clone(r.output)
	if output == nil {
		output = []any{}
	}
	shown := response{
		ID: r.id, Object: "realtime.response", Status: status, Output: output,
		OutputModalities: d.modalities(r.spoken), ConversationID: optional(string(d.session.ID)),
		MaxOutputTokens: d.maxOutputTokens(r.requested.maxOutputTokens), Metadata: r.requested.metadata,
		Audio: responseAudio{Output: responseOutput{Format: d.audio.output, Voice: voiceName(d.session)}},
	}
	if r.outOfBand {
		shown.ConversationID = nil
	}
	return shown
}

func (r *openResponse) place(itemID string) place {
	return place{ResponseID: r.id, ItemID: itemID, OutputIndex: r.indexes[itemID]}
}

// recordItem records an item of a response and returns the one before it in the conversation. The
// items of a response out of band are in no conversation.
func (d *Dialect) recordItem(r *openResponse, itemID string, item any) *string {
	if r.outOfBand {
		return nil
	}
	d.items.put(itemID, item)
	return d.previous(itemID)
}

// sendItem sends an event of the conversation about an item of a response.
func (d *Dialect) sendItem(r *openResponse, kind string, previous *string, item any) {
	if !r.outOfBand {
		d.send(&itemEvent{head{Type: kind}, previous, item})
	}
}

// noteWhole notes that the client has an item completely.
func (d *Dialect) noteWhole(r *openResponse, itemID string) {
	if !r.outOfBand {
		d.lastWholeItem = itemID
	}
}

// previous is the id of the item before a known one; nil for the first.
func (d *Dialect) previous(itemID string) *string {
	if at := slices.Index(d.items.order, itemID); at > 0 {
		return &d.items.order[at-1]
	}
	return nil
}
