package convai_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/convai"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// TestOneWrongOverride: an override of the wrong type is an error, and the others apply.
func TestOneWrongOverride(t *testing.T) {
	t.Parallel()
	d := newDialect(sessions.ChatChannel)
	step := d.Frame([]byte(`{"type":"conversation_initiation_client_data","conversation_config_override":{
		"agent":{"language":"de","native_mcp_server_ids":"m","prompt":{"llm":"m-2"}},"tts":"ada","asr":{"keywords":["Bern"]},
		"conversation":{"client_events":["audio",5]}}}`))
	var wrong []any
	for _, e := range decoded(t, step) {
		fields, _ := field(e, "error_event", "details", "fields").([]any)
		for _, one := range fields {
			wrong = append(wrong, one.(event)["field"])
		}
	}
	if diff := cmp.Diff([]any{
		"conversation_config_override.agent.native_mcp_server_ids",
		"conversation_config_override.tts",
		"conversation_config_override.conversation.client_events",
	}, wrong); diff != "" {
		t.Errorf("told of (-want +got):\n%s", diff)
	}
	want := live.Configure{CommandID: "conversation_initiation_client_data", Overrides: map[string]json.RawMessage{
		"language": json.RawMessage(`"de"`), "model": json.RawMessage(`"m-2"`), "stt": json.RawMessage(`{"keywords":["Bern"]}`),
	}}
	if diff := cmp.Diff(live.Command(want), step.Commands[0]); diff != "" {
		t.Errorf("the command (-want +got):\n%s", diff)
	}
	if more := d.Event(turns.ResponseStarted{}); len(more.Frames) != 1 {
		t.Error("events that were not asked for are left out")
	}
}

// TestLateFirstMessage: a first message after the conversation has begun is an error, and the rest
// of the data applies. A client that comes back sends it again without an error.
func TestLateFirstMessage(t *testing.T) {
	t.Parallel()
	const data = `{"type":"conversation_initiation_client_data","conversation_config_override":{"agent":{"first_message":"Hi!",` +
		`"language":"de"}}}`
	for name, row := range map[string]struct {
		before  func(d *convai.Dialect)
		allowed bool
		late    bool
	}{
		"in time":               {func(*convai.Dialect) {}, true, false},
		"behind a second":       {func(d *convai.Dialect) { d.PauseEnded() }, true, true},
		"behind another event":  {func(d *convai.Dialect) { d.Frame([]byte(`{"type":"user_activity"}`)) }, true, true},
		"late and not allowed":  {func(d *convai.Dialect) { d.PauseEnded() }, false, false}, // the conversation refuses it
		"of a returning client": {func(d *convai.Dialect) { d.PauseEnded(); d.Reopen(nil) }, true, false},
	} {
		config := agents.Config{FirstMessage: "Hello!"}
		if row.allowed {
			config.ClientOverrides = []string{"first_message"}
		}
		d := convai.New(dialect.Params{Session: sessions.Session{ID: "ses_1", Config: config}, Channel: sessions.ChatChannel})
		d.Open()
		d.PauseEnded()
		row.before(d)
		step := d.Frame([]byte(data))
		told := decoded(t, step)
		configure, _ := step.Commands[0].(live.Configure)
		if configure.Overrides["language"] == nil || (configure.Overrides["first_message"] == nil) != row.late ||
			(len(told) == 1) != row.late {
			t.Errorf("%s: sent %v and %v", name, told, step.Commands)
		}
	}
}

func TestSecondInitiationIsRefused(t *testing.T) {
	t.Parallel()
	d := newDialect(sessions.ChatChannel)
	data := []byte(`{"type":"conversation_initiation_client_data"}`)
	if got := decoded(t, d.Frame(data)); len(got) != 0 {
		t.Errorf("the first: %v", got)
	}
	if got := decoded(t, d.Frame(data)); len(got) != 1 || got[0]["type"] != "error" {
		t.Errorf("the second: %v", got)
	}
}
