package tools_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/tools"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/fake/httptool"
)

// shopDocument describes an API at the given address, with operations that tools support and that
// they do not.
const shopDocument = `
openapi: 3.0.3
info: {title: Shop, version: "1"}
servers: [{url: '%s/v1'}]
security: [{token: []}]
paths:
  /orders/{order-id}:
    get:
      operationId: getOrder
      summary: Look an order up
      parameters:
        - {name: order-id, in: path, required: true, schema: {type: string}}
        - {name: fields, in: query, schema: {type: array, items: {type: string}}}
    delete:
      operationId: cancelOrder
      deprecated: true
      parameters: [{name: order-id, in: path, required: true, schema: {type: string}}]
  /orders:
    post:
      operationId: createOrder
      summary: Place an order
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}
  /pictures:
    post:
      operationId: addPicture
      requestBody: {required: true, content: {image/png: {}}}
  /status:
    get: {operationId: getStatus, security: [{key: []}]}
  /calls:
    post: {operationId: end_call, security: []}
components:
  securitySchemes:
    token: {type: http, scheme: bearer}
    key: {type: apiKey, in: header, name: X-Key}
  schemas:
    Order:
      type: object
      required: [book]
      properties:
        id: {type: string, readOnly: true}
        book: {type: string}
        count: {type: integer, minimum: 1, nullable: true}
        gift: {type: boolean}
`

// toolsWorld is a running service and an API to make tools of.
type toolsWorld struct {
	clitest.Service
	api *httptool.Server
	// document is the path of the API's OpenAPI document.
	document string
}

func startTools(t *testing.T) toolsWorld {
	t.Helper()
	w := toolsWorld{Service: clitest.Start(t, clitest.Options{}), api: httptool.New(t), document: filepath.Join(t.TempDir(), "shop.yaml")}
	clitest.WriteFile(t, w.document, fmt.Sprintf(shopDocument, w.api.URL))
	return w
}

// tools runs `parlance tools`.
func (w toolsWorld) tools(t *testing.T, input string, args ...string) clitest.Result {
	t.Helper()
	return w.Run(t, input, "tools", args[0], args[1:]...)
}

// add runs `parlance tools add` on the document.
func (w toolsWorld) add(t *testing.T, args ...string) clitest.Result {
	t.Helper()
	return w.tools(t, "", append([]string{"add", "--from-openapi", w.document}, args...)...)
}

// slugs are the workspace's custom tools, newest first.
func (w toolsWorld) slugs(t *testing.T) []string {
	t.Helper()
	var slugs []string
	for _, line := range w.tools(t, "", "ls", "--json").JSONLines(t) {
		slugs = append(slugs, line["slug"].(string))
	}
	return slugs
}

// A document becomes tools of an agent, and one of them is called.
func TestToolsFromOpenAPI(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	secret := filepath.Join(t.TempDir(), "token.txt")
	clitest.WriteFile(t, secret, "tok-1234567890\n")
	w.api.Script("/v1/orders/A%2F7", httptool.Step{
		Header: map[string]string{"Content-Type": "application/json"},
		Body:   `{"status": "shipped", "token": "tok-1234567890"}`,
	})
	args := []string{"--all", "--auth-header", "@" + secret, "--attach", "default"}

	looked := w.add(t, append(args, "--dry-run")...)
	looked.Wants(t, command.ExitDone, "Shop 1 (OpenAPI 3.0.3): 4 tools, 2 left out", "They call "+w.api.URL, "get_order",
		"GET "+w.api.URL+"/v1/orders/{order-id}",
		"it takes image/png; tools send JSON", "deprecated", "end_call_api", "The API wants Authorization: Bearer … "+
			"(token)", "secret__x_key", "4 to be made")
	if slugs := w.slugs(t); len(slugs) > 0 {
		t.Fatalf("a dry run made %q", slugs)
	}
	w.add(t, args...).Wants(t, command.ExitUsage, "nobody is there to be asked")
	made := w.add(t, append(args, "--yes")...)
	made.Wants(t, command.ExitDone, "✓ get_order", "✓ create_order", "4 made, 2 left out, 4 attached to "+w.Agent, "parlance tools run")
	if strings.Contains(looked.Out+made.Out, "tok-1234567890") {
		t.Error("the token is shown")
	}
	if slugs := w.slugs(t); len(slugs) != 4 {
		t.Errorf("tools %q, want four", slugs)
	}
	w.tools(t, "", "ls").Wants(t, command.ExitDone, "get_order", "http", "sealed")
	if found := w.tools(t, "", "ls", "--query", "PLACE an", "--json").JSONLines(t); len(found) != 1 || found[0]["slug"] != "create_order" {
		t.Errorf("found %v", found)
	}
	if all := w.tools(t, "", "ls", "--all", "--order-by", "name", "--json").JSONLines(t); len(all) < 8 || all[0]["slug"] != "add_memory_note" {
		t.Errorf("all by name: %v", all)
	}
	w.tools(t, "", "ls", "--query", "nothing").Wants(t, command.ExitDone, "no such tool")
	w.tools(t, "", "ls", "--query", "x", "--agent", "default").Wants(t, command.ExitUsage, "--agent")
	w.tools(t, "", "ls", "--agent", "default").Wants(t, command.ExitDone, "create_order", "end_call", "schedule_callback", "off: not enabled")
	w.tools(t, "", "show", "create_order").Wants(t, command.ExitDone, "Place an order", "POST "+w.api.URL+"/v1/orders",
		"sealed; it is sent and never shown", `"minimum": 1`)

	run := w.tools(t, "", "run", "get_order", "--arg", "order-id=A/7", "--arg", "fields=status", "--arg", "fields=total", "--request")
	run.Wants(t, command.ExitDone, "✓ get_order  answered, HTTP 200", `"status":"shipped"`, "/v1/orders/A%2F7?fields=status&fields=total")
	if strings.Contains(run.Out, "tok-1234567890") {
		t.Errorf("a run shows the token:\n%s", run.Out)
	}
	if got := w.api.Requests("/v1/orders/A%2F7")[0].Header.Get("Authorization"); got != "Bearer tok-1234567890" {
		t.Errorf("Authorization %q", got)
	}
	w.tools(t, "", "run", "create_order", "--args", `{"book": "Dune"}`, "--arg", "count=2", "--arg",
		"gift=true").Wants(t, command.ExitDone, "HTTP 200")
	sent := w.api.Requests("/v1/orders")
	if len(sent) != 1 || !strings.Contains(sent[0].Body, `"book":"Dune"`) ||
		!strings.Contains(sent[0].Body, `"count":2`) || !strings.Contains(sent[0].Body, `"gift":true`) {
		t.Errorf("sent %+v", sent)
	}
	// A secret that is not in the Authorization header becomes a variable.
	w.tools(t, "", "run", "get_status").Wants(t, command.ExitFailed, "secret__x_key")
	key := filepath.Join(t.TempDir(), "key.txt")
	clitest.WriteFile(t, key, "key-1234567890\n")
	w.tools(t, "", "run", "get_status", "--var", "secret__x_key=@"+key).Wants(t, command.ExitDone, "HTTP 200")
	w.tools(t, "", "run", "end_call_api").Wants(t, command.ExitDone, "HTTP 200")
	status, calls := w.api.Requests("/v1/status"), w.api.Requests("/v1/calls")
	if got := status[0].Header; got.Get("X-Key") != "key-1234567890" || got.Get("Authorization") != "" {
		t.Errorf("get_status sent %v", got)
	}
	if got := calls[0].Header.Get("Authorization"); got != "" {
		t.Errorf("an operation without security is sent %q", got)
	}
}

func TestToolsAddAgain(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	w.add(t, "--operation", "getOrder", "--operation", "POST /orders", "--yes").Wants(t, command.ExitDone, "2 made")
	w.add(t, "--operation", "get_order", "--operation", "createOrder", "--yes").Wants(t, command.ExitDone, "2 there already")
	if slugs := w.slugs(t); len(slugs) != 2 {
		t.Fatalf("tools %q, want two", slugs)
	}
	changed := strings.Replace(fmt.Sprintf(shopDocument, w.api.URL), "Look an order up", "Find an order", 1)
	clitest.WriteFile(t, w.document, strings.Replace(changed, "/orders/{order-id}:", "/orders/by-id/{order-id}:", 1))
	w.add(t, "--operation", "getOrder", "--operation", "createOrder", "--yes").Wants(t, command.ExitDone,
		"there, but differs: description, webhook_url", "1 there already, 1 there, but different", "--update")
	w.add(t, "--operation", "getOrder", "--operation", "getStatus", "--yes").Wants(t, command.ExitDone, "1 made, 1 there, but different")
	w.tools(t, "", "show", "get_order").Wants(t, command.ExitDone, "Look an order up")
	w.add(t, "--operation", "getOrder", "--operation", "createOrder", "--yes", "--update").Wants(t, command.ExitDone,
		"1 updated, 1 there already")
	w.tools(t, "", "show", "get_order").Wants(t, command.ExitDone, "Find an order", "/orders/by-id/{order-id}")

	// With --update a token is stored in existing tools.
	token := filepath.Join(t.TempDir(), "token.txt")
	clitest.WriteFile(t, token, "Token whole")
	w.add(t, "--operation", "getOrder", "--yes", "--update", "--auth-header", "@"+token).Wants(t, command.ExitDone, "1 updated")
	w.tools(t, "", "run", "get_order", "--arg", "order-id=1").Wants(t, command.ExitDone)
	if got := w.api.Requests("/v1/orders/by-id/1")[0].Header.Get("Authorization"); got != "Token whole" {
		t.Errorf("Authorization %q", got)
	}
	w.add(t, "--operation", "getOrder", "--prefix", "shop", "--attach", w.Agent, "--yes").Wants(t, command.ExitDone,
		"shop_get_order", "1 made")
	w.add(t, "--operation", "createOrder", "--attach", "default", "--yes").Wants(t, command.ExitDone, "1 attached to "+w.Agent)
	if found := w.tools(t, "", "ls", "--query", "PLACE an", "--json").JSONLines(t); len(found) != 1 || found[0]["slug"] != "create_order" {
		t.Errorf("found %v", found)
	}
	if all := w.tools(t, "", "ls", "--all", "--order-by", "name", "--json").JSONLines(t); len(all) < 8 || all[0]["slug"] != "add_memory_note" {
		t.Errorf("all by name: %v", all)
	}
	w.tools(t, "", "ls", "--query", "nothing").Wants(t, command.ExitDone, "no such tool")
	w.tools(t, "", "ls", "--query", "x", "--agent", "default").Wants(t, command.ExitUsage, "--agent")
	w.tools(t, "", "ls", "--agent", "default").Wants(t, command.ExitDone, "shop_get_order", "create_order")
}

// A secret header takes the place of the variable that conversations would bring.
func TestToolsAddSecretHeader(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	secret := filepath.Join(t.TempDir(), "key.txt")
	clitest.WriteFile(t, secret, "key-1234567890\n")
	made := w.add(t, "--all", "--yes", "--secret-header", "x-key: @"+secret)
	made.Wants(t, command.ExitDone, "4 made")
	for _, line := range w.tools(t, "", "ls", "--json").JSONLines(t) {
		if line["bucket"] == "custom" && (line["secret_header_names"].([]any)[0] != "X-Key" || len(line["headers"].(map[string]any)) > 0) {
			t.Errorf("tool %v", line)
		}
	}
	w.tools(t, "", "show", "get_order").Wants(t, command.ExitDone, "secret headers", "X-Key; sent and never shown")
	w.tools(t, "", "run", "get_order", "--arg", "order-id=7").Wants(t, command.ExitDone)
	if got := w.api.Requests("/v1/orders/7"); len(got) != 1 || got[0].Header.Get("X-Key") != "key-1234567890" {
		t.Errorf("sent: %+v", got)
	}
	clitest.WriteFile(t, secret, "key-0987654321\n")
	w.add(t, "--operation", "getOrder", "--yes", "--update", "--secret-header", "X-Key: @"+secret).Wants(t, command.ExitDone, "1 updated")
	w.tools(t, "", "run", "get_order", "--arg", "order-id=8").Wants(t, command.ExitDone)
	if got := w.api.Requests("/v1/orders/8"); len(got) != 1 || got[0].Header.Get("X-Key") != "key-0987654321" {
		t.Errorf("sent: %+v", got)
	}
}

func TestToolsAddJSON(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	lines := w.add(t, "--all", "--json", "--dry-run").JSONLines(t)
	for _, line := range lines {
		tool, _ := line["tool"].(map[string]any)
		if line["operation_id"] == "createOrder" && (line["outcome"] != "new" || tool["webhook_url"] != w.api.URL+"/v1/orders") {
			t.Errorf("createOrder: %v", line)
		}
	}
	raw := fmt.Sprintf(shopDocument, w.api.URL)
	got := w.tools(t, raw, "add", "--from-openapi", "-", "--operation", "getOrder", "--operation", "addPicture", "--json", "--yes")
	got.Wants(t, command.ExitFailed, "1 of the operations that were named cannot be tools")
	lines = got.JSONLines(t)
	if len(lines) != 2 || lines[0]["outcome"] != "made" || lines[0]["tool_id"] == nil ||
		lines[1]["outcome"] != "left_out" || lines[1]["why"] == nil {
		t.Errorf("lines %v", lines)
	}
}

// A tool that the service refuses is reported, and the others are made.
func TestToolsAddRefused(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	secret := filepath.Join(t.TempDir(), "token.txt")
	clitest.WriteFile(t, secret, "Bearer a\x01b")
	got := w.add(t, "--operation", "getStatus", "--operation", "getOrder", "--yes", "--auth-header", "@"+secret)
	got.Wants(t, command.ExitFailed, "✗ get_order: ", "auth_header must be one line", "1 made, 1 failed", "1 of 2 failed")
}

// Our own OpenAPI document, which uses every feature of our contract, becomes tools.
func TestToolsOfOurOwnDocument(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	got := w.tools(t, "", "add", "--from-openapi", w.Env.URL+"/openapi.json", "--all", "--yes", "--json")
	got.Wants(t, command.ExitDone)
	outcomes := map[any]int{}
	for _, line := range got.JSONLines(t) {
		outcomes[line["outcome"]]++
	}
	if made := len(w.slugs(t)); made < 50 || made != outcomes["made"] {
		t.Errorf("%d tools, outcomes %v", made, outcomes)
	}
	w.tools(t, "", "add", "--from-openapi", w.Env.URL+"/openapi.json", "--all", "--yes").Wants(t, command.ExitDone,
		fmt.Sprintf("%d there already", outcomes["made"]))
}

func TestToolsUsage(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	for name, row := range map[string]struct {
		args []string
		code int
		says string
	}{
		"NoDocument":  {[]string{"add"}, command.ExitUsage, "--from-openapi is missing"},
		"NoFile":      {[]string{"add", "--from-openapi", "/no/such.yaml"}, command.ExitFailed, "no such file"},
		"NotOpenAPI":  {[]string{"add", "--from-openapi", filepath.Join(w.DataDir, command.EnvFile)}, command.ExitFailed, "not an object"},
		"NoChoice":    {[]string{"add", "--from-openapi", w.document}, command.ExitUsage, "which operations? Name them with --operation"},
		"BothChoices": {[]string{"add", "--from-openapi", w.document, "--all", "--operation", "x"}, command.ExitUsage, "not both"},
		"NoOperation": {[]string{"add", "--from-openapi", w.document, "--operation", "x"}, command.ExitUsage, `no operation "x"`},
		"SecretHeaderInClear": {
			[]string{"add", "--from-openapi", w.document, "--all", "--secret-header", "X-Key: tok"},
			command.ExitUsage, "--secret-header takes @file",
		},
		"SecretHeaderWithoutName": {
			[]string{"add", "--from-openapi", w.document, "--all", "--secret-header", "tok"},
			command.ExitUsage, "a --secret-header is not",
		},
		"SecretInClear": {
			[]string{"add", "--from-openapi", w.document, "--all", "--auth-header", "Bearer tok"},
			command.ExitUsage, "seen by everybody on this machine",
		},
		"SecretHeader": {
			[]string{"add", "--from-openapi", w.document, "--all", "--header", "authorization: x"},
			command.ExitUsage, "given with --auth-header",
		},
		"NoSecretFile": {
			[]string{"add", "--from-openapi", w.document, "--all", "--yes", "--auth-header", "@/no/such"},
			command.ExitFailed, "no such file",
		},
		"NoSecretVar": {[]string{
			"add", "--from-openapi", w.document, "--all", "--yes", "--auth-header",
			"env:PARLANCE_TEST_NONE",
		}, command.ExitFailed, "is not set"},
		"NobodyToAsk": {
			[]string{"add", "--from-openapi", w.document, "--all", "--yes", "--auth-header", "ask"},
			command.ExitFailed, "nobody is there",
		},
		"JSONAsks": {[]string{"add", "--from-openapi", w.document, "--all", "--json"}, command.ExitUsage, "--yes or --dry-run"},
		"Prefix":   {[]string{"add", "--from-openapi", w.document, "--all", "--prefix", "Shop"}, command.ExitUsage, "small letter"},
		"Server": {
			[]string{"add", "--from-openapi", w.document, "--all", "--server", "shop"},
			command.ExitUsage,
			"the server's address shop does not begin",
		},
		"NoAgent":   {[]string{"add", "--from-openapi", w.document, "--all", "--attach", "agt_none"}, command.ExitFailed, "find the agent"},
		"NoTool":    {[]string{"run", "none"}, command.ExitFailed, `there is no tool "none"`},
		"NoToolID":  {[]string{"show", "2b0ae3c8-6b0c-4a3e-8a25-5f8b9d3d8a11"}, command.ExitFailed, "there is no tool"},
		"NotCustom": {[]string{"run", "end_call"}, command.ExitFailed, "runs only in a conversation"},
		"Status":    {[]string{"traces", "--status", "bad"}, command.ExitUsage, "succeeded or failed"},
		"NotPair":   {[]string{"run", "end_call", "--arg", "x"}, command.ExitUsage, "NAME=VALUE"},
		"NotObject": {[]string{"run", "end_call", "--args", "[1]"}, command.ExitUsage, "must be a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.tools(t, "", row.args...).Wants(t, row.code, row.says)
		})
	}
}

func TestToolsTraces(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	w.add(t, "--operation", "getOrder", "--operation", "createOrder", "--yes").Wants(t, command.ExitDone)
	w.tools(t, "", "traces").Wants(t, command.ExitDone, "No call is like that.")
	w.api.Script("/v1/orders/gone", httptool.Step{Status: http.StatusNotFound, Body: "no \x1b[31msuch\nline two"})
	w.tools(t, "", "run", "get_order", "--arg", "order-id=A-7").Wants(t, command.ExitDone)
	failed := w.tools(t, "", "run", "get_order", "--arg", "order-id=gone")
	failed.Wants(t, command.ExitFailed, "✗ get_order  failed http-status, HTTP 404", "the call failed (http-status)")
	if strings.Contains(failed.Out, "\x1b") {
		t.Errorf("an answer reaches the terminal's controls: %q", failed.Out)
	}
	w.tools(t, "", "run", "create_order", "--arg", "book=7").Wants(t, command.ExitDone)
	w.tools(t, "", "run", "create_order", "--arg", "count=x").Wants(t, command.ExitUsage, `"x" is no integer or null`)
	w.tools(t, "", "run", "create_order", "--arg", "count=0").Wants(t, command.ExitFailed, "book is required")
	if sent := w.api.Requests("/v1/orders"); len(sent) != 1 || !strings.Contains(sent[0].Body, `"book":"7"`) {
		t.Errorf("sent %+v: text stays text where text is wanted", sent)
	}

	w.tools(t, "", "traces").Wants(t, command.ExitDone, "BEGAN", "get_order", "create_order", "ok 200",
		"failed http-status 404", "a run", `"order-id":"gone"`)
	got := w.tools(t, "", "traces", "get_order", "--status", "failed", "--since", "1h", "--whole")
	got.Wants(t, command.ExitDone, `← {"order-id":"gone"}`, "404")
	if strings.Contains(got.Out, "create_order") || strings.Contains(got.Out, "A-7") {
		t.Errorf("traces of others:\n%s", got.Out)
	}
	if lines := w.tools(t, "", "traces", "--json", "--limit", "2").JSONLines(t); len(lines) != 2 || lines[0]["slug"] != "create_order" {
		t.Errorf("lines %v", lines)
	}
	w.tools(t, "", "traces", "--limit", "1").Wants(t, command.ExitDone, "there are more: --limit 4")
}

func TestToolsAttach(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	w.add(t, "--operation", "getOrder", "--operation", "createOrder", "--yes").Wants(t, command.ExitDone)
	w.tools(t, "", "attach", "get_order", "create_order", "--max-calls", "3").Wants(t, command.ExitDone, "2 tools are attached to "+w.Agent)
	w.tools(t, "", "attach", "create_order", "--disabled").Wants(t, command.ExitDone, "turned off")
	state := map[string][]any{}
	for _, line := range w.tools(t, "", "ls", "--agent", w.Agent, "--json").JSONLines(t) {
		tool := line["tool"].(map[string]any)
		state[tool["slug"].(string)] = []any{line["enabled"], line["max_calls_per_session"]}
	}
	if got := fmt.Sprint(state["get_order"], state["create_order"]); got != "[true 3] [false 3]" {
		t.Errorf("state %s", got)
	}
	w.tools(t, "", "attach", "schedule_callback", "--agent", w.Agent).Wants(t, command.ExitDone, "1 tool is attached")
	w.tools(t, "", "attach", "end_call", "--disabled").Wants(t, command.ExitFailed, "attach end_call: ")
	w.tools(t, "", "detach", "get_order").Wants(t, command.ExitDone, "1 tool is taken from")
	w.tools(t, "", "rm", "create_order").Wants(t, command.ExitDone, "deleted create_order (")
	w.tools(t, "", "rm", "create_order").Wants(t, command.ExitFailed, `there is no tool "create_order"`)
	if slugs := w.slugs(t); len(slugs) != 1 || slugs[0] != "get_order" {
		t.Errorf("tools %q", slugs)
	}
	w.tools(t, "", "rm", "get_order").Wants(t, command.ExitDone)
	w.tools(t, "", "ls").Wants(t, command.ExitDone, "The workspace has no tools.")
}

// A person chooses operations, enters the token, and confirms.
func TestToolsAsk(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	var out strings.Builder
	ask := func(answers string) error {
		t.Helper()
		return tools.AddAtTerminal(t.Context(), w.DataDir, w.document, strings.NewReader(answers), &out)
	}
	if err := ask("nothing like it\n9\n\n"); err != nil {
		t.Fatal(err)
	}
	if err := ask("orders\nsesame\nn\n"); err != nil {
		t.Fatal(err)
	}
	if slugs := w.slugs(t); len(slugs) > 0 {
		t.Fatalf("made %q although nothing was chosen, or the answer was no", slugs)
	}
	if err := ask("2, cancel\nsesame\n\n"); err != nil {
		t.Fatal(err)
	}
	if slugs := w.slugs(t); len(slugs) != 2 {
		t.Errorf("tools %q, want create_order and cancel_order", slugs)
	}
	for _, text := range []string{
		`"nothing" is in none that can be a tool`, "9 is not from 1 to 6",
		"cannot be a tool: it takes image/png", "Which?", "The API wants Authorization: Bearer", "Go ahead?", "Nothing was made.",
	} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("the output lacks %q:\n%s", text, out.String())
		}
	}
	if strings.Contains(out.String(), "sesame") {
		t.Error("the token is shown")
	}
	w.tools(t, "", "run", "create_order", "--arg", "book=x").Wants(t, command.ExitDone)
	if got := w.api.Requests("/v1/orders")[0].Header.Get("Authorization"); got != "Bearer sesame" {
		t.Errorf("Authorization %q", got)
	}
	if err := ask("3"); err == nil || !strings.Contains(err.Error(), "ended before the question was answered") {
		t.Errorf("the input ends: %v", err)
	}
}

// What the installation would refuse to make is left out before anything is made.
func TestToolsAddRefusesProposals(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	got := w.add(t, "--operation", "getOrder", "--server", "http://169.254.169.254", "--dry-run")
	got.Wants(t, command.ExitFailed, "0 tools, 1 left out", "an address that is not public")
	document := filepath.Join(t.TempDir(), "odd.json")
	clitest.WriteFile(t, document, fmt.Sprintf(`{"openapi": "3.1.0", "servers": [{"url": "%s"}], "paths": {
		"/a": {"get": {}}, "/b\r\nX: y": {"get": {}}, "/c": {"get": {"servers": [{"url": "http://169.254.169.254"}]}}}}`, w.api.URL))
	got = w.tools(t, "", "add", "--from-openapi", document, "--all", "--dry-run")
	got.Wants(t, command.ExitDone, "1 tool, 2 left out", "They call "+w.api.URL+".", "control characters", "an address that is not public")
}
