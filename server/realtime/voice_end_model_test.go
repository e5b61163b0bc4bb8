package realtime_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

// endModel is a model of the end of turns. Until it is on, it has no opinion.
type endModel struct {
	on    atomic.Bool
	asked atomic.Int64
}

func (m *endModel) Ask(audio []int16, _ string) <-chan float32 {
	vote := make(chan float32, 1)
	if m.on.Load() {
		m.asked.Store(int64(len(audio)))
		vote <- 1
	}
	return vote
}

// TestEndModel: an utterance ends when the model hears that, long before its silence would end it.
func TestEndModel(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{Voice: agents.Voice{VAD: []byte(`{"silence_duration_ms":3000}`)}}, realtime.Limits{})
	f.endModel.on.Store(true)
	f.stack.Transcriber, _ = transcriber(t, speechtest.Heard{Text: "What are your opening hours?"})
	f.stack.Synthesizer = speaker(t)
	f.model.then(say("At nine."))
	c := f.dial(t, f.create(t, sessions.Voice).VoiceURL)
	c.want("session.created")
	question := soundOf(t, f.stack.Synthesizer, "What are your opening hours?")
	run := f.stopClock() // no more than this silence is heard
	c.appendAudio(slices.Concat(question, silence(500)))
	c.until("input_audio_buffer.committed")
	run()
	c.until("response.done")
	if heard := f.endModel.asked.Load(); heard < 16000 {
		t.Errorf("the model heard %d samples of %d", heard, len(question)*2/3)
	}
}
