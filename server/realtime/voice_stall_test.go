package realtime_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

// TestStalledClient: a client whose sound comes late was taken to be silent meanwhile. The clock of
// what is heard is that of its sound all the same.
func TestStalledClient(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stack.Transcriber, _ = transcriber(t, speechtest.Heard{Text: "Hello."})
	f.stack.Synthesizer = speaker(t)
	f.model.then(say("Hello."))
	made := f.create(t, sessions.Voice)
	run := f.stopClock()
	c := f.dial(t, made.VoiceURL)
	c.want("session.created")
	c.send(`{"type":"session.update","session":{"type":"realtime","output_modalities":["text"],"audio":{"input":` +
		`{"turn_detection":{"type":"server_vad","idle_timeout_ms":5000}}}}}`)
	c.want("session.updated")
	c.appendAudio(silence(1000))
	c.send(`{"type":"input_audio_buffer.clear"}`)
	c.want("input_audio_buffer.cleared") // what came before was heard
	const stalled = 4900
	f.advance(stalled * time.Millisecond)
	c.until("input_audio_buffer.timeout_triggered")
	c.until("response.done") // nothing is dropped while the agent has the word
	c.appendAudio(silence(stalled))
	c.appendAudio(soundOf(t, f.stack.Synthesizer, "Hello."))
	run()
	events := c.until("input_audio_buffer.speech_started")
	began, _ := path(events[len(events)-1], "audio_start_ms").(float64)
	if sent := 1000.0 + stalled; began < sent-400 || began > sent+400 {
		t.Errorf("the speech began at %.0f ms of the sound, which has it at about %.0f", began, sent)
	}
}
