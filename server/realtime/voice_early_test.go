package realtime_test

import (
	"slices"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

// startsEarly are agents that transcribe, and ask the model, when the user has probably finished.
var startsEarly = agents.Config{Voice: agents.Voice{
	TurnDetection: []byte(`{"type":"server_vad","start_early":true}`),
	VAD:           []byte(`{"silence_duration_ms":1500}`),
	Waiting:       agents.Waiting{FillerAfterMS: new(0)},
}}

func silence(ms int) []int16 {
	return make([]int16, audio.Samples(time.Duration(ms)*time.Millisecond, 24000))
}

// TestStartEarly: what was said is transcribed once, and the model is asked once, both before the
// user is believed to have finished. The answer comes after that.
func TestStartEarly(t *testing.T) {
	t.Parallel()
	f := newFixture(t, startsEarly, realtime.Limits{})
	stack := &f.stack
	fake, heard := transcriber(t, speechtest.Heard{Text: "What are your opening hours?"})
	stack.Transcriber, stack.Synthesizer = fake, speaker(t)
	f.model.then(say("We open at nine."))
	made := f.create(t, sessions.Voice)
	c := f.dial(t, made.VoiceURL)
	c.want("session.created")
	question := slices.Concat(soundOf(t, stack.Synthesizer, "What are your opening hours?"), silence(400))
	run := f.stopClock()
	c.appendAudio(question)
	await(t, "the model is asked", func() bool { return len(f.model.requests()) == 1 })
	run()
	events := c.until("response.done") // committed is among what came after the model was asked: without sound, time stood still
	for _, kind := range []string{"input_audio_buffer.committed", "response.output_audio.delta"} {
		if !slices.Contains(types(events), kind) {
			t.Errorf("no %s", kind)
		}
	}
	if requests := heard.Hearing.Requests(); len(requests) != 1 || len(f.model.requests()) != 1 {
		t.Errorf("the transcriber was asked %d times, the model %d times", len(requests), len(f.model.requests()))
	}
	taken, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{Size: 10})
	if err != nil || len(taken) != 1 || taken[0].UserText != "What are your opening hours?" || taken[0].AgentText != "We open at nine." {
		t.Errorf("the transcript: %+v %v", taken, err)
	}
}

// TestStartEarlyThrownAway: a user who goes on is answered once, to all that they have said.
func TestStartEarlyThrownAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t, startsEarly, realtime.Limits{})
	fake, heard := transcriber(t, speechtest.Heard{Text: "I would like"}, speechtest.Heard{Text: "I would like two tickets."})
	f.stack.Transcriber, f.stack.Synthesizer = fake, speaker(t)
	f.model.then(say("What would you like?"), say("Two tickets, then."))
	made := f.create(t, sessions.Voice)
	c := f.dial(t, made.VoiceURL)
	c.want("session.created")
	run := f.stopClock()
	c.appendAudio(slices.Concat(soundOf(t, f.stack.Synthesizer, "I would like"), silence(400)))
	await(t, "the model is asked ahead", func() bool { return len(f.model.requests()) == 1 })
	c.appendAudio(soundOf(t, f.stack.Synthesizer, "two tickets."))
	run()
	if said := transcriptsOf(c.until("response.done")); !slices.Equal(said, []string{"Two tickets, then."}) {
		t.Errorf("the agent said %q", said)
	}
	requests := f.model.requests()
	if last := requests[len(requests)-1].Messages; len(last) != 1 || last[0].Text != "I would like two tickets." {
		t.Errorf("the model was asked %+v", last)
	}
	if all := heard.Hearing.Requests(); len(all[1].Samples) <= len(all[0].Samples) {
		t.Errorf("the second transcription has %d samples, the first %d", len(all[1].Samples), len(all[0].Samples))
	}
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(patience)
	for !is() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("%s: it did not happen", what)
		}
	}
}
