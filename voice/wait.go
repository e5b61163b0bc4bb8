package voice

import (
	"cmp"
	"encoding/json"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/voice/hearing"
)

// Waiting is what the agent says while somebody waits. Its JSON is the part waiting of an agent's
// voice.
type Waiting struct {
	// FillerAfterMS is how long the user waits for an answer before the agent says a filler, at
	// most one an answer; 0: it says none. The default is DefaultFillerMS.
	FillerAfterMS *int `json:"filler_after_ms"`
	// Fillers are said in turn. Empty: one of the language's own.
	Fillers []string `json:"fillers"`
	// ReengageAfterMS is how long nobody speaks before the agent asks whether the user is still
	// there. After as long again it says goodbye, and ends the session. 0: it waits.
	ReengageAfterMS int    `json:"reengage_after_ms"`
	ReengageMessage string `json:"reengage_message"`
	GoodbyeMessage  string `json:"goodbye_message"`
	// ProtectFirstMessage has speech not interrupt the agent's first message. It is answered after
	// it.
	ProtectFirstMessage bool `json:"protect_first_message"`
}

// DefaultFillerMS is the default of FillerAfterMS. Source: voice design, Beginning early.
const DefaultFillerMS = 1500

// WaitingOf is what an agent's voice settings say about waiting.
func WaitingOf(v agents.Voice) Waiting {
	var w Waiting
	_ = json.Unmarshal(v.Waiting, &w) // it was checked when it was saved
	return w
}

// fillerAfter is FillerAfterMS as a time; 0: never.
func (w Waiting) fillerAfter() time.Duration {
	after := DefaultFillerMS
	set(&after, w.FillerAfterMS)
	return time.Duration(after) * time.Millisecond
}

// phrases are what the agent says by itself, in one language.
type ownPhrases struct{ filler, reengage, goodbye string }

// languagePhrases are those of agents that have none of their own, by base language.
var languagePhrases = map[string]ownPhrases{
	"en": {"One moment, please.", "Are you still there?", "I cannot hear you any more. Goodbye."},
	"de": {"Einen Moment, bitte.", "Sind Sie noch da?", "Ich kann Sie nicht mehr hören. Auf Wiederhören."},
	"fr": {"Un instant, s'il vous plaît.", "Êtes-vous toujours là ?", "Je ne vous entends plus. Au revoir."},
	"es": {"Un momento, por favor.", "¿Sigue ahí?", "Ya no le oigo. Adiós."},
	"it": {"Un momento, per favore.", "È ancora lì?", "Non la sento più. Arrivederci."},
	"pt": {"Um momento, por favor.", "Ainda está aí?", "Já não o ouço. Adeus."},
	"nl": {"Een ogenblik, alstublieft.", "Bent u er nog?", "Ik hoor u niet meer. Tot ziens."},
}

// phrasesIn are the phrases of a language; those of English when it has none.
func phrasesIn(tag string) ownPhrases {
	if own, known := languagePhrases[baseOf(tag)]; known {
		return own
	}
	return languagePhrases["en"]
}

// idle takes that nobody has spoken for a while. mu is held.
func (c *Call) idle(e hearing.Event) {
	waiting := WaitingOf(c.session.Config.Voice)
	own := phrasesIn(c.language)
	switch {
	case c.detection.IdleMS > 0: // the client's wish: the agent goes on by itself
		c.out = append(c.out, SilenceNoted{FromMS: e.FromMS, ToMS: e.ToMS})
		c.commands = append(c.commands, live.Respond{CommandID: ownCommand + idgen.New(idgen.Request), Spoken: c.speaks(), Awaited: true})
	case e.Count == 1:
		c.sayOwn(cmp.Or(waiting.ReengageMessage, own.reengage))
	default:
		c.sayOwn(cmp.Or(waiting.GoodbyeMessage, own.goodbye))
		c.commands = append(c.commands, live.End{Reason: sessions.ReasonIdle})
	}
}

// sayOwn has the agent say a sentence that no model wrote, as an answer of its own. The transcript
// has it. mu is held.
func (c *Call) sayOwn(text string) {
	response, item := idgen.New(idgen.Response), idgen.New(idgen.Item)
	c.own[item] = true
	c.commands = append(c.commands, live.Insert{
		CommandID: ownCommand + item, ItemID: item, Kind: sessions.AssistantItem, Text: text,
	})
	for _, e := range []turns.Event{
		turns.ResponseStarted{ResponseID: response, TurnIndex: c.turnIndex, Spoken: true},
		turns.MessageStarted{ResponseID: response, ItemID: item},
		turns.TextDelta{ResponseID: response, ItemID: item, Text: text},
		turns.MessageDone{ResponseID: response, ItemID: item, Text: text},
		turns.ResponseDone{ResponseID: response, Status: turns.ResponseCompleted, Text: text},
	} {
		c.observe(e)
	}
}

// keepWaiting says a filler when the user has waited for an answer for long. mu is held.
func (c *Call) keepWaiting(now time.Time) {
	if len(c.answers) == 0 || !c.speaks() || c.muted {
		return
	}
	a := c.answers[0]
	after := WaitingOf(c.session.Config.Voice).fillerAfter()
	if a.filled || !a.spoken || a.cut || a.done || after <= 0 || c.player.isBusy() || c.player.paused {
		return
	}
	since := later(a.begunAt, c.player.until) // the end of what it has said before it called a tool
	if a.heard != nil && len(a.messages) == 0 {
		since = a.heard.CommittedAt
	}
	if now.Sub(since) >= after {
		c.fill(a)
	}
}

// fill says a filler within an answer. The client gets it as a message, the conversation does not.
func (c *Call) fill(a *answer) {
	a.filled = true
	text := phrasesIn(c.language).filler
	if own := WaitingOf(c.session.Config.Voice).Fillers; len(own) > 0 {
		text = own[c.fillers%len(own)]
		c.fillers++
	}
	c.s.deps.Metrics.filled()
	m := newMessage(a, idgen.New(idgen.Item), c.language)
	m.filler = true
	a.messages = append(a.messages, m)
	a.events = append(
		a.events, Filler{ResponseID: a.responseID, ItemID: m.itemID},
		turns.MessageStarted{ResponseID: a.responseID, ItemID: m.itemID},
		turns.TextDelta{ResponseID: a.responseID, ItemID: m.itemID, Text: text},
		gate{m}, turns.MessageDone{ResponseID: a.responseID, ItemID: m.itemID, Text: text},
	)
	c.say(m, append(m.write(text), m.end()...))
}

// protectsGreeting reports whether speech does not interrupt the agent's first message.
func (c *Call) protectsGreeting() bool { return WaitingOf(c.session.Config.Voice).ProtectFirstMessage }
