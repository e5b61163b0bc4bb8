package realtime_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/espeak"
	speechapi "parlance.dev/parlance/provider/speech/openai"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/speechopenai"
)

// patient are time-outs of services that a busy machine does not reach.
var patient = speech.Timeouts{Connect: patience, Transcript: patience, FirstAudio: patience, BetweenAudio: patience}

// speaker is the offline synthesizer.
func speaker(t *testing.T) speech.Synthesizer {
	t.Helper()
	tools := []devstack.Tool{{Command: "espeak-ng", Apt: "espeak-ng", Brew: "espeak-ng"}}
	if err := devstack.InstallTools(t.Context(), devstack.Options{Tools: tools, Log: t.Logf}); err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(t.Context(), sandbox.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := espeak.New(t.Context(), espeak.Config{Sandbox: box, Timeouts: patient})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// soundOf is a text as a user says it, at 24 kHz.
func soundOf(t *testing.T, with speech.Synthesizer, text string) []int16 {
	t.Helper()
	var samples []int16
	var resampler *audio.Resampler
	err := with.Speak(t.Context(), speech.Speech{Text: text, Language: "en"}, func(p speech.Piece) (err error) {
		if resampler == nil {
			resampler, err = audio.NewResampler(p.Rate, 24000)
		}
		samples = resampler.AppendResample(samples, p.Samples)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return resampler.AppendFlush(samples)
}

// transcriber is a fake server that hears the texts, one after the other.
func transcriber(t *testing.T, heard ...speechtest.Heard) (speech.StreamTranscriber, *speechopenai.Server) {
	t.Helper()
	server := speechopenai.New(t, speechtest.Key)
	server.Hearing.Add(heard...)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	made, err := speechapi.NewTranscriber(speechapi.Config{
		BaseURL: server.BaseURL, APIKey: speechtest.Key, Model: "whisper-1", Client: client, Timeouts: patient,
	})
	if err != nil {
		t.Fatal(err)
	}
	return speech.Whole(made), server
}

// appendAudio sends samples in frames of 20 ms.
func (c *client) appendAudio(samples []int16) {
	c.t.Helper()
	var events []string
	for frame := range slices.Chunk(samples, 480) {
		data := audio.Default.AppendEncode(nil, frame)
		events = append(events, `{"type":"input_audio_buffer.append","audio":"`+base64.StdEncoding.EncodeToString(data)+`"}`)
	}
	c.sendSound(c.read, events)
}

// sendSound sends events with sound while the clock stands still, and reads until the server has
// taken them: a user is not silent because the machine is slow.
func (c *client) sendSound(read func() (event, error), events []string) {
	c.t.Helper()
	run := c.f.stopClock()
	defer run()
	c.send(events...)
	c.send(`{"type":"unknown","event_id":"behind_the_sound"}`) // the error about it comes behind the sound
	var before []event
	for {
		e, err := read()
		if err != nil {
			c.t.Fatal(err)
		}
		if e["type"] == "error" && strings.Contains(fmt.Sprint(e), "There is no client event") {
			break
		}
		before = append(before, e)
	}
	c.unread = before
}

// pieceMS is how much of the agent's sound comes at once.
const pieceMS = 40

// listen reads so many pieces of the agent's sound while the clock stands still, but for the time
// that they take to play: the agent is no further than the test. It returns the last one.
func (c *client) listen(pieces int) (last event) {
	c.t.Helper()
	for range pieces {
		read := c.until("response.output_audio.delta")
		last = read[len(read)-1]
		c.f.advance(pieceMS * time.Millisecond)
	}
	return last
}

// kinds are the types of events, without those that are repeated.
func kindsOf(events []event) (kinds []string) {
	for _, kind := range types(events) {
		if len(kinds) == 0 || kinds[len(kinds)-1] != kind {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// soundIn is the sound of a response's events.
func soundIn(t *testing.T, events []event) []int16 {
	t.Helper()
	decoder := audio.Decoder{Format: audio.Default}
	var samples []int16
	for _, e := range events {
		if e["type"] == "response.output_audio.delta" {
			data, err := base64.StdEncoding.DecodeString(e["delta"].(string))
			if err != nil {
				t.Fatal(err)
			}
			samples = decoder.AppendDecode(samples, data)
		}
	}
	return samples
}

func TestSpokenTurn(t *testing.T) {
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	var heard *speechopenai.Server
	f.stack.Transcriber, heard = transcriber(t, speechtest.Heard{Text: "What are your opening hours?"})
	f.stack.Synthesizer = speaker(t)
	f.model.then(say("We open at nine ", "o'clock. Come by any time."))
	made := f.create(t, sessions.Voice)
	c := f.dial(t, made.VoiceURL)
	created := c.want("session.created")
	if got := path(created, "session", "output_modalities", 0); got != "audio" {
		t.Errorf("the session's modality is %v", got)
	}
	if got := path(created, "session", "audio", "input", "turn_detection", "interrupt_response"); got != true {
		t.Errorf("interrupt_response is %v", got)
	}
	asked := soundOf(t, f.stack.Synthesizer, "What are your opening hours?")
	c.appendAudio(asked)
	events := c.until("response.done")
	want := []string{
		"input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
		"conversation.item.added", "conversation.item.done", "conversation.item.input_audio_transcription.completed",
		"response.created", "response.output_item.added", "conversation.item.added", "response.content_part.added",
		"response.output_audio_transcript.delta", "response.output_audio.delta", "parlance.timing", "response.output_audio.delta",
		"response.output_audio.done", "response.output_audio_transcript.done", "response.content_part.done",
		"conversation.item.done", "response.output_item.done", "response.done",
	}
	if diff := cmp.Diff(want, kindsOf(events)); diff != "" {
		t.Errorf("the events (-want +got):\n%s", diff)
	}
	// About 3 s of speech, and no silence.
	answer := soundIn(t, events)
	if seconds := float64(len(answer)) / 24000; seconds < 2 || seconds > 6 || audio.Level(answer) < -40 {
		t.Errorf("%.1f s of sound at %.0f dB", seconds, audio.Level(answer))
	}
	done := events[len(events)-1]
	if got := path(done, "response", "output", 0, "content", 0, "transcript"); got != "We open at nine o'clock. Come by any time." {
		t.Errorf("the answer is %v", got)
	}
	// The transcriber got all that was said, at its own rate.
	requests := heard.Hearing.Requests()
	if len(requests) != 1 || requests[0].Rate != speech.HearingRate {
		t.Fatalf("the transcriber was asked %d times", len(requests))
	}
	if got, all := float64(len(requests[0].Samples))/16, float64(len(asked))/24; got < all-200 {
		t.Errorf("it heard %.0f of %.0f ms", got, all)
	}
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{Size: 10})
	if err != nil || len(turns) != 1 || turns[0].UserText != "What are your opening hours?" {
		t.Fatalf("the transcript: %v %v", turns, err)
	}
	if kinds := turns[0].Items; len(kinds) != 2 || kinds[0].Audio == nil || !kinds[1].Audio.Transcribed {
		t.Errorf("the spoken items: %+v", kinds)
	}
}

// interruption is spoken over an answer of the agent.
func TestInterruptedBySpeech(t *testing.T) {
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stack.Transcriber, _ = transcriber(t,
		speechtest.Heard{Text: "Tell me everything."}, speechtest.Heard{Text: "Stop, that is enough."},
		speechtest.Heard{Text: "Stop, that is enough."})
	f.stack.Synthesizer = speaker(t)
	long := "The first thing to know is that we open at nine. The second thing is that we close at six." +
		" The third thing is that we sell bread, cheese and wine. The fourth thing is that parking is free."
	f.model.then(say(long), say("All right."))
	made := f.create(t, sessions.Voice)
	c := f.dial(t, made.VoiceURL)
	c.want("session.created")
	run := f.stopClock()
	c.appendAudio(slices.Concat(soundOf(t, f.stack.Synthesizer, "Tell me everything."), silence(2000)))
	c.listen(30) // more than a second was sent
	c.appendAudio(soundOf(t, f.stack.Synthesizer, "Stop, that is enough!"))
	run()
	events := c.until("response.done")
	if got := path(events[len(events)-1], "response", "status_details", "reason"); got != "turn_detected" {
		t.Errorf("the answer ended with %v", events[len(events)-1])
	}
	if kinds := types(events); !slices.Contains(kinds, "input_audio_buffer.speech_started") {
		t.Errorf("no speech_started: %v", kinds)
	}
	cut := c.until("conversation.item.truncated")
	if ms, _ := path(cut[len(cut)-1], "audio_end_ms").(float64); ms < 500 || ms > 9000 {
		t.Errorf("cut at %v ms", ms)
	}
	c.until("response.done")
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{Size: 10})
	if err != nil || len(turns) != 2 {
		t.Fatalf("the transcript: %v %v", turns, err)
	}
	edit := turns[0].Items[len(turns[0].Items)-1].ItemEdit
	if edit.Cut == nil || !strings.HasPrefix(long, edit.Cut.Text) || len(edit.Cut.Text) < 3 || len(edit.Cut.Text) >= len(long) {
		t.Errorf("what was heard: %+v", edit.Cut)
	}
	requests := f.model.requests()
	last := requests[len(requests)-1].Messages
	if said := last[1].Text; strings.Contains(said, "fourth") {
		t.Errorf("the model saw what was not heard: %q", said)
	}
}
