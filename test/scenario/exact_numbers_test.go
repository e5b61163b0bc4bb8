package scenario

import (
	"context"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/fake/mcpserver"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// longNumber is an account number that no double holds; as one it becomes 12345678901234568.
const longNumber = "12345678901234567"

// TestExactNumbers: integers above 2^53 keep their digits in test runs, paths, the operator's body
// members, schemas, calls of turns, of clients and of MCP servers, traces, transcripts and events.
func TestExactNumbers(t *testing.T) {
	t.Parallel()
	asks := func(name string) openaichat.Call {
		return openaichat.Call{ID: "c_" + name, Name: name, Arguments: []string{`{"account":` + longNumber + `}`}}
	}
	llm := openaichat.New(t,
		openaichat.Reply{Calls: []openaichat.Call{asks("pay"), asks("ledger")}},
		openaichat.Reply{Text: []string{"Paid."}},
		openaichat.Reply{Calls: []openaichat.Call{asks("sign")}},
	)
	shop, ledger := httptool.New(t), mcpserver.New(t)
	answer := func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{
			Content:           []mcp.Content{&mcp.TextContent{Text: "Found."}},
			StructuredContent: struct{ Owner uint64 }{Owner: 98765432109876543},
		}, nil
	}
	ledger.Tool("ledger", "Looks an account up.", `{"type":"object"}`, answer)
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_API_KEY": "sk-0123456789abcdef", "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	pay := `{"slug":"pay","description":"Pays.","kind":"http","webhook_url":"` + shop.URL + `/accounts/{account}","path_params":["account"],
		"input_schema":{"type":"object","properties":{"account":{"const":` + longNumber + `}},"required":["account"]},
		"hardcoded_body_params":{"from":` + longNumber + `}}`
	payID := ""
	for _, tool := range []string{
		pay, `{"slug":"ledger","description":"Looks up.","kind":"mcp","mcp_server_url":"` + ledger.URL + `"}`,
	} {
		made := env.Do(t, "POST", env.Tenant.In("/tools"), tool).Must(t, 201)
		if payID == "" {
			payID = made.Text("id")
			exact(t, made, `"const":`+longNumber,
				`"hardcoded_body_params":{"from":`+longNumber+`}`, `"hardcoded_body_params_json":"{\"from\":`+longNumber+`}"`)
		}
		env.Do(t, "POST", env.Tenant.In("/agents/"+agent+"/tools/attach"), map[string]any{"tool_id": made.Text("id")}).Must(t, 200)
	}

	shop.Script("/accounts/"+longNumber, httptool.Step{
		Header: map[string]string{"Content-Type": "application/json"}, Body: `{"receipt":` + longNumber + `}`,
	})
	run := env.Do(t, "POST", env.Tenant.In("/tools/"+payID+"/run"), `{"args":{"account":`+longNumber+`}}`).Must(t, 200)
	exact(t, run, `"output":{"receipt":`+longNumber+`}`, `"output_json":"{\"receipt\":`+longNumber+`}"`)
	if got := shop.Requests("/accounts/" + longNumber); len(got) != 1 || got[0].Body != `{"from":`+longNumber+`}` {
		t.Errorf("the endpoint got %+v", got)
	}
	for _, p := range harness.Protocols() {
		answer, err := env.Clients(t, p, env.Tenant.Admin).Tools.RunTool(t.Context(), &parlancev1.RunToolRequest{
			WorkspaceId: env.Tenant.WorkspaceID, ToolId: payID, ArgsJson: `{"account": ` + longNumber + `}`,
		})
		if err != nil || answer.GetOutputJson() != `{"receipt":`+longNumber+`}` {
			t.Errorf("%s: got %v (%v)", p.Name, answer, err)
		}
		_, err = env.Clients(t, p, env.Tenant.Admin).Tools.RunTool(t.Context(), &parlancev1.RunToolRequest{
			WorkspaceId: env.Tenant.WorkspaceID, ToolId: payID, ArgsJson: `[1]`,
		})
		if connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%s: arguments that are no object: got %v", p.Name, err)
		}
	}

	session := env.Do(t, "POST", "/v1/sessions", map[string]any{"agent_id": agent, "user_id": "u", "modality": "text"}).Must(t, 201).Text("id")
	turn := env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Pay."}`).Must(t, 200)
	exact(t, turn, `"input":{"account":`+longNumber+`}`, `"input_json":"{\"account\":`+longNumber+`}"`, `98765432109876543`)
	asked := llm.Requests()
	if told := string(asked[len(asked)-1].Body); !strings.Contains(told, longNumber) || !strings.Contains(told, "98765432109876543") {
		t.Errorf("the model read %s", told)
	}
	client := env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Sign.","client_tools":[{"name":"sign",
		"parameters":{"type":"object","properties":{"account":{"type":"integer","minimum":`+longNumber+`}}}}]}`).Must(t, 200)
	exact(t, client, `"client_tool_calls":[{`, `"input":{"account":`+longNumber+`}`)
	asked = llm.Requests()
	if offered := string(asked[len(asked)-1].Body); !strings.Contains(offered, `"minimum":`+longNumber) {
		t.Errorf("the model was offered %s", offered)
	}
	for _, path := range []string{"/transcript", "/tool-calls"} {
		exact(t, env.Do(t, "GET", "/v1/sessions/"+session+path, nil).Must(t, 200), `"input":{"account":`+longNumber+`}`)
	}
	exact(t, env.Do(t, "GET", env.Tenant.In("/tools/"+payID+"/calls"), nil).Must(t, 200), `"input":{"account":`+longNumber+`}`)
}

// exact checks that an answer has each of the texts.
func exact(t *testing.T, answer harness.Response, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(string(answer.Body), text) {
			t.Errorf("there is no %s in %s", text, answer.Body)
		}
	}
}
