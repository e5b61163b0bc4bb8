package tools_test

import (
	"net/http"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/fake/mcpserver"
	"parlance.dev/parlance/test/harness"
)

// The tools of an MCP server are listed by their prefixed names, and run by their own.
func TestToolsOfMCPServer(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	crm := mcpserver.New(t)
	crm.Tool("find", "Finds a customer.", `{"type":"object","properties":{"name":{"type":"string"}}}`, mcpserver.Text("Ada lives in Riga."))
	crm.Tool("forget", "Forgets a customer.", `{"type":"object"}`, mcpserver.Text("gone"))
	made := w.Env.Do(t, http.MethodPost, w.Env.Tenant.In("/tools"), `{"slug": "crm", "description": "Customers.", "kind": "mcp",
		"mcp_server_url": "`+crm.URL+`", "approval": "listed", "approval_tools": ["forget"]}`, harness.Key(w.Env.Tenant.Admin))
	if made.Status != http.StatusCreated {
		t.Fatalf("make a tool: %s", made.Body)
	}
	w.tools(t, "", "attach", "crm").Wants(t, command.ExitDone)
	w.tools(t, "", "ls", "--agent", "default").Wants(t, command.ExitDone, "crm__find", "crm__forget", "on, asks the client")
	w.tools(t, "", "show", "crm").Wants(t, command.ExitDone, "asks the client", "listed forget", crm.URL)
	w.tools(t, "", "run", "crm", "--remote-tool", "find", "--arg", "name=Ada").Wants(t, command.ExitDone, "✓ crm", "Ada lives in Riga.")
	w.tools(t, "", "run", "crm").Wants(t, command.ExitFailed, "run crm: ")
	w.tools(t, "", "traces").Wants(t, command.ExitDone, `"name":"Ada"`, "a run")
}
