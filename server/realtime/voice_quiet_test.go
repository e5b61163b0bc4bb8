package realtime_test

import (
	"slices"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

// TestSpeechThatInterruptsNothing: what the user says into something that is not interrupted is
// answered after it. The client is not told that they speak, because it would stop playing.
func TestSpeechThatInterruptsNothing(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]agents.Voice{
		"a protected first message": {Waiting: agents.Waiting{ProtectFirstMessage: true}},
		"interrupt_response: false": {TurnDetection: []byte(`{"type":"server_vad","interrupt_response":false}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, agents.Config{FirstMessage: longAnswer, Voice: config}, realtime.Limits{})
			f.stack.Transcriber, _ = transcriber(t, speechtest.Heard{Text: "What are your opening hours?"})
			f.stack.Synthesizer = speaker(t)
			f.model.then(say("At nine."))
			run := f.stopClock()
			c := f.dial(t, f.create(t, sessions.Voice).VoiceURL)
			events := c.until("response.output_audio.delta")
			c.appendAudio(soundOf(t, f.stack.Synthesizer, "What are your opening hours?"))
			run()
			events = append(events, c.until("response.done")...)
			if kinds := types(events); slices.Contains(kinds, "input_audio_buffer.speech_started") ||
				slices.Contains(kinds, "input_audio_buffer.speech_stopped") || path(events[len(events)-1], "response", "status") != "completed" {
				t.Errorf("the client was told %v", kinds)
			}
			if whole, heard := soundOf(t, f.stack.Synthesizer, longAnswer), soundIn(t, events); len(heard) < len(whole)*8/10 {
				t.Errorf("%d of about %d samples were sent", len(heard), len(whole))
			}
			if said := transcriptsOf(c.until("response.done")); !slices.Contains(said, "At nine.") {
				t.Errorf("the answer is %q", said)
			}
		})
	}
}
