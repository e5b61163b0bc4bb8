package voice

import (
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/turns"
)

const (
	// keysWithin is how long another key is waited for. Source: our own; telephone menus wait for 1 to
	// 3 s.
	keysWithin = 1500 * time.Millisecond
	// keyEnter ends what is entered.
	keyEnter = "#"
	// maxKeys is how many keys are asked at once.
	maxKeys = 64
	// MaxPressed bounds the digits of a Press.
	MaxPressed = 64
)

// keys are those that the user has pressed and that were not asked yet.
type keys struct {
	pressed strings.Builder
	// last is when the last of them was pressed.
	last time.Time
}

// takeKey takes a key that the user has pressed. mu is held.
func (c *Call) takeKey(k Key) {
	if c.ended || len(k.Digit) != 1 || !strings.Contains(audio.Keys, k.Digit) {
		return
	}
	if !c.isProtected() {
		c.stopSpeaking(turns.ReasonTurnDetected)
		c.ears.taker.AgentDone()
		c.out = append(c.out, Interrupted{}) // what was sent to its end may still be played
	}
	c.recordActivity()
	c.keys.pressed.WriteString(k.Digit)
	c.keys.last = c.s.now()
	if k.Digit == keyEnter || c.keys.pressed.Len() >= maxKeys {
		c.askKeys()
	}
}

// isProtected reports whether the agent says something that a key does not stop.
func (c *Call) isProtected() bool {
	return slices.ContainsFunc(c.player.queue, func(s *segment) bool { return s.message != nil && s.message.protected })
}

// askKeysInTime asks the keys when no other has followed. mu is held.
func (c *Call) askKeysInTime(now time.Time) {
	if c.keys.pressed.Len() > 0 && now.Sub(c.keys.last) >= keysWithin {
		c.askKeys()
	}
}

// askKeys asks what was pressed as something that the user says. mu is held.
func (c *Call) askKeys() {
	message := c.takePressed()
	c.asked[message.CommandID] = true
	c.afterWords(live.Ask{
		Message: message,
		Respond: live.Respond{CommandID: message.CommandID, Spoken: c.speaks() && !c.textOnly, Awaited: true},
	})
}

// takePressed is what was pressed, as something that the user says. mu is held.
func (c *Call) takePressed() live.UserMessage {
	item := idgen.New(idgen.Item)
	text := "Keys pressed: " + c.keys.pressed.String()
	c.keys.pressed.Reset()
	c.rest, c.anticipated = "", ""
	return live.UserMessage{CommandID: ownCommand + item, ItemID: item, Text: text}
}

// press plays the tones of keys. mu is held.
func (c *Call) press(p Press) {
	if c.muted || c.ended || len(p.Digits) > MaxPressed || !audio.AreKeys(p.Digits) {
		return
	}
	c.player.queue = append(c.player.queue, &segment{
		id: idgen.New(idgen.Item), tones: true, begun: true, complete: true, rate: c.output.RateHz,
		samples: audio.AppendKeyTones(nil, p.Digits, c.output.RateHz),
	})
}

// tonesSent has the user listened to again behind tones that are part of no answer.
func (c *Call) tonesSent() {
	if len(c.answers) == 0 {
		c.ears.taker.AgentDone()
	}
}
