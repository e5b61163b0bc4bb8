package openai

import (
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// endAnswer tells the end of an answer that another node gave: nothing when the client has its events,
// else the items that it has not got whole, and the response that it may have seen begin.
func (d *Dialect) endAnswer(e live.AnswerEnded) {
	previous := d.items.last()
	ended := &openResponse{id: e.ResponseID, at: map[string]int{}}
	for _, one := range e.Items {
		if !e.Told && d.items.byID[one.ID] == nil {
			d.sendWhole(one, previous)
		}
		item := wireItem(one)
		d.items.put(one.ID, item)
		d.whole, previous = one.ID, one.ID
		if one.Kind != sessions.UserItem && one.Kind != sessions.ToolOutputItem {
			ended.add(one.ID, item)
		}
	}
	if e.Told || e.ResponseID == "" {
		return
	}
	reason := ""
	if e.Status == turns.ResponseCancelled {
		reason = "client_cancelled"
	}
	d.responses[e.ResponseID], d.response = ended, e.ResponseID
	d.finishResponse(turns.ResponseDone{
		ResponseID: e.ResponseID, TurnID: e.TurnID, Status: e.Status, Reason: reason, Items: e.Items, Text: e.Text, Citations: e.Citations, Usage: e.Usage, Err: e.Err,
	})
}
