package voice

import (
	"strings"
	"time"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/voice/speakable"
)

// message is a message of the agent that is spoken.
type message struct {
	answer *answer
	itemID string
	text   strings.Builder
	cutter *speakable.Cutter
	// segments are the parts that are synthesized, in order.
	segments []*segment
	// started is set when the client knows the item, written when the text is complete.
	started, written bool
	// filler says that it is said because the user waits: the conversation does not know it.
	filler bool
	// protected says that speech does not interrupt it.
	protected bool
	// listened is what was heard of it when it was cut; nil: it was not cut.
	listened *string
}

// segment is a part of a message, or a phrase of the call's own, as sound.
type segment struct {
	id      string
	message *message
	piece   speakable.Piece
	// samples are those that were not sent yet, at rate; sent counts the others.
	samples []int16
	rate    int
	sent    int
	// words are those whose times are known, from the segment's beginning.
	words []speech.Word
	// whole is the segment's length, once nothing more of it is sent; 0 before.
	whole time.Duration
	// begun is set when a synthesizer has it, complete when all of its sound is there, or none is
	// to come.
	begun, complete bool
	// announced is set when the taker was told what it says. playedFrom is where in the recording
	// it begins.
	announced  bool
	playedFrom int
	// tones says that it is the tones of keys, and of no message.
	tones bool
	// kept says that its sound is kept for the next time that it is said.
	kept bool
	// resampler makes the rate of what is synthesized, fromHz, that of the call.
	resampler *audio.Resampler
	fromHz    int
}

func newMessage(a *answer, itemID, language string) *message {
	return &message{answer: a, itemID: itemID, cutter: speakable.NewCutter(speakable.Settings{Language: language})}
}

// write adds text, and returns the pieces that can be spoken now.
func (m *message) write(text string) []speakable.Piece {
	m.text.WriteString(text)
	return m.cutter.Write(text)
}

// end ends the text, and returns the last pieces.
func (m *message) end() []speakable.Piece {
	m.written = true
	return m.cutter.Flush()
}

// isSent reports whether all of the message was sent.
func (m *message) isSent() bool {
	if !m.written {
		return false
	}
	for _, s := range m.segments {
		if !s.isSent() {
			return false
		}
	}
	return true
}

// startMessage notes that the client knows an item: its sound may be sent.
func (a *answer) startMessage(itemID string) {
	for _, m := range a.messages {
		m.started = m.started || m.itemID == itemID
	}
}

// sent is how much of the message's sound was sent.
func (m *message) sent() (d time.Duration) {
	for _, s := range m.segments {
		d += s.sentLength()
	}
	return d
}

// heard is the text of which the first part of the sound was heard.
func (m *message) heard(until time.Duration) string {
	text := m.text.String()
	end := 0
	for _, s := range m.segments {
		length := s.sentLength()
		if s.isSent() && until >= length {
			end, until = s.piece.End, until-length
			continue
		}
		end = max(end, s.heard(until))
		break
	}
	return strings.TrimSpace(text[:min(end, len(text))])
}

// heardText is the text of an answer that was heard, by the cuts of its messages.
func (a *answer) heardText() string {
	var said []string
	for _, m := range a.messages {
		if m.filler {
			continue
		}
		text := m.text.String()
		if m.listened != nil {
			text = *m.listened
		}
		if text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, sessions.BetweenMessages)
}

// isTones reports whether the segment is the tones of keys.
func (s *segment) isTones() bool { return s.tones }

func (s *segment) isSent() bool { return s.complete && len(s.samples) == 0 && s.whole == 0 }

// expected is how long the segment is: as long as its text when not all of it is synthesized.
func (s *segment) expected() time.Duration {
	switch {
	case s.whole > 0:
		return s.whole
	case s.complete:
		return s.length()
	}
	return max(s.length(), time.Duration(len([]rune(s.piece.Text)))*perChar)
}

// drop has nothing more of the segment sent.
func (s *segment) drop() {
	if !s.isSent() {
		s.whole = max(s.expected(), 1)
	}
	s.samples, s.complete = nil, true
}

// sentLength is the length of what was sent of it.
func (s *segment) sentLength() time.Duration {
	if s.rate == 0 {
		return 0
	}
	return audio.Duration(s.sent, s.rate)
}

// length is the length of what is known of it.
func (s *segment) length() time.Duration {
	if s.rate == 0 {
		return 0
	}
	return audio.Duration(s.sent+len(s.samples), s.rate)
}

// perChar is how long a character takes to say, about, in a segment whose end is not known.
const perChar = 65 * time.Millisecond

// heard is the end of what was heard of the segment, as an offset in the message's text.
func (s *segment) heard(until time.Duration) int {
	if until <= 0 {
		return s.piece.Start
	}
	if len(s.words) > 0 {
		var heard strings.Builder
		for _, w := range s.words {
			if time.Duration(w.EndMS)*time.Millisecond > until {
				break
			}
			heard.WriteString(w.Text)
			heard.WriteByte(' ')
		}
		return s.piece.HeardText(heard.String())
	}
	whole := s.expected()
	if whole <= 0 {
		return s.piece.Start
	}
	return s.piece.HeardShare(min(float64(until)/float64(whole), 1))
}
