package openai

import (
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// endRemoteAnswer sends the end of an answer that another node gave. A client that has the answer's
// events already gets nothing; any other gets the items that it does not have completely, and the
// end of the response whose begin it may have.
func (d *Dialect) endRemoteAnswer(e live.AnswerEnded) {
	previous := d.items.last()
	ended := &openResponse{id: e.ResponseID, indexes: map[string]int{}}
	for _, item := range e.Items {
		if !e.AlreadySent && d.items.byID[item.ID] == nil {
			d.sendWholeItem(item, previous)
		}
		shown := wireItem(item)
		d.items.put(item.ID, shown)
		d.lastWholeItem, previous = item.ID, item.ID
		if item.Kind != sessions.UserItem && item.Kind != sessions.ToolOutputItem {
			ended.add(item.ID, shown)
		}
	}
	if e.AlreadySent || e.ResponseID == "" {
		return
	}
	reason := ""
	if e.Status == turns.ResponseCancelled {
		reason = "client_cancelled"
	}
	d.responses[e.ResponseID], d.lastResponse = ended, e.ResponseID
	d.finishResponse(turns.ResponseDone{
		ResponseID: e.ResponseID, TurnID: e.TurnID, Status: e.Status, Reason: reason, Items: e.Items,
		Text: e.Text, Citations: e.Citations, Usage: e.Usage, Err: e.Err,
	})
}
