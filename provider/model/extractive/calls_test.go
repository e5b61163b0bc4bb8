package extractive_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/extractive"
)

// TestTelephone: who asks for a call or a person gets one, if the agent has the tool.
func TestTelephone(t *testing.T) {
	t.Parallel()
	both := []model.Tool{{Name: "schedule_callback"}, {Name: "transfer_to_person"}}
	for said, want := range map[string]string{
		"Call me back tomorrow at nine at +1 201 555 0123.":       `"at":"2026-11-29T09:00","phone_number":"+12015550123"`,
		"Please call me at 3:30 pm on +4930123456":                `"at":"2026-11-28T15:30","phone_number":"+4930123456"`,
		"Could you call me in 20 minutes? My number: +4930123456": `"in_minutes":20,"phone_number":"+4930123456"`,
		"call me in an hour, +4930123456":                         `"in_minutes":60`,
		"Call me tomorrow at nine":                                "At which number?",
		"Call me on +4930123456":                                  "When should I call?",
		"I would like to speak to a person.":                      `"reason":"The user asked for a person."`,
		"Can you connect me with somebody?":                       `"reason":"The user asked for a person."`,
	} {
		got, err := extractive.New().Stream(t.Context(), model.Request{
			System: "You help. It is now 2026-11-28T10:15Z, a Saturday, UTC.", Tools: both,
			Messages: []model.Message{{Role: model.RoleUser, Text: said}},
		}, func(model.Event) error { return nil })
		text := got.Text
		for _, call := range got.ToolCalls {
			text += string(call.Arguments)
		}
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%q: %s, %v, want %s", said, text, err, want)
		}
	}
	got, err := extractive.New().Stream(t.Context(), model.Request{
		Messages: []model.Message{{Role: model.RoleUser, Text: "I would like to speak to a person."}},
	}, func(model.Event) error { return nil })
	if err != nil || len(got.ToolCalls) > 0 {
		t.Errorf("without the tool: %+v, %v", got.ToolCalls, err)
	}
}
