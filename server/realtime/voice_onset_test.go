package realtime_test

import (
	"slices"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

// TestInterruptedAtOnce: who speaks just when the agent begins to is heard.
func TestInterruptedAtOnce(t *testing.T) {
	t.Parallel()
	for _, after := range []string{"response.created", "response.output_audio.delta"} {
		t.Run(after, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, agents.Config{}, realtime.Limits{})
			f.stack.Transcriber, _ = transcriber(t, speechtest.Heard{Text: "Tell me everything."},
				speechtest.Heard{Text: "No, tell me the opening hours."}, speechtest.Heard{Text: "No, tell me the opening hours."})
			f.stack.Synthesizer = speaker(t)
			f.model.then(say(longAnswer), say("At nine."))
			c := f.dial(t, f.create(t, sessions.Voice).VoiceURL)
			c.want("session.created")
			run := f.stopClock()
			c.appendAudio(slices.Concat(soundOf(t, f.stack.Synthesizer, "Tell me everything."), silence(2000)))
			c.until(after)
			c.appendAudio(soundOf(t, f.stack.Synthesizer, "No, tell me the opening hours."))
			run()
			events := c.until("response.done")
			if path(events[len(events)-1], "response", "status") != "cancelled" ||
				!slices.Contains(types(events), "input_audio_buffer.speech_started") {
				t.Errorf("the answer went on: %v", types(events))
			}
			if said := transcriptsOf(c.until("response.done")); !slices.Contains(said, "At nine.") {
				t.Errorf("the answer is %q", said)
			}
		})
	}
}
