package voice

import (
	"cmp"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/langtag"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/voice/hearing"
)

// defaultFiller is how long the user waits before the agent says a filler. Source: voice design,
// Beginning early.
const defaultFiller = 1500 * time.Millisecond

// fillerAfter is how long the user waits before the agent says a filler; 0: it says none.
func fillerAfter(w agents.Waiting) time.Duration {
	if w.FillerAfterMS == nil {
		return defaultFiller
	}
	return time.Duration(*w.FillerAfterMS) * time.Millisecond
}

// ownPhrases are what the agent says by itself, in one language.
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
	if own, known := languagePhrases[langtag.Base(tag)]; known {
		return own
	}
	return languagePhrases["en"]
}

// idle takes that nobody has spoken for a while. mu is held.
func (c *Call) idle(e hearing.Event) {
	waiting := c.session.Config.Voice.Waiting
	own := phrasesIn(c.language)
	switch {
	case c.detection.IdleMS > 0: // the client's wish: the agent goes on by itself
		c.out = append(c.out, SilenceNoted{FromMS: e.FromMS, ToMS: e.ToMS})
		c.commands = append(c.commands, live.Respond{
			CommandID: ownCommand + idgen.New(idgen.Request), Spoken: c.speaks() && !c.textOnly, Awaited: true,
		})
	case e.Count == 1:
		c.say(sentence{text: cmp.Or(waiting.ReengageMessage, own.reengage)})
	case !c.saidGoodbye:
		c.saidGoodbye = true
		c.say(sentence{text: cmp.Or(waiting.GoodbyeMessage, own.goodbye)})
		c.commands = append(c.commands, live.End{Reason: sessions.ReasonIdle})
	}
}

// sentence is something that no model wrote.
type sentence struct {
	text string
	// after is its place in what the model sees, as of live.Insert.
	after string
	// protected says that speech does not interrupt it.
	protected bool
}

// say has the agent say a sentence, as an answer of its own. The transcript has it. mu is held.
func (c *Call) say(s sentence) {
	item := idgen.New(idgen.Item)
	c.own[item] = true
	c.commands = append(c.commands, live.Insert{
		CommandID: ownCommand + item, ItemID: item, After: s.after, Kind: sessions.AssistantItem, Text: s.text, Spoken: c.speaks(),
	})
	c.utter(item, c.turnIndex, s)
}

// utter speaks an item as an answer of its own. mu is held.
func (c *Call) utter(item string, turnIndex int, s sentence) {
	response := idgen.New(idgen.Response)
	c.observe(turns.ResponseStarted{ResponseID: response, TurnIndex: turnIndex, Spoken: true})
	c.open(response).protected = s.protected
	for _, e := range []turns.Event{
		turns.MessageStarted{ResponseID: response, ItemID: item},
		turns.TextDelta{ResponseID: response, ItemID: item, Text: s.text},
		turns.MessageDone{ResponseID: response, ItemID: item, Text: s.text},
		turns.ResponseDone{ResponseID: response, Status: turns.ResponseCompleted, Text: s.text},
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
	after := fillerAfter(c.session.Config.Voice.Waiting)
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
	if own := c.session.Config.Voice.Waiting.Fillers; len(own) > 0 {
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
	c.speak(m, append(m.write(text), m.end()...))
}

// protectsGreeting reports whether speech does not interrupt the agent's first message.
func (c *Call) protectsGreeting() bool { return c.session.Config.Voice.Waiting.ProtectFirstMessage }
