package realtime_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

// longAnswer takes about 12 s to say.
const longAnswer = "The first thing to know is that we open at nine. The second thing is that we close at six." +
	" The third thing is that we sell bread, cheese and wine. The fourth thing is that parking is free."

// heardOf is what the listener has heard of a turn's last item.
func heardOf(t *testing.T, f *fixture, id sessions.ID, turn int) string {
	t.Helper()
	turns, _, err := f.Transcript(t.Context(), f.principal, id, postgres.PageParams{Size: 10})
	if err != nil || len(turns) <= turn || len(turns[turn].Items) == 0 {
		t.Fatalf("the transcript: %+v %v", turns, err)
	}
	edit := turns[turn].Items[len(turns[turn].Items)-1].ItemEdit
	if edit.Cut == nil {
		t.Fatalf("nothing is cut: %+v", turns[turn])
	}
	return edit.Cut.Text
}

// inLongAnswer is a client that is hearing longAnswer, which the model has written to its end. The
// clock stands still until run is called.
func (f *fixture) inLongAnswer(t *testing.T) (made sessions.Created, c *client, run func()) {
	t.Helper()
	f.stack.Transcriber, _ = transcriber(t, speechtest.Heard{Text: "Tell me everything."})
	f.stack.Synthesizer = speaker(t)
	f.model.then(say(longAnswer))
	made = f.create(t, sessions.Voice)
	c = f.dial(t, made.VoiceURL)
	c.want("session.created")
	run = f.stopClock()
	c.appendAudio(slices.Concat(soundOf(t, f.stack.Synthesizer, "Tell me everything."), silence(2000)))
	item := c.listen(40)["item_id"].(string)
	c.send(`{"type":"conversation.item.retrieve","item_id":"` + item + `"}`)
	c.until("conversation.item.retrieved") // which comes behind the answer's end
	return made, c, run
}

// awaitHeard waits until it is noted that of longAnswer less than a half was heard.
func (f *fixture) awaitHeard(t *testing.T, id sessions.ID) {
	t.Helper()
	await(t, "what was heard is noted", func() bool { return f.transcript(t, id)[0].Items[1].Cut != nil })
	if got := heardOf(t, f, id, 0); len(got) < 3 || len(got) > len(longAnswer)/2 || !strings.HasPrefix(longAnswer, got) {
		t.Errorf("heard was %q", got)
	}
}

// TestRestOfALostAnswer: a client whose connection was lost in an answer hears the rest of it when
// it comes back, and the transcript has both parts.
func TestRestOfALostAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	made, c, run := f.inLongAnswer(t)
	_ = c.conn.CloseNow()
	back := f.dial(t, made.VoiceURL)
	events := back.until("response.output_audio.delta")
	run()
	events = append(events, back.until("response.done")...)
	heard := heardOf(t, f, made.Session.ID, 0)
	if len(heard) < 3 || len(heard) >= len(longAnswer) {
		t.Errorf("the first connection has heard %q", heard)
	}
	said := transcriptsOf(events)
	if len(said) == 0 || heard+" "+said[len(said)-1] != longAnswer {
		t.Errorf("behind %q the second connection was told %q", heard, said)
	}
	if len(soundIn(t, events)) == 0 {
		t.Error("the rest has no sound")
	}
}

// TestRestOfLongAgo: the rest is not said when the conversation has gone on elsewhere, or when it
// is too late.
func TestRestOfLongAgo(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(t *testing.T, f, other *fixture, url string){
		"gone on": func(t *testing.T, f, other *fixture, url string) {
			t.Helper()
			f.model.then(say("From Bern."))
			there := other.dial(t, url)
			there.want("session.created")
			there.say("Where is the cheese from?")
			there.until("conversation.item.done")
		},
		"too late": func(_ *testing.T, f, _ *fixture, _ string) { f.advance(sessions.DropGrace + time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, agents.Config{}, realtime.Limits{})
			other := f.beside(t)
			made, c, _ := f.inLongAnswer(t)
			_ = c.conn.CloseNow()
			f.awaitSession(t, made.Session.ID, "the drop", func(s sessions.Session) bool { return !s.DroppedAt.IsZero() })
			meanwhile(t, f, other, made.VoiceURL)
			back := f.dial(t, made.VoiceURL)
			back.want("session.created")
			back.send(`{"type":"conversation.item.retrieve","item_id":"item_none"}`) // the rest would come before its error
			for _, e := range back.until("error") {
				if text, _ := path(e, "delta").(string); e["type"] == "response.output_audio_transcript.delta" && strings.Contains(longAnswer, text) {
					t.Errorf("the agent goes on with %q", text)
				}
			}
		})
	}
}

// TestRestBehindAnotherAnswer: an answer that is being said when the connection is lost is cut to
// what was heard, and its rest is said later, also when the model writes the next answer already.
func TestRestBehindAnotherAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	made, c, run := f.inLongAnswer(t)
	asked, goOn := make(chan struct{}), make(chan struct{})
	f.model.then(func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
		close(asked)
		<-goOn
		return say("And cheese.")(ctx, req, emit)
	})
	c.say("And?")
	<-asked
	c.send(`{"type":"conversation.item.retrieve","item_id":"item_none"}`)
	c.until("error") // which comes behind the answer's begin
	_ = c.conn.CloseNow()
	f.awaitSession(t, made.Session.ID, "the drop", func(s sessions.Session) bool { return !s.DroppedAt.IsZero() })
	close(goOn)
	f.awaitTurns(t, made.Session.ID, sessions.TurnCompleted, 2)
	await(t, "what was heard is noted", func() bool { return f.transcript(t, made.Session.ID)[0].Items[1].Cut != nil })
	heard := heardOf(t, f, made.Session.ID, 0)
	back := f.dial(t, made.VoiceURL)
	run()
	for said := ""; heard+" "+said != longAnswer; {
		events := back.until("response.done")
		if all := transcriptsOf(events); len(all) > 0 {
			said = all[len(all)-1]
		}
	}
}

// TestHangUpWhileWriting: who hangs up while the model still writes has heard what was said until
// then.
func TestHangUpWhileWriting(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stack.Synthesizer = speaker(t)
	f.model.then(func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
		result, err := say(longAnswer)(ctx, req, emit)
		<-ctx.Done() // it would write more
		return result, errors.Join(err, ctx.Err())
	})
	made := f.create(t, sessions.Voice)
	c := f.dial(t, made.VoiceURL)
	c.want("session.created")
	c.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"When?"}]}}`)
	run := f.stopClock()
	c.send(`{"type":"response.create"}`)
	c.listen(40)
	if err := c.conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Fatal(err)
	}
	await(t, "the session ends", func() bool { return f.session(t, made.Session.ID).Closed() })
	run()
	if heard := heardOf(t, f, made.Session.ID, 0); len(heard) < 3 || len(heard) > len(longAnswer)/2 {
		t.Errorf("heard was %q", heard)
	}
}

// TestReplacedWhileSpeaking: a client that comes back before its old connection is known to be lost
// hears the rest too, and the transcript has both parts.
func TestReplacedWhileSpeaking(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	made, c, run := f.inLongAnswer(t)
	back := f.dial(t, made.VoiceURL)
	old := c.until("response.done")
	if got := path(old[len(old)-1], "response", "status"); got != "cancelled" {
		t.Errorf("the old connection was told that the answer is %v", got)
	}
	if got := c.closed().Code; got != 4409 {
		t.Errorf("the old connection was closed with %d", got)
	}
	events := back.until("response.output_audio.delta")
	run()
	events = append(events, back.until("response.done")...)
	heard := heardOf(t, f, made.Session.ID, 0)
	if said := transcriptsOf(events); len(said) == 0 || heard == "" || heard+" "+said[len(said)-1] != longAnswer {
		t.Errorf("behind %q the new connection was told %q", heard, said)
	}
	if len(soundIn(t, events)) == 0 {
		t.Error("the rest has no sound")
	}
}

// TestReplacedOnAnotherNode: the transcript has what was heard on the node that the client has
// left.
func TestReplacedOnAnotherNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	other := f.beside(t)
	made, c, _ := f.inLongAnswer(t)
	other.dial(t, made.VoiceURL).want("session.created")
	if got := c.closed().Code; got != 4409 {
		t.Errorf("the old connection was closed with %d", got)
	}
	f.awaitHeard(t, made.Session.ID)
}

// TestEndedWhileSpeaking: a session that is ended over HTTP has what was heard until then.
func TestEndedWhileSpeaking(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	made, c, _ := f.inLongAnswer(t)
	if _, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: sessions.Completed}); err != nil {
		t.Fatal(err)
	}
	c.closed()
	f.awaitHeard(t, made.Session.ID)
}

// TestCutWhileTheDatabaseFails: what was heard is noted once the database serves again.
func TestCutWhileTheDatabaseFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	made, c, _ := f.inLongAnswer(t)
	_, err := f.db.ExecContext(t.Context(), `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'starting up' USING ERRCODE = '57P03'; END $$;
		CREATE TRIGGER fails BEFORE UPDATE OF item_edits ON sessions FOR EACH ROW EXECUTE FUNCTION fail()`)
	if err != nil {
		t.Fatal(err)
	}
	c.send(`{"type":"response.cancel"}`, `{"type":"conversation.item.retrieve","item_id":"item_none"}`)
	c.until("error") // behind the cut
	if _, err := f.db.ExecContext(t.Context(), "DROP TRIGGER fails ON sessions"); err != nil {
		t.Fatal(err)
	}
	f.awaitHeard(t, made.Session.ID)
}

// TestReplacedWhileThinking: a voice socket is replaced while the model has not answered. The old
// one is closed, and the answer comes on the new one.
func TestReplacedWhileThinking(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stack.Synthesizer = speaker(t)
	asked, goOn := make(chan struct{}), make(chan struct{})
	f.model.then(func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
		close(asked)
		<-goOn
		return say("Here it is.")(ctx, req, emit)
	})
	made := f.create(t, sessions.Voice)
	c := f.dial(t, made.VoiceURL)
	c.want("session.created")
	c.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"When?"}]}}`)
	c.send(`{"type":"response.create"}`)
	<-asked
	back := f.dial(t, made.VoiceURL)
	if got := c.closed().Code; got != 4409 {
		t.Errorf("the old connection was closed with %d", got)
	}
	close(goOn)
	for {
		events := back.until("response.done")
		if done := fmt.Sprint(events[len(events)-1]); strings.Contains(done, "Here it is.") {
			break
		}
	}
}

// TestClientsTruncation: a client that says where it stopped gets the words until there, by the
// length of the whole sentence and not by what was sent of it.
func TestClientsTruncation(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stack.Transcriber, _ = transcriber(t, speechtest.Heard{Text: "Tell me everything."}, speechtest.Heard{Text: "Stop."})
	f.stack.Synthesizer = speaker(t)
	f.model.then(say(longAnswer), say("Yes."))
	made := f.create(t, sessions.Voice)
	c := f.dial(t, made.VoiceURL)
	c.want("session.created")
	run := f.stopClock()
	c.appendAudio(slices.Concat(soundOf(t, f.stack.Synthesizer, "Tell me everything."), silence(2000)))
	item := c.listen(25)["item_id"].(string)
	c.send(`{"type":"response.cancel"}`)
	c.until("conversation.item.truncated")
	run()
	ours := heardOf(t, f, made.Session.ID, 0)
	c.send(`{"type":"conversation.item.truncate","item_id":"` + item + `","content_index":0,"audio_end_ms":600}`)
	c.until("conversation.item.truncated")
	theirs := heardOf(t, f, made.Session.ID, 0)
	if len(theirs) > len(ours)+1 || !strings.HasPrefix(longAnswer, theirs) || len(theirs) > len("The first thing to know") {
		t.Errorf("600 ms are %q, and about a second is %q", theirs, ours)
	}
	c.send(`{"type":"conversation.item.truncate","item_id":"` + item + `","content_index":0,"audio_end_ms":2147483647}`)
	if failed := c.until("error"); path(failed[len(failed)-1], "error", "code") != "invalid_value" {
		t.Errorf("a truncation behind the end: %v", failed)
	}
}

// TestTextOnly: a client that wants text gets no sound, for what it says aloud either.
func TestTextOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stack.Transcriber, _ = transcriber(t, speechtest.Heard{Text: "Are you open?"})
	f.stack.Synthesizer = speaker(t)
	f.model.then(say("Yes."))
	c := f.dial(t, f.create(t, sessions.Voice).VoiceURL)
	c.want("session.created")
	c.send(`{"type":"session.update","session":{"output_modalities":["text"]}}`)
	c.want("session.updated")
	c.appendAudio(soundOf(t, f.stack.Synthesizer, "Are you open?"))
	events := c.until("response.done")
	if !slices.Contains(types(events), "response.output_text.done") || len(soundIn(t, events)) > 0 {
		t.Errorf("the answer: %v", kindsOf(events))
	}
}

// TestFileAtOnce: speech and a long silence in one frame are heard as if they had come one by one.
func TestFileAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	server := f.stack
	var heard interface {
		Requests() []speechtest.HeardRequest
	}
	transcribes, fake := transcriber(t, speechtest.Heard{Text: "Are you open?"})
	server.Transcriber, server.Synthesizer, heard = transcribes, speaker(t), fake.Hearing
	f.stack = server
	f.model.then(say("Yes."))
	c := f.dial(t, f.create(t, sessions.Voice).VoiceURL)
	c.want("session.created")
	question := soundOf(t, f.stack.Synthesizer, "Are you open?")
	file := append(slices.Clone(question), make([]int16, 8*24000)...)
	data := audio.Default.AppendEncode(nil, file)
	c.send(`{"type":"input_audio_buffer.append","audio":"` + base64.StdEncoding.EncodeToString(data) + `"}`)
	c.until("response.done")
	if got := heard.Requests(); len(got) != 1 || audio.Level(got[0].Samples) < -45 {
		t.Errorf("the transcriber was asked %d times", len(got))
	}
}

// inTranscription is a client whose question is being transcribed until the gate is closed.
func (f *fixture) inTranscription(t *testing.T) (made sessions.Created, c *client, gate chan struct{}) {
	t.Helper()
	gate = make(chan struct{})
	hears, server := transcriber(t, speechtest.Heard{Text: "When do you open?", Gate: gate})
	f.stack.Transcriber, f.stack.Synthesizer = hears, speaker(t)
	made = f.create(t, sessions.Voice)
	c = f.dial(t, made.VoiceURL)
	c.want("session.created")
	c.appendAudio(slices.Concat(soundOf(t, f.stack.Synthesizer, "When do you open?"), silence(2000)))
	await(t, "the transcriber is asked", func() bool { return len(server.Hearing.Requests()) > 0 })
	return made, c, gate
}

// replacedInTranscription is a client that has come back to a node, on another connection, before
// its question was transcribed. The model answers it.
func (f *fixture) replacedInTranscription(t *testing.T, to *fixture) (made sessions.Created, back *client) {
	t.Helper()
	made, c, gate := f.inTranscription(t)
	f.model.then(say("At nine."))
	back = to.dial(t, made.VoiceURL)
	back.want("session.created")
	wantClose(t, c.closed(), 4409, "replaced")
	close(gate)
	return made, back
}

// awaitUserText waits until the transcript has what the user has said in its turns.
func (f *fixture) awaitUserText(t *testing.T, id sessions.ID, want ...string) {
	t.Helper()
	await(t, fmt.Sprintf("the user has said %q", want), func() bool {
		var said []string
		for _, turn := range f.transcript(t, id) {
			said = append(said, turn.UserText)
		}
		return slices.Equal(said, want)
	})
}

// TestWordsOfReplaced: what is being transcribed while its client comes back on another connection
// is answered there.
func TestWordsOfReplaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	made, back := f.replacedInTranscription(t, f)
	if said := transcriptsOf(back.until("response.done")); !slices.Equal(said, []string{"At nine."}) {
		t.Errorf("the new connection was told %q", said)
	}
	f.awaitUserText(t, made.Session.ID, "When do you open?")
}

// TestWordsOfLeft: what is being transcribed while its client comes back to another node is seen by
// the model there.
func TestWordsOfLeft(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	made, back := f.replacedInTranscription(t, f.beside(t))
	f.awaitTurns(t, made.Session.ID, sessions.TurnCancelled, 1)
	f.awaitUserText(t, made.Session.ID, "When do you open?")
	back.say("So?")
	back.until("response.done")
	if seen := f.model.requests()[0].Messages; len(seen) != 2 || seen[0].Text != "When do you open?" {
		t.Errorf("the model was asked with %+v", seen)
	}
}

// TestWordsOfStopped: what is being transcribed while the node is stopped is in the transcript.
func TestWordsOfStopped(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	made, c, gate := f.inTranscription(t)
	stopped := make(chan error, 1)
	go func() { stopped <- f.Close(context.WithoutCancel(t.Context())) }()
	wantClose(t, c.closed(), 1012, "reconnect")
	close(gate)
	f.awaitUserText(t, made.Session.ID, "When do you open?")
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestWordsOfLost: what is being transcribed when the connection is lost is answered, and a client
// that comes back is told the words.
func TestWordsOfLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	made, c, gate := f.inTranscription(t)
	f.model.then(say("At nine."))
	seen := c.until("input_audio_buffer.speech_stopped")
	_ = c.conn.CloseNow()
	close(gate)
	f.awaitUserText(t, made.Session.ID, "When do you open?")
	f.awaitTurns(t, made.Session.ID, sessions.TurnCompleted, 1)
	back := f.dial(t, returning(made.VoiceURL, seen))
	told := back.until("conversation.item.input_audio_transcription.completed")
	if got := path(told[len(told)-1], "transcript"); got != "When do you open?" {
		t.Errorf("the words are %v", got)
	}
}

// TestLastWords: what somebody says who hangs up is in the transcript.
func TestLastWords(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stack.Transcriber, _ = transcriber(t, speechtest.Heard{Text: "I will call again tomorrow."})
	f.stack.Synthesizer = speaker(t)
	made := f.create(t, sessions.Voice)
	c := f.dial(t, made.VoiceURL)
	c.want("session.created")
	f.stopClock() // they hang up before their sentence has ended
	c.appendAudio(soundOf(t, f.stack.Synthesizer, "I will call again tomorrow."))
	c.want("input_audio_buffer.speech_started")
	_ = c.conn.Close(websocket.StatusNormalClosure, "")
	f.awaitSession(t, made.Session.ID, "the end", func(s sessions.Session) bool { return s.Status == sessions.Completed })
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{Size: 10})
	if err != nil || len(turns) != 1 || turns[0].UserText != "I will call again tomorrow." {
		t.Errorf("the transcript: %+v %v", turns, err)
	}
	if end := f.session(t, made.Session.ID).EndReason; end != sessions.ReasonHangUp {
		t.Errorf("the session ended by %s", end)
	}
}
