package convai

import (
	"strings"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
)

// endRemoteAnswer sends the text of an answer of another node, unless the client has it from there.
func (d *Dialect) endRemoteAnswer(e live.AnswerEnded) {
	if e.AlreadySent {
		return
	}
	id := d.remoteEventID(e)
	d.sendTyping(id, typing{Is: false})
	var said []string
	for _, item := range e.Items {
		if item.Kind == sessions.AssistantItem {
			said = append(said, item.Text)
		}
	}
	if len(said) > 0 {
		d.sendAnswer(id, strings.Join(said, messageSeparator), e.Citations)
	}
}

// remoteEventID is the event id of another node's answer. A lost answer has no items, but its
// question is mostly known. 0: the place of its turn is not known.
func (d *Dialect) remoteEventID(e live.AnswerEnded) int {
	for _, items := range [][]sessions.Item{e.Items, d.history} {
		for _, item := range items {
			if item.TurnID == e.TurnID {
				return agentEventID(item.TurnIndex)
			}
		}
	}
	return 0
}
