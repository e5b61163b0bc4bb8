package tools_test

import (
	"encoding/json"
	"testing"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/test/fake/mcpserver"
	"parlance.dev/parlance/tools"
)

// TestMCPExactSchema has a server restrict arguments to numbers that no double holds. The model
// gets every digit, and only the exact number is sent.
func TestMCPExactSchema(t *testing.T) {
	t.Parallel()
	f := newMCPFixture(t)
	const number, long = "9007199254740993", "123456789012345678901234567890"
	f.server.Tool("find", "", `{"type":"object","properties":{"n":{"enum":[`+number+`]},"l":{"const":`+long+
		`},"tiny":{"minimum":1e-200000}}}`, mcpserver.Echo)
	tool := f.add(t, f.params(tools.Config{}))
	registry := f.compose(t, f.Service, "ses_1", nil)
	if got, want := string(registry[0].InputSchema), `{"properties":{"l":{"const":`+long+`},"n":{"enum":[`+number+
		`]},"tiny":{"minimum":0}},"type":"object"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	run := func(n, l string) (tools.Outcome, error) {
		arguments := json.RawMessage(`{"n":` + n + `,"l":` + l + `}`)
		return f.Run(t.Context(), f.ref, tools.RunParams{ToolID: tool.ID, RemoteTool: "find", Arguments: arguments})
	}
	outcome, err := run(number, long)
	if want := `{"l":` + long + `,"n":` + number + `}`; err != nil || outcome.Error != nil || outcome.OutputText != want {
		t.Errorf("got %+v, %v, want %s", outcome, err, want)
	}
	_, err = run("9007199254740992", long)
	wantFault(t, err, fault.ToolArgumentsInvalid, "args.n")
	_, err = run(number, "123456789012345680000000000000")
	wantFault(t, err, fault.ToolArgumentsInvalid, "args.l")
}
