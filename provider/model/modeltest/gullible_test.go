package modeltest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/modeltest"
)

// TestGullible holds what tests elsewhere build on: echo, call by name, repeat the tool's answer.
func TestGullible(t *testing.T) {
	t.Parallel()
	tool := model.Tool{Name: "book_table", InputSchema: json.RawMessage(
		`{"type":"object","properties":{"guests":{"type":"integer"},"name":{"type":"string"},"when":{"enum":["noon"]}},` +
			`"required":["guests","name","when"]}`)}
	rows := []struct {
		name string
		last model.Message
		text string
		call string
	}{
		{"echo", model.Message{Role: model.RoleUser, Text: "good day"}, "You said: good day", ""},
		{"call", model.Message{Role: model.RoleUser, Text: `book_table {"guests": 2}`}, "", `book_table{"guests": 2}`},
		{
			"made-up arguments",
			model.Message{Role: model.RoleUser, Text: "Book_table"},
			"",
			`book_table{"guests":1,"name":"Book_table","when":"noon"}`,
		},
		{"repeat", model.Message{Role: model.RoleTool, Text: "booked"}, "The tool answered: booked", ""},
	}
	for _, row := range rows {
		reply := modeltest.Gullible(modeltest.Received{Messages: []model.Message{row.last}, Tools: []model.Tool{tool}})
		call := ""
		for _, c := range reply.Calls {
			call += c.Name + strings.Join(c.Arguments, "")
		}
		if got := strings.Join(reply.Text, ""); got != row.text || call != row.call {
			t.Errorf("%s: got %q and %q, want %q and %q", row.name, got, call, row.text, row.call)
		}
	}
}
