package chat

import (
	"fmt"
	"strings"
	"time"
)

// voiceTurns follows the turns of a conversation: when what happened, and how much was heard.
type voiceTurns struct {
	printer *voicePrinter
	// any reports that an answer has begun to something that the user said.
	any bool
	// asked is what the next answer is to.
	asked   question
	answers []*voiceAnswer
}

// question is something that the user said or typed.
type question struct {
	// ended is when the user stopped to speak, or typed; zero for an answer to nothing.
	ended time.Time
	typed bool
	// transcribed is when the words were there.
	transcribed time.Time
}

// voiceAnswer is a response. Times are zero until something happened.
type voiceAnswer struct {
	question
	response string
	items    []*voiceItem

	firstToken, firstAudio, heardAt time.Time
	server                          serverTimes
	done, wasCut, reported          bool
}

// voiceItem is a message of an answer: its words, and how long they sound.
type voiceItem struct {
	id     string
	text   strings.Builder
	length time.Duration
	cut    bool
}

// nothingSaid takes back that the user said something: it was noise.
func (t *voiceTurns) nothingSaid() { t.asked = question{} }

// userStopped says when the user stopped to speak.
func (t *voiceTurns) userStopped(at time.Time) { t.asked = question{ended: at} }

// userTyped says when the user sent a line.
func (t *voiceTurns) userTyped(at time.Time) { t.asked = question{ended: at, typed: true} }

// transcribed says when the words of the user were there, perhaps after the answer began.
func (t *voiceTurns) transcribed(at time.Time) {
	waiting := &t.asked
	if waiting.ended.IsZero() && len(t.answers) > 0 {
		waiting = &t.answers[len(t.answers)-1].question
	}
	waiting.transcribed = at
}

// begin adds an answer to what was asked last.
func (t *voiceTurns) begin(response string) {
	t.answers = append(t.answers, &voiceAnswer{response: response, question: t.asked})
	t.any = t.any || !t.asked.ended.IsZero()
	t.asked = question{}
}

// answer is a response; nil when it is unknown.
func (t *voiceTurns) answer(response string) *voiceAnswer {
	for _, a := range t.answers {
		if a.response == response {
			return a
		}
	}
	return nil
}

// find is an item, and the answer that it belongs to; nil when it is unknown.
func (t *voiceTurns) find(item string) (*voiceAnswer, *voiceItem) {
	for _, a := range t.answers {
		for _, i := range a.items {
			if i.id == item {
				return a, i
			}
		}
	}
	return nil, nil
}

// item is an item of an answer, which is added when it is new.
func (a *voiceAnswer) item(id string) *voiceItem {
	for _, i := range a.items {
		if i.id == id {
			return i
		}
	}
	made := &voiceItem{id: id}
	a.items = append(a.items, made)
	return made
}

// said adds words of the agent.
func (t *voiceTurns) said(response, item, text string, at time.Time) {
	if a := t.answer(response); a != nil {
		a.item(item).text.WriteString(text)
		setOnce(&a.firstToken, at)
	}
}

// sounds adds sound of the agent.
func (t *voiceTurns) sounds(response, item string, length time.Duration, at time.Time) {
	if a := t.answer(response); a != nil {
		a.item(item).length += length
		setOnce(&a.firstAudio, at)
	}
}

// heard says when an item was heard first.
func (t *voiceTurns) heard(item string, at time.Time) {
	if a, _ := t.find(item); a != nil {
		setOnce(&a.heardAt, at)
	}
}

func setOnce(at *time.Time, now time.Time) {
	if at.IsZero() {
		*at = now
	}
}

// mayGoOn reports whether more sound may come of an item.
func (t *voiceTurns) mayGoOn(item string) bool {
	a, i := t.find(item)
	return a != nil && !a.done && !i.cut
}

// cut shows where the agent was interrupted. Its words are spread over its sound by their letters.
func (t *voiceTurns) cut(item string, heard time.Duration) {
	a, i := t.find(item)
	if i == nil {
		return
	}
	i.cut, a.wasCut = true, true
	text := []rune(i.text.String())
	share := 0.0
	if i.length > 0 {
		share = min(heard.Seconds()/i.length.Seconds(), 1)
	}
	const shown = 40
	told := text[:int(share*float64(len(text)))]
	words := string(told)
	if len(told) > shown {
		words = "…" + string(told[len(told)-shown:])
	}
	t.printer.note(fmt.Sprintf("cut     after %.1f s, about here: %s", heard.Seconds(), shorten(words)))
}

// times adds what the server measured.
func (t *voiceTurns) times(response string, times serverTimes) {
	if a := t.answer(response); a != nil {
		a.server = times
	}
}

// done says that an answer is complete.
func (t *voiceTurns) done(response string) {
	if a := t.answer(response); a != nil {
		a.done = true
	}
	t.report()
}

// report prints the times of answers that are complete and heard, or cut.
func (t *voiceTurns) report() {
	for _, a := range t.answers {
		if a.reported || !a.done || !a.firstAudio.IsZero() && a.heardAt.IsZero() && !a.wasCut {
			continue
		}
		a.reported = true
		if !a.ended.IsZero() {
			t.printer.timing(a)
		}
	}
}

// since is a time in ms after the user's turn: the server's measure, or else ours.
func (a *voiceAnswer) since(server *int, at time.Time) (ms int, known bool) {
	switch {
	case server != nil && !a.typed:
		return *server, true
	case !at.IsZero():
		return max(int(at.Sub(a.ended).Milliseconds()), 0), true
	}
	return 0, false
}
