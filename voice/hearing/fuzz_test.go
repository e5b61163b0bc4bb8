package hearing_test

import (
	"slices"
	"testing"

	"parlance.dev/parlance/voice/hearing"
)

// FuzzChunks plays a conversation made from the input, once in pieces of one frame and once in
// pieces of other lengths: the events are the same, and in an order that a session can follow.
func FuzzChunks(f *testing.F) {
	f.Add([]byte("speak to me, and then be silent for a while"), uint16(320))
	f.Add([]byte{3, 30, 0, 0, 200, 1, 3, 250, 3, 9, 4, 20, 0, 255, 0, 255}, uint16(1))
	f.Add([]byte{2, 255, 3, 90, 1, 1, 0, 90, 3, 12, 5, 0, 3, 40, 0, 200, 0, 200}, uint16(441))
	f.Add([]byte{0, 50, 3, 100, 1, 0, 0, 100, 2, 200, 0, 60, 3, 60, 4, 1, 0, 255, 6, 0, 0, 255}, uint16(960))
	f.Fuzz(func(t *testing.T, script []byte, chunk uint16) {
		if len(script) > 60 {
			script = script[:60]
		}
		want := play(script, 512)
		if got := play(script, max(int(chunk), 1)); !slices.Equal(got, want) {
			t.Errorf("in pieces of %d samples:\n%v\nin frames:\n%v", chunk, got, want)
		}
		checkOrder(t, want)
	})
}

var phrases = []string{"", "Yes.", "stop", "uh-huh", "I want a", "What about Sunday?", "from nine to five", "four two"}

// play makes two bytes a step: what happens, and how much of it.
func play(script []byte, chunk int) []hearing.Event {
	settings := hearing.Defaults()
	settings.IdleMS, settings.Streaming = 3000, len(script)%2 == 0
	taker := hearing.New(settings, loudDetector{}, nil)
	var events []hearing.Event
	write := func(samples []int16) {
		for piece := range slices.Chunk(samples, chunk) {
			events = append(events, taker.Write(piece)...)
		}
	}
	for i := 0; i+1 < len(script); i += 2 {
		amount := int(script[i+1])
		now := taker.NowMS()
		switch script[i] % 8 {
		case 0:
			write(make([]int16, amount*100))
		case 1:
			events = append(events, taker.Words(phrases[amount%len(phrases)], amount%2 == 0)...)
		case 2:
			taker.AgentSaid(hearing.Said{
				Text: "We are open from nine to five. What is your number?", FromMS: now, ToMS: now + 10*amount, Protected: amount%5 == 0,
			})
			taker.AgentPlaying(now, now+10*amount, -20)
		case 3:
			write(tone(6*amount, -23))
		case 4:
			write(tone(6*amount, -35))
		case 5:
			taker.AgentDone()
		case 6:
			events = append(events, taker.Commit()...)
		case 7:
			events = append(events, taker.Discard()...)
		}
	}
	return events
}

// checkOrder follows the events as a session does.
func checkOrder(t *testing.T, events []hearing.Event) {
	t.Helper()
	speaking, paused, at := false, false, 0
	for _, e := range events {
		wrong := e.AtMS < at || e.FromMS < 0 || e.FromMS > e.ToMS
		at = e.AtMS
		switch e.Kind {
		case hearing.SpeechStarted:
			wrong = wrong || speaking || paused
			speaking = true
		case hearing.Pause:
			wrong = wrong || paused || speaking
			paused = true
		case hearing.Interrupt, hearing.Resume:
			wrong = wrong || !paused
			paused = false
		case hearing.Commit:
			wrong = wrong || !speaking || paused || e.SpeechMS == 0
			speaking = false
		case hearing.FalseStart:
			speaking = false
		case hearing.SpeechStopped:
			wrong = wrong || !speaking
		case hearing.Transcribe:
			wrong = wrong || !paused
		case hearing.EndLikely, hearing.Continued, hearing.Idle:
		}
		if wrong {
			t.Errorf("%v is out of order in\n%v", e, events)
		}
	}
}
