package convai

import (
	"strings"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
)

// endAnswer tells what another node's answer said, when the client has not got it from there.
func (d *Dialect) endAnswer(e live.AnswerEnded) {
	if e.Told {
		return
	}
	id := d.eventOf(e)
	d.typing(id, false)
	var said []string
	for _, item := range e.Items {
		if item.Kind == sessions.AssistantItem {
			said = append(said, item.Text)
		}
	}
	if len(said) > 0 {
		d.tellAnswer(id, strings.Join(said, betweenMessages), e.Citations)
	}
}

// eventOf is the event id of another node's answer. Of a lost one there are no items, but mostly what it is to; 0:
// its place is not known.
func (d *Dialect) eventOf(e live.AnswerEnded) int {
	for _, items := range [][]sessions.Item{e.Items, d.history} {
		for _, item := range items {
			if item.TurnID == e.TurnID {
				return agentEvent(item.TurnIndex)
			}
		}
	}
	return 0
}
