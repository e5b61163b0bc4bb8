package realtime_test

import (
	"encoding/base64"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/deepgram"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
	deepgramfake "parlance.dev/parlance/test/fake/deepgram"
	"parlance.dev/parlance/voice"
)

// TestSpokenConversationOfElevenLabs: a client of ElevenLabs' protocol on a telephone's format is
// heard and spoken to, and its interruption has the ids that the SDK drops sound by.
func TestSpokenConversationOfElevenLabs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{Voice: agents.Voice{InputAudioFormat: "g711_alaw", OutputAudioFormat: "g711_ulaw"}}, realtime.Limits{})
	f.stack.Transcriber, _ = transcriber(t,
		speechtest.Heard{Text: "Tell me everything."}, speechtest.Heard{Text: "Stop, that is enough."},
		speechtest.Heard{Text: "Stop, that is enough."})
	f.stack.Synthesizer = speaker(t)
	long := "The first thing to know is that we open at nine. The second thing is that we close at six." +
		" The third thing is that we sell bread, cheese and wine. The fourth thing is that parking is free."
	f.model.then(say(long), say("All right."))
	made := f.create(t, sessions.Voice)
	c := f.dialEleven(t, made.VoiceURL)
	c.send(`{"type":"conversation_initiation_client_data"}`)
	metadata := c.until("conversation_initiation_metadata")[0]
	formats := path(metadata, "conversation_initiation_metadata_event")
	// The protocol has no A-law: the client is told µ-law, and is taken by its word.
	if path(formats, "user_input_audio_format") != "ulaw_8000" || path(formats, "agent_output_audio_format") != "ulaw_8000" {
		t.Errorf("the formats: %v", formats)
	}
	run := f.stopClock()
	c.speak(slices.Concat(soundOf(t, f.stack.Synthesizer, "Tell me everything."), silence(2000)))
	c.until("user_transcript")
	events := c.until("agent_response") // before it the first of its sound may come
	if got := path(events[len(events)-1], "agent_response_event", "agent_response"); got != long {
		t.Errorf("the whole text is sent before its sound has ended: %v", got)
	}
	sound, audioID := c.listen(events, 12_000) // 1.5 s
	decoder := audio.Decoder{Format: audio.Format{Encoding: audio.MuLaw, RateHz: 8000}}
	if level := audio.Level(decoder.AppendDecode(nil, sound)); level < -40 {
		t.Errorf("the sound has %.0f dB", level)
	}
	c.speak(soundOf(t, f.stack.Synthesizer, "Stop, that is enough!"))
	run()
	events = c.until("agent_response_correction")
	interrupted := events[slices.Index(types(events), "interruption")]
	if id, _ := path(interrupted, "interruption_event", "event_id").(float64); id <= audioID {
		t.Errorf("the interruption has the id %v, and the sound before it %v", id, audioID)
	}
	corrected, _ := path(events[len(events)-1], "agent_response_correction_event", "corrected_agent_response").(string)
	if len(corrected) < 3 || len(corrected) >= len(long) || !strings.HasPrefix(long, corrected) {
		t.Errorf("corrected to %q", corrected)
	}
	events = c.until("agent_response")
	if got := path(events[len(events)-1], "agent_response_event", "agent_response"); got != "All right." {
		t.Errorf("the next answer: %v", got)
	}
	if slices.Contains(types(events), "error") {
		t.Errorf("errors: %v", events)
	}
}

// listen returns at least length bytes of the agent's sound, of which events may have the first,
// and the id of its last piece. The clock stands still but for the time that the sound plays.
func (c eleven) listen(events []event, length int) (sound []byte, lastID float64) {
	c.t.Helper()
	for {
		for _, e := range events {
			if e["type"] != "audio" {
				continue
			}
			data, err := base64.StdEncoding.DecodeString(path(e, "audio_event", "audio_base_64").(string))
			if err != nil {
				c.t.Fatal(err)
			}
			sound = append(sound, data...)
			lastID = path(e, "audio_event", "event_id").(float64)
			c.f.advance(pieceMS * time.Millisecond)
		}
		if len(sound) >= length {
			return sound, lastID
		}
		events = c.until("audio")
	}
}

// speak sends sound in µ-law, in chunks of 100 ms.
func (c eleven) speak(samples []int16) {
	c.t.Helper()
	resampler, err := audio.NewResampler(24000, 8000)
	if err != nil {
		c.t.Fatal(err)
	}
	narrow := resampler.AppendFlush(resampler.AppendResample(nil, samples))
	c.sendChunks(audio.Format{Encoding: audio.MuLaw, RateHz: 8000}, narrow, 800)
}

// sendChunks sends samples of a format in chunks of a length.
func (c eleven) sendChunks(format audio.Format, samples []int16, length int) {
	c.t.Helper()
	var events []string
	for chunk := range slices.Chunk(samples, length) {
		data := format.AppendEncode(nil, chunk)
		events = append(events, `{"user_audio_chunk":"`+base64.StdEncoding.EncodeToString(data)+`"}`)
	}
	c.sendSound(c.read, events)
}

// TestWordsWhileTheyAreSpoken: a transcriber that streams shows the words as they come, and a
// finished sentence ends the turn sooner than silence alone.
func TestWordsWhileTheyAreSpoken(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	server := deepgramfake.New(t, speechtest.Key)
	server.Add(speechtest.Heard{
		Text: "Are you open today?",
		Partials: []speech.Partial{
			{Text: "are you", HeardMS: 300}, {Text: "Are you open today?", HeardMS: 700, Final: true},
		},
	})
	var dialer net.Dialer
	client := speech.SocketClient(dialer.DialContext, nil)
	t.Cleanup(client.CloseIdleConnections)
	streaming, err := deepgram.New(deepgram.Config{BaseURL: server.BaseURL, APIKey: speechtest.Key, Client: client, Timeouts: patient})
	if err != nil {
		t.Fatal(err)
	}
	f.stack = voice.Stack{Transcriber: streaming, Streaming: true, Punctuated: true, Synthesizer: speaker(t)}
	f.model.then(say("Until six."))
	c := f.dialEleven(t, f.create(t, sessions.Voice).VoiceURL)
	c.send(`{"type":"conversation_initiation_client_data"}`)
	c.until("conversation_initiation_metadata")
	c.sendChunks(audio.Default, soundOf(t, f.stack.Synthesizer, "Are you open today?"), 480)
	events := c.until("audio")
	var words []string
	for _, e := range events {
		if text, is := path(e, "tentative_user_transcription_event", "user_transcript").(string); is {
			words = append(words, text)
		}
	}
	if len(words) == 0 || words[len(words)-1] != "Are you open today?" { // the first ones may come together
		t.Errorf("the words so far: %q", words)
	}
}

// TestFeedbackInFarewell: feedback that comes while the farewell is spoken is kept.
func TestFeedbackInFarewell(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stack.Synthesizer = speaker(t)
	f.model.then(call("end_call", `{"reason":"done","message":"Thank you for calling. Have a very nice day, and goodbye."}`))
	made := f.create(t, sessions.Voice)
	c := f.dialEleven(t, made.VoiceURL)
	c.send(`{"type":"conversation_initiation_client_data"}`)
	f.stopClock() // the farewell does not end
	c.say("That was all.")
	c.one("audio")
	f.awaitSession(t, made.Session.ID, "the end", func(s sessions.Session) bool { return s.Closed() })
	c.send(`{"type":"feedback","score":"like","event_id":2}`)
	await(t, "the feedback is kept", func() bool {
		return slices.ContainsFunc(f.transcript(t, made.Session.ID), func(turn sessions.Turn) bool { return turn.Feedback == sessions.Like })
	})
}
