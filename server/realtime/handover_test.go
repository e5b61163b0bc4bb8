package realtime_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

func (f *fixture) takeOver(t *testing.T, id sessions.ID) {
	t.Helper()
	if _, err := f.Handover.TakeOver(t.Context(), f.principal, id, "Ruth"); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) operatorSays(t *testing.T, id sessions.ID, text string) {
	t.Helper()
	if _, err := f.Handover.Say(t.Context(), f.principal, id, text); err != nil {
		t.Fatal(err)
	}
}

// release gives the conversation back when nothing that was said waits any more: the agent would
// answer that.
func (f *fixture) release(t *testing.T, id sessions.ID) {
	t.Helper()
	f.awaitTurns(t, id, sessions.TurnInProgress, 0)
	if _, err := f.Handover.Release(t.Context(), f.principal, id, "Between us."); err != nil {
		t.Fatal(err)
	}
}

// TestHandedOver: a client of OpenAI's protocol sees the person's messages as those of the agent,
// and each response.create is refused by its event_id, because SDKs wait for an answer to it.
func TestHandedOver(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(say("The agent again."))
	made := f.create(t, sessions.Text)
	c := f.dial(t, made.ChatURL)
	c.want("session.created")
	f.takeOver(t, made.Session.ID)
	if told := c.want("parlance.handover"); told["status"] != "operator" || told["operator"] != "Ruth" {
		t.Errorf("told %v", told)
	}
	c.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi?"}]}}`,
		`{"type":"response.create","event_id":"mine"}`)
	if added := c.want("conversation.item.added"); path(added, "item", "role") != "user" {
		t.Errorf("the user's message %v", added)
	}
	c.want("conversation.item.done")
	if refused := c.want("error"); path(refused, "error", "code") != "session-taken-over" || path(refused, "error", "event_id") != "mine" {
		t.Errorf("response.create: %v", refused)
	}
	f.operatorSays(t, made.Session.ID, "Ruth here.")
	for _, kind := range []string{"conversation.item.added", "conversation.item.done"} {
		item := c.want(kind)
		if path(item, "item", "role") != "assistant" || path(item, "item", "content", 0, "text") != "Ruth here." ||
			path(item, "item", "parlance_operator") != "Ruth" {
			t.Errorf("the person's message %v", item)
		}
	}
	f.release(t, made.Session.ID)
	if told := c.want("parlance.handover"); told["status"] != "released" || told["operator"] != "" {
		t.Errorf("told %v", told)
	}
	c.say("And now?")
	read := c.until("response.done")
	if done := read[len(read)-1]; path(done, "response", "output", 0, "content", 0, "text") != "The agent again." {
		t.Errorf("after the release %v", done)
	}
}

// TestElevenLabsHandedOver: the same in ElevenLabs' protocol, in which nothing answers a message
// that nobody answers.
func TestElevenLabsHandedOver(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(say("The agent again."))
	made := f.create(t, sessions.Text)
	c := f.dialEleven(t, made.ChatURL)
	c.send(initiation)
	c.want("conversation_initiation_metadata")
	f.takeOver(t, made.Session.ID)
	if told := c.one("parlance_handover"); path(told, "parlance_handover", "status") != "operator" ||
		path(told, "parlance_handover", "operator") != "Ruth" {
		t.Errorf("told %v", told)
	}
	c.say("Hi?")
	c.one("user_transcript")
	c.say("Anybody?") // not held back behind an answer that does not come
	if second := c.one("user_transcript"); path(second, "user_transcription_event", "user_transcript") != "Anybody?" {
		t.Errorf("the second message %v", second)
	}
	f.operatorSays(t, made.Session.ID, "Ruth here.")
	read := c.until("agent_response")
	said := read[len(read)-1]
	if path(said, "agent_response_event", "agent_response") != "Ruth here." ||
		path(said, "agent_response_event", "parlance_operator") != "Ruth" {
		t.Errorf("the person's message %v", said)
	}
	if kinds := strings.Join(types(read), " "); strings.Contains(kinds, "error") || strings.Contains(kinds, "typing") {
		t.Errorf("before it came %s", kinds)
	}
	f.release(t, made.Session.ID)
	if told := c.one("parlance_handover"); path(told, "parlance_handover", "status") != "released" {
		t.Errorf("told %v", told)
	}
	c.say("And now?")
	read = c.until("agent_response")
	if answer := read[len(read)-1]; path(answer, "agent_response_event", "agent_response") != "The agent again." {
		t.Errorf("after the release %v", answer)
	}
}

// TestOperatorIsSpoken: where answers are spoken, the person's messages are spoken too.
func TestOperatorIsSpoken(t *testing.T) {
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stack.Synthesizer = speaker(t)
	made := f.create(t, sessions.Voice)
	c := f.dial(t, made.VoiceURL)
	c.want("session.created")
	f.takeOver(t, made.Session.ID)
	c.until("parlance.handover")
	f.operatorSays(t, made.Session.ID, "This is Ruth speaking.")
	read := c.until("response.done")
	if sound := soundIn(t, read); len(sound) < 24000/2 || audio.Level(sound) < -40 {
		t.Errorf("%d samples of sound, %v", len(sound), kindsOf(read))
	}
	done := read[len(read)-1]
	if path(done, "response", "output", 0, "content", 0, "transcript") != "This is Ruth speaking." {
		t.Errorf("said %v", done)
	}
	f.awaitTurns(t, made.Session.ID, sessions.TurnCompleted, 1)
}
