package realtime_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/speech"
	speechapi "parlance.dev/parlance/provider/speech/openai"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/speechopenai"
)

// transcriptsOf are the transcripts of the agent's items, in the order in which they were said.
func transcriptsOf(events []event) (said []string) {
	for _, e := range events {
		if e["type"] == "response.output_audio_transcript.done" {
			said = append(said, e["transcript"].(string))
		}
	}
	return said
}

// TestSilenceIsBroken: after silence the agent asks whether the user is there, then says goodbye,
// to its end, and the session is over.
func TestSilenceIsBroken(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{
		Voice: agents.Voice{Waiting: agents.Waiting{ReengageAfterMS: 400, ReengageMessage: "Hello?", GoodbyeMessage: "Good night."}},
	}, realtime.Limits{})
	f.stack.Transcriber, _ = transcriber(t)
	f.stack.Synthesizer = speaker(t)
	made := f.create(t, sessions.Voice)
	c := f.dial(t, made.VoiceURL)
	var events []event
	for {
		e, err := c.read()
		if err != nil {
			break
		}
		events = append(events, e)
	}
	if said := transcriptsOf(events); !slices.Equal(said, []string{"Hello?", "Good night."}) {
		t.Errorf("the agent said %q", said)
	}
	session := f.session(t, made.Session.ID)
	if session.EndReason != sessions.ReasonIdle || session.Status != sessions.Completed {
		t.Errorf("the session ended as %s: %s", session.Status, session.EndReason)
	}
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{Size: 10})
	if err != nil || len(turns) == 0 {
		t.Fatalf("the transcript: %v %v", turns, err)
	}
	if items := turns[0].Items; len(items) != 2 || items[0].Text != "Hello?" {
		t.Errorf("the transcript has %+v", turns[0])
	}
}

// TestFiller: when the model takes long, the agent says that it does, once, and the transcript does
// not have it.
func TestFiller(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{Voice: agents.Voice{
		Waiting: agents.Waiting{FillerAfterMS: new(150), Fillers: []string{"Let me see."}},
	}}, realtime.Limits{})
	f.stack.Transcriber, _ = transcriber(t, speechtest.Heard{Text: "How much is it?"})
	f.stack.Synthesizer = speaker(t)
	filled, release := make(chan struct{}), say("Five euros.")
	f.model.then(func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
		<-filled
		return release(ctx, req, emit)
	})
	made := f.create(t, sessions.Voice)
	c := f.dial(t, made.VoiceURL)
	c.want("session.created")
	c.appendAudio(soundOf(t, f.stack.Synthesizer, "How much is it?"))
	events := c.until("response.output_audio.delta")
	close(filled)
	events = append(events, c.until("response.done")...)
	if said := transcriptsOf(events); !slices.Equal(said, []string{"Let me see.", "Five euros."}) {
		t.Errorf("the agent said %q", said)
	}
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{Size: 10})
	if err != nil || len(turns) != 1 || turns[0].AgentText != "Five euros." {
		t.Errorf("the transcript: %+v %v", turns, err)
	}
}

// TestPushToTalk: without turn detection only the client ends an utterance, and asks for the
// answer.
func TestPushToTalk(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stack.Transcriber, _ = transcriber(t, speechtest.Heard{Text: "Are you open?"})
	f.stack.Synthesizer = speaker(t)
	f.model.then(say("Yes."))
	c := f.dial(t, f.create(t, sessions.Voice).VoiceURL)
	c.want("session.created")
	c.send(`{"type":"session.update","session":{"audio":{"input":{"turn_detection":null}}}}`)
	if got := path(c.want("session.updated"), "session", "audio", "input", "turn_detection"); got != nil {
		t.Errorf("turn_detection is %v", got)
	}
	question := soundOf(t, f.stack.Synthesizer, "Are you open?")
	c.appendAudio(question)
	c.appendAudio(make([]int16, 2*24000)) // a pause that would end a turn
	// The request for an answer waits for the words before it.
	c.send(`{"type":"input_audio_buffer.commit"}`, `{"type":"response.create","response":{"output_modalities":["text"]}}`)
	events := c.until("conversation.item.input_audio_transcription.completed")
	if kinds := types(events); slices.Contains(kinds, "input_audio_buffer.speech_started") || slices.Contains(kinds, "response.created") {
		t.Errorf("without detection: %v", kinds)
	}
	answer := c.until("response.done")
	if asked := f.model.requests()[0].Messages; len(asked) != 1 || asked[0].Text != "Are you open?" {
		t.Errorf("the model was asked %+v", asked)
	}
	if !slices.Contains(types(answer), "response.output_text.done") || len(soundIn(t, answer)) > 0 {
		t.Errorf("an answer in text: %v", kindsOf(answer))
	}
}

// TestTranscriberDown: what nobody understood is an item without words, and the agent answers.
func TestTranscriberDown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	down := speechtest.Heard{Refusal: speechtest.Refusal{Status: http.StatusInternalServerError}}
	f.stack.Transcriber, _ = transcriber(t, down, down, down, down)
	f.stack.Synthesizer = speaker(t)
	f.model.then(say("Sorry, say that again, please."))
	c := f.dial(t, f.create(t, sessions.Voice).VoiceURL)
	c.want("session.created")
	c.appendAudio(soundOf(t, f.stack.Synthesizer, "What are your opening hours?"))
	events := c.until("response.done")
	failed := events[slices.Index(types(events), "conversation.item.input_audio_transcription.failed")]
	if path(failed, "error", "code") != "upstream-failed" {
		t.Errorf("the failure: %v", failed)
	}
	if len(soundIn(t, events)) == 0 {
		t.Error("the agent said nothing")
	}
	if asked := f.model.requests()[0].Messages; !strings.Contains(asked[len(asked)-1].Text, "The user spoke here") {
		t.Errorf("the model saw %+v", asked)
	}
}

// TestStreamingTranscriberDown: where words would come while the user speaks, and none do because
// the transcriber cannot be reached, the user is answered too.
func TestStreamingTranscriberDown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	down := speechtest.Heard{Refusal: speechtest.Refusal{Status: http.StatusInternalServerError}}
	f.stack.Transcriber, _ = transcriber(t, down, down, down, down)
	f.stack.Streaming, f.stack.Punctuated = true, true
	f.stack.Synthesizer = speaker(t)
	f.model.then(say("Sorry, say that again, please."))
	c := f.dial(t, f.create(t, sessions.Voice).VoiceURL)
	c.want("session.created")
	c.appendAudio(slices.Concat(soundOf(t, f.stack.Synthesizer, "What are your opening hours?"), silence(2000)))
	events := c.until("response.done")
	kinds := types(events)
	if !slices.Contains(kinds, "conversation.item.input_audio_transcription.failed") || slices.Contains(kinds, "parlance.speech_dropped") ||
		len(soundIn(t, events)) == 0 {
		t.Errorf("the client was told %v", kinds)
	}
}

// synthesizerOf speaks by a server.
func synthesizerOf(t *testing.T, server *speechopenai.Server) speech.Synthesizer {
	t.Helper()
	synthesizer, err := speechapi.NewSynthesizer(speechapi.Config{
		BaseURL: server.BaseURL, APIKey: speechtest.Key, Timeouts: patient,
		Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return synthesizer
}

// TestSynthesizerDown: what cannot be spoken is text, and the client is told once.
func TestSynthesizerDown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	voice := speaker(t)
	f.stack.Transcriber, _ = transcriber(t, speechtest.Heard{Text: "What are your opening hours?"})
	server := speechopenai.New(t, speechtest.Key)
	server.Speaking.Else = func() speechtest.Spoken {
		return speechtest.Spoken{Refusal: speechtest.Refusal{Status: http.StatusInternalServerError}}
	}
	f.stack.Synthesizer = synthesizerOf(t, server)
	f.model.then(say("We open at nine o'clock in the morning. ", "Come by any time you like. And bring friends."))
	c := f.dial(t, f.create(t, sessions.Voice).VoiceURL)
	c.want("session.created")
	c.appendAudio(soundOf(t, voice, "What are your opening hours?"))
	events := c.until("response.done")
	errors := 0
	for _, e := range events {
		if e["type"] == "error" {
			errors++
			if path(e, "error", "code") != "upstream-failed" {
				t.Errorf("the error: %v", e)
			}
		}
	}
	if said := transcriptsOf(events); errors != 1 || len(said) != 1 || !strings.HasSuffix(said[0], "bring friends.") {
		t.Errorf("%d errors, and %q", errors, said)
	}
}

// TestSynthesizerBreaks: a sentence in whose middle the synthesizer broke off is said to its end,
// and nothing of it twice.
func TestSynthesizerBreaks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	server := speechopenai.New(t, speechtest.Key)
	whole := speechtest.Tone(24000 * 2) // 2 s
	spoken := speechtest.Bytes(whole)
	server.Speaking.Add(speechtest.Spoken{Pieces: [][]byte{spoken[:30000]}, End: speechtest.EndCut})
	server.Speaking.Else = func() speechtest.Spoken { return speechtest.Spoken{Pieces: [][]byte{spoken}} }
	f.stack.Synthesizer = synthesizerOf(t, server)
	f.model.then(say("We open at nine."))
	c := f.dial(t, f.create(t, sessions.Voice).VoiceURL)
	c.want("session.created")
	c.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"When?"}]}}`)
	c.send(`{"type":"response.create"}`)
	events := c.until("response.done")
	if heard := soundIn(t, events); len(heard) < len(whole)-480 || len(heard) > len(whole)+480 {
		t.Errorf("%d samples were sent of a sentence of %d", len(heard), len(whole))
	}
	for _, e := range events {
		if e["type"] == "error" {
			t.Errorf("the client was told %v", e)
		}
	}
	if asked := server.Speaking.Requests(); len(asked) != 2 || asked[0].Text != asked[1].Text {
		t.Errorf("the synthesizer was asked %+v", asked)
	}
}

// TestSaidToItsEnd: an agent that hangs up is heard to its last word before the socket closes.
func TestSaidToItsEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stack.Transcriber, _ = transcriber(t, speechtest.Heard{Text: "That was all."})
	f.stack.Synthesizer = speaker(t)
	f.model.then(call("end_call", `{"reason":"done","message":"Thank you for calling. Have a very nice day, and goodbye."}`))
	c := f.dial(t, f.create(t, sessions.Voice).VoiceURL)
	c.want("session.created")
	run := f.stopClock()
	c.appendAudio(slices.Concat(soundOf(t, f.stack.Synthesizer, "That was all."), silence(2000)))
	events := c.until("response.output_audio.delta")
	// The conversation is over: what is said now is not heard, and what is written is refused.
	c.appendAudio(soundOf(t, f.stack.Synthesizer, "Wait, I have another question."))
	c.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"Wait."}]}}`)
	refused := false
	for {
		e, err := c.read()
		if err != nil {
			break
		}
		events = append(events, e)
		if path(e, "error", "code") == "session-closed" {
			refused = true
			run()
		}
		if kind := e["type"]; kind == "input_audio_buffer.speech_started" ||
			kind == "response.done" && path(e, "response", "status") != "completed" {
			t.Errorf("the farewell was interrupted: %v", e)
		}
	}
	if !refused {
		t.Error("what was written was not refused")
	}
	whole := soundOf(t, f.stack.Synthesizer, "Thank you for calling. Have a very nice day, and goodbye.")
	if heard := soundIn(t, events); len(heard) < len(whole)*8/10 {
		t.Errorf("%d of about %d samples were sent", len(heard), len(whole))
	}
}

// TestAcknowledgement: "uh-huh" interrupts nothing, and all of the answer is said.
func TestAcknowledgement(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stack.Transcriber, _ = transcriber(t, speechtest.Heard{Text: "Tell me everything."}, speechtest.Heard{Text: "Uh-huh."})
	f.stack.Synthesizer = speaker(t)
	long := "The first thing to know is that we open at nine. The second thing is that we close at six."
	f.model.then(say(long))
	c := f.dial(t, f.create(t, sessions.Voice).VoiceURL)
	c.want("session.created")
	run := f.stopClock()
	c.appendAudio(slices.Concat(soundOf(t, f.stack.Synthesizer, "Tell me everything."), silence(2000)))
	var events []event
	for range 12 {
		events = append(events, c.until("response.output_audio.delta")...)
		f.advance(pieceMS * time.Millisecond)
	}
	c.appendAudio(soundOf(t, f.stack.Synthesizer, "Yes."))
	run()
	events = append(events, c.until("response.done")...)
	done := events[len(events)-1]
	if path(done, "response", "status") != "completed" {
		t.Errorf("the answer ended with %v", done)
	}
	starts := 0
	for _, kind := range types(events) {
		if kind == "input_audio_buffer.speech_started" {
			starts++
		}
	}
	if starts != 1 {
		t.Errorf("the client was told of speech %d times", starts)
	}
	if whole, heard := soundOf(t, f.stack.Synthesizer, long), soundIn(t, events); len(heard) < len(whole)*8/10 {
		t.Errorf("%d of about %d samples were sent", len(heard), len(whole))
	}
}

// TestLanguageFollows: after two utterances in another language the agent goes on in it.
func TestLanguageFollows(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{Language: "en"}, realtime.Limits{})
	german := speechtest.Heard{Text: "Wann haben Sie offen?", Language: "de"}
	f.stack.Transcriber, _ = transcriber(t, german, german)
	f.stack.Synthesizer = speaker(t)
	f.model.then(say("Ab neun."), say("Ab neun."))
	made := f.create(t, sessions.Voice)
	c := f.dial(t, made.VoiceURL)
	c.want("session.created")
	question := soundOf(t, f.stack.Synthesizer, "Wann haben Sie offen?")
	for turn, want := range []string{"en", "de"} {
		c.appendAudio(question)
		c.until("response.done")
		if got := f.session(t, made.Session.ID).Language; got != want {
			t.Errorf("after turn %d the session speaks %q, want %q", turn, got, want)
		}
	}
	if system := f.model.requests()[1].System; !strings.Contains(system, "language de") {
		t.Errorf("the instructions: %q", system)
	}
}

// TestGoingOn: a user who goes on before the answer was heard gets one answer to both utterances.
func TestGoingOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{Voice: agents.Voice{Waiting: agents.Waiting{FillerAfterMS: new(0)}}}, realtime.Limits{})
	f.stack.Transcriber, _ = transcriber(t, speechtest.Heard{Text: "I would like"}, speechtest.Heard{Text: "two tickets."})
	f.stack.Synthesizer = speaker(t)
	asked := make(chan struct{})
	f.model.then(func(ctx context.Context, _ model.Request, _ func(model.Event) error) (model.Result, error) {
		close(asked)
		<-ctx.Done()
		return model.Result{}, ctx.Err()
	}, say("Two tickets, then."))
	made := f.create(t, sessions.Voice)
	c := f.dial(t, made.VoiceURL)
	c.want("session.created")
	c.appendAudio(soundOf(t, f.stack.Synthesizer, "I would like"))
	<-asked
	c.appendAudio(soundOf(t, f.stack.Synthesizer, "two tickets."))
	events := c.until("response.done")
	if path(events[len(events)-1], "response", "status") != "cancelled" {
		t.Errorf("the first answer ended with %v", events[len(events)-1])
	}
	if said := transcriptsOf(c.until("response.done")); !slices.Equal(said, []string{"Two tickets, then."}) {
		t.Errorf("the agent said %q", said)
	}
	messages := f.model.requests()[1].Messages
	texts := []string{}
	for _, m := range messages {
		texts = append(texts, m.Text)
	}
	if !slices.Equal(texts, []string{"I would like", "two tickets."}) {
		t.Errorf("the model saw %q", texts)
	}
}
