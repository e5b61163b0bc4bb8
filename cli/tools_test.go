package cli

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/test/fake/httptool"
)

// shopDocument describes an API at the given address; it has what tools can send and what not.
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

// toolsWorld is a running service, and an API to make tools of.
type toolsWorld struct {
	kbWorld
	api *httptool.Server
	// document is the path of the API's OpenAPI document.
	document string
}

func startTools(t *testing.T) toolsWorld {
	t.Helper()
	w := toolsWorld{kbWorld: startKB(t, "", nil), api: httptool.New(t), document: filepath.Join(t.TempDir(), "shop.yaml")}
	writeFile(t, w.document, fmt.Sprintf(shopDocument, w.api.URL))
	return w
}

// tools runs `parlance tools`.
func (w toolsWorld) tools(t *testing.T, input string, args ...string) ran {
	t.Helper()
	return execute(t, input, append([]string{"tools", args[0], "--data-dir", w.dir}, args[1:]...)...)
}

// add runs `parlance tools add` on the document.
func (w toolsWorld) add(t *testing.T, args ...string) ran {
	t.Helper()
	return w.tools(t, "", append([]string{"add", "--from-openapi", w.document}, args...)...)
}

// slugs are the workspace's custom tools, newest first.
func (w toolsWorld) slugs(t *testing.T) []string {
	t.Helper()
	var slugs []string
	for _, line := range jsonLines(t, w.tools(t, "", "ls", "--json").out) {
		slugs = append(slugs, line["slug"].(string))
	}
	return slugs
}

// The whole way: a document becomes tools of an agent, and one of them is called.
func TestToolsFromOpenAPI(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	secret := filepath.Join(t.TempDir(), "token.txt")
	writeFile(t, secret, "tok-1234567890\n")
	w.api.Script("/v1/orders/A%2F7", httptool.Step{Header: map[string]string{"Content-Type": "application/json"}, Body: `{"status": "shipped", "token": "tok-1234567890"}`})
	args := []string{"--all", "--auth-header", "@" + secret, "--attach", "default"}

	looked := w.add(t, append(args, "--dry-run")...)
	looked.wants(t, exitDone, "Shop 1 (OpenAPI 3.0.3): 4 tools, 2 left out", "They call "+w.api.URL, "get_order", "GET "+w.api.URL+"/v1/orders/{order-id}",
		"it takes image/png; tools send JSON", "deprecated", "end_call_api", "The API wants Authorization: Bearer … (token)", "secret__x_key", "4 to be made")
	if slugs := w.slugs(t); len(slugs) > 0 {
		t.Fatalf("a dry run made %q", slugs)
	}
	w.add(t, args...).wants(t, exitUsage, "nobody is there to be asked")
	made := w.add(t, append(args, "--yes")...)
	made.wants(t, exitDone, "✓ get_order", "✓ create_order", "4 made, 2 left out, 4 attached to "+w.agent, "parlance tools run")
	if strings.Contains(looked.out+made.out, "tok-1234567890") {
		t.Error("the token is shown")
	}
	if slugs := w.slugs(t); len(slugs) != 4 {
		t.Errorf("tools %q, want four", slugs)
	}
	w.tools(t, "", "ls").wants(t, exitDone, "get_order", "http", "sealed")
	w.tools(t, "", "ls", "--agent", "default").wants(t, exitDone, "create_order", "end_call", "schedule_callback", "off: not enabled")
	w.tools(t, "", "show", "create_order").wants(t, exitDone, "Place an order", "POST "+w.api.URL+"/v1/orders", "sealed; it is sent and never shown", `"minimum": 1`)

	run := w.tools(t, "", "run", "get_order", "--arg", "order-id=A/7", "--arg", "fields=status", "--arg", "fields=total", "--request")
	run.wants(t, exitDone, "✓ get_order  answered, HTTP 200", `"status":"shipped"`, "/v1/orders/A%2F7?fields=status&fields=total")
	if strings.Contains(run.out, "tok-1234567890") {
		t.Errorf("a run shows the token:\n%s", run.out)
	}
	if got := w.api.Requests("/v1/orders/A%2F7")[0].Header.Get("Authorization"); got != "Bearer tok-1234567890" {
		t.Errorf("Authorization %q", got)
	}
	w.tools(t, "", "run", "create_order", "--args", `{"book": "Dune"}`, "--arg", "count=2", "--arg", "gift=true").wants(t, exitDone, "HTTP 200")
	sent := w.api.Requests("/v1/orders")
	if len(sent) != 1 || !strings.Contains(sent[0].Body, `"book":"Dune"`) || !strings.Contains(sent[0].Body, `"count":2`) || !strings.Contains(sent[0].Body, `"gift":true`) {
		t.Errorf("sent %+v", sent)
	}
	// What is not the Authorization header is a variable, and goes where no token is wanted.
	w.tools(t, "", "run", "get_status").wants(t, exitFailed, "secret__x_key")
	key := filepath.Join(t.TempDir(), "key.txt")
	writeFile(t, key, "key-1234567890\n")
	w.tools(t, "", "run", "get_status", "--var", "secret__x_key=@"+key).wants(t, exitDone, "HTTP 200")
	w.tools(t, "", "run", "end_call_api").wants(t, exitDone, "HTTP 200")
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
	w.add(t, "--operation", "getOrder", "--operation", "POST /orders", "--yes").wants(t, exitDone, "2 made")
	w.add(t, "--operation", "get_order", "--operation", "createOrder", "--yes").wants(t, exitDone, "2 there already")
	if slugs := w.slugs(t); len(slugs) != 2 {
		t.Fatalf("tools %q, want two", slugs)
	}
	changed := strings.Replace(fmt.Sprintf(shopDocument, w.api.URL), "Look an order up", "Find an order", 1)
	writeFile(t, w.document, strings.Replace(changed, "/orders/{order-id}:", "/orders/by-id/{order-id}:", 1))
	w.add(t, "--operation", "getOrder", "--operation", "createOrder", "--yes").wants(t, exitDone,
		"there, but differs: description, webhook_url", "1 there already, 1 there, but different", "--update")
	w.add(t, "--operation", "getOrder", "--operation", "getStatus", "--yes").wants(t, exitDone, "1 made, 1 there, but different")
	w.tools(t, "", "show", "get_order").wants(t, exitDone, "Look an order up")
	w.add(t, "--operation", "getOrder", "--operation", "createOrder", "--yes", "--update").wants(t, exitDone, "1 updated, 1 there already")
	w.tools(t, "", "show", "get_order").wants(t, exitDone, "Find an order", "/orders/by-id/{order-id}")

	// A token that is given later is stored with --update, where the document wants one.
	token := filepath.Join(t.TempDir(), "token.txt")
	writeFile(t, token, "Token whole")
	w.add(t, "--operation", "getOrder", "--yes", "--update", "--auth-header", "@"+token).wants(t, exitDone, "1 updated")
	w.tools(t, "", "run", "get_order", "--arg", "order-id=1").wants(t, exitDone)
	if got := w.api.Requests("/v1/orders/by-id/1")[0].Header.Get("Authorization"); got != "Token whole" {
		t.Errorf("Authorization %q", got)
	}
	w.add(t, "--operation", "getOrder", "--prefix", "shop", "--attach", w.agent, "--yes").wants(t, exitDone, "shop_get_order", "1 made")
	w.add(t, "--operation", "createOrder", "--attach", "default", "--yes").wants(t, exitDone, "1 attached to "+w.agent)
	w.tools(t, "", "ls", "--agent", "default").wants(t, exitDone, "shop_get_order", "create_order")
}

func TestToolsAddJSON(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	lines := jsonLines(t, w.add(t, "--all", "--json", "--dry-run").out)
	for _, line := range lines {
		tool, _ := line["tool"].(map[string]any)
		if line["operation_id"] == "createOrder" && (line["outcome"] != "new" || tool["webhook_url"] != w.api.URL+"/v1/orders") {
			t.Errorf("createOrder: %v", line)
		}
	}
	raw := fmt.Sprintf(shopDocument, w.api.URL)
	got := w.tools(t, raw, "add", "--from-openapi", "-", "--operation", "getOrder", "--operation", "addPicture", "--json", "--yes")
	got.wants(t, exitFailed, "1 of the operations that were named cannot be tools")
	lines = jsonLines(t, got.out)
	if len(lines) != 2 || lines[0]["outcome"] != "made" || lines[0]["tool_id"] == nil || lines[1]["outcome"] != "left_out" || lines[1]["why"] == nil {
		t.Errorf("lines %v", lines)
	}
}

// What the service refuses is said for the one tool; the others are made.
func TestToolsAddRefused(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	writeFile(t, w.document, strings.Replace(fmt.Sprintf(shopDocument, w.api.URL), "/status:", "/status:\n    servers: [{url: 'http://169.254.169.254'}]", 1))
	got := w.add(t, "--operation", "getStatus", "--operation", "getOrder", "--yes")
	got.wants(t, exitFailed, "✗ get_status: ", "webhook_url names an address that is not public", "1 made, 1 failed", "1 of 2 failed")
}

// Everything that is made of a document with every trait of our own contract is accepted.
func TestToolsOfOurOwnDocument(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	got := w.tools(t, "", "add", "--from-openapi", w.env.URL+"/openapi.json", "--all", "--yes", "--json")
	got.wants(t, exitDone)
	outcomes := map[any]int{}
	for _, line := range jsonLines(t, got.out) {
		outcomes[line["outcome"]]++
	}
	if made := len(w.slugs(t)); made < 50 || made != outcomes["made"] {
		t.Errorf("%d tools, outcomes %v", made, outcomes)
	}
	w.tools(t, "", "add", "--from-openapi", w.env.URL+"/openapi.json", "--all", "--yes").wants(t, exitDone, fmt.Sprintf("%d there already", outcomes["made"]))
}

func TestToolsUsage(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	for name, row := range map[string]struct {
		args []string
		code int
		says string
	}{
		"NoDocument":    {[]string{"add"}, exitUsage, "--from-openapi is missing"},
		"NoFile":        {[]string{"add", "--from-openapi", "/no/such.yaml"}, exitFailed, "no such file"},
		"NotOpenAPI":    {[]string{"add", "--from-openapi", filepath.Join(w.dir, devEnvName)}, exitFailed, "not an object"},
		"NoChoice":      {[]string{"add", "--from-openapi", w.document}, exitUsage, "which operations? Name them with --operation"},
		"BothChoices":   {[]string{"add", "--from-openapi", w.document, "--all", "--operation", "x"}, exitUsage, "not both"},
		"NoOperation":   {[]string{"add", "--from-openapi", w.document, "--operation", "x"}, exitUsage, `no operation "x"`},
		"SecretInClear": {[]string{"add", "--from-openapi", w.document, "--all", "--auth-header", "Bearer tok"}, exitUsage, "seen by everybody on this machine"},
		"SecretHeader":  {[]string{"add", "--from-openapi", w.document, "--all", "--header", "authorization: x"}, exitUsage, "given with --auth-header"},
		"NoSecretFile":  {[]string{"add", "--from-openapi", w.document, "--all", "--yes", "--auth-header", "@/no/such"}, exitFailed, "no such file"},
		"NoSecretVar":   {[]string{"add", "--from-openapi", w.document, "--all", "--yes", "--auth-header", "env:PARLANCE_TEST_NONE"}, exitFailed, "is not set"},
		"NobodyToAsk":   {[]string{"add", "--from-openapi", w.document, "--all", "--yes", "--auth-header", "ask"}, exitFailed, "nobody is there"},
		"JSONAsks":      {[]string{"add", "--from-openapi", w.document, "--all", "--json"}, exitUsage, "--yes or --dry-run"},
		"Prefix":        {[]string{"add", "--from-openapi", w.document, "--all", "--prefix", "Shop"}, exitUsage, "small letter"},
		"Server":        {[]string{"add", "--from-openapi", w.document, "--all", "--server", "shop"}, exitUsage, "the server's address shop does not begin"},
		"NoAgent":       {[]string{"add", "--from-openapi", w.document, "--all", "--attach", "agt_none"}, exitFailed, "find the agent"},
		"NoTool":        {[]string{"run", "none"}, exitFailed, `there is no tool "none"`},
		"NoToolID":      {[]string{"show", "2b0ae3c8-6b0c-4a3e-8a25-5f8b9d3d8a11"}, exitFailed, "there is no tool"},
		"NotCustom":     {[]string{"run", "end_call"}, exitFailed, "runs only in a conversation"},
		"Status":        {[]string{"traces", "--status", "bad"}, exitUsage, "succeeded or failed"},
		"NotPair":       {[]string{"run", "end_call", "--arg", "x"}, exitUsage, "NAME=VALUE"},
		"NotObject":     {[]string{"run", "end_call", "--args", "[1]"}, exitUsage, "must be a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.tools(t, "", row.args...).wants(t, row.code, row.says)
		})
	}
}

func TestToolsTraces(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	w.add(t, "--operation", "getOrder", "--operation", "createOrder", "--yes").wants(t, exitDone)
	w.tools(t, "", "traces").wants(t, exitDone, "No call is like that.")
	w.api.Script("/v1/orders/gone", httptool.Step{Status: http.StatusNotFound, Body: "no \x1b[31msuch\nline two"})
	w.tools(t, "", "run", "get_order", "--arg", "order-id=A-7").wants(t, exitDone)
	failed := w.tools(t, "", "run", "get_order", "--arg", "order-id=gone")
	failed.wants(t, exitFailed, "✗ get_order  failed http-status, HTTP 404", "the call failed (http-status)")
	if strings.Contains(failed.out, "\x1b") {
		t.Errorf("an answer reaches the terminal's controls: %q", failed.out)
	}
	w.tools(t, "", "run", "create_order", "--arg", "book=7").wants(t, exitDone)
	w.tools(t, "", "run", "create_order", "--arg", "count=x").wants(t, exitUsage, `"x" is no integer or null`)
	w.tools(t, "", "run", "create_order", "--arg", "count=0").wants(t, exitFailed, "book is required")
	if sent := w.api.Requests("/v1/orders"); len(sent) != 1 || !strings.Contains(sent[0].Body, `"book":"7"`) {
		t.Errorf("sent %+v: text stays text where text is wanted", sent)
	}

	w.tools(t, "", "traces").wants(t, exitDone, "BEGAN", "get_order", "create_order", "ok 200", "failed http-status 404", "a run", `"order-id":"gone"`)
	got := w.tools(t, "", "traces", "get_order", "--status", "failed", "--since", "1h", "--whole")
	got.wants(t, exitDone, `← {"order-id":"gone"}`, "404")
	if strings.Contains(got.out, "create_order") || strings.Contains(got.out, "A-7") {
		t.Errorf("traces of others:\n%s", got.out)
	}
	if lines := jsonLines(t, w.tools(t, "", "traces", "--json", "--limit", "2").out); len(lines) != 2 || lines[0]["slug"] != "create_order" {
		t.Errorf("lines %v", lines)
	}
	w.tools(t, "", "traces", "--limit", "1").wants(t, exitDone, "there are more: --limit 4")
}

func TestToolsAttach(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	w.add(t, "--operation", "getOrder", "--operation", "createOrder", "--yes").wants(t, exitDone)
	w.tools(t, "", "attach", "get_order", "create_order", "--max-calls", "3").wants(t, exitDone, "2 tools are attached to "+w.agent)
	w.tools(t, "", "attach", "create_order", "--disabled").wants(t, exitDone, "turned off")
	state := map[string][]any{}
	for _, line := range jsonLines(t, w.tools(t, "", "ls", "--agent", w.agent, "--json").out) {
		tool := line["tool"].(map[string]any)
		state[tool["slug"].(string)] = []any{line["enabled"], line["max_calls_per_session"]}
	}
	if got := fmt.Sprint(state["get_order"], state["create_order"]); got != "[true 3] [false 3]" {
		t.Errorf("state %s", got)
	}
	w.tools(t, "", "attach", "schedule_callback", "--agent", w.agent).wants(t, exitDone, "1 tool is attached")
	w.tools(t, "", "attach", "end_call", "--disabled").wants(t, exitFailed, "attach end_call: ")
	w.tools(t, "", "detach", "get_order").wants(t, exitDone, "1 tool is taken from")
	w.tools(t, "", "rm", "create_order").wants(t, exitDone, "deleted create_order (")
	w.tools(t, "", "rm", "create_order").wants(t, exitFailed, `there is no tool "create_order"`)
	if slugs := w.slugs(t); len(slugs) != 1 || slugs[0] != "get_order" {
		t.Errorf("tools %q", slugs)
	}
	w.tools(t, "", "rm", "get_order").wants(t, exitDone)
	w.tools(t, "", "ls").wants(t, exitDone, "The workspace has no tools.")
}

// A person chooses, is asked for the token, and says yes.
func TestToolsAsk(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	var out strings.Builder
	ask := func(answers string) error {
		t.Helper()
		cmd := newToolsAdd()
		addWorkspace(cmd)
		if err := cmd.Flags().Parse([]string{"--data-dir", w.dir}); err != nil {
			t.Fatal(err)
		}
		cmd.SetContext(t.Context())
		cmd.SetOut(&out)
		cmd.SetIn(strings.NewReader(answers))
		return withTools(func(ctx context.Context, b *toolbox, _ []string) error {
			b.asks = true
			return (&toolsAdd{toolbox: b, o: toolsAddOptions{from: w.document}}).run(ctx)
		})(cmd, nil)
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
	for _, text := range []string{`"nothing" is in none that can be a tool`, "9 is not from 1 to 6", "cannot be a tool: it takes image/png", "Which?", "The API wants Authorization: Bearer", "Go ahead?", "Nothing was made."} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("the output lacks %q:\n%s", text, out.String())
		}
	}
	if strings.Contains(out.String(), "sesame") {
		t.Error("the token is shown")
	}
	w.tools(t, "", "run", "create_order", "--arg", "book=x").wants(t, exitDone)
	if got := w.api.Requests("/v1/orders")[0].Header.Get("Authorization"); got != "Bearer sesame" {
		t.Errorf("Authorization %q", got)
	}
	if err := ask("3"); err == nil || !strings.Contains(err.Error(), "ended before the question was answered") {
		t.Errorf("the input ends: %v", err)
	}
}

func TestSecretFromEnvironment(t *testing.T) {
	t.Setenv("PARLANCE_TEST_SHOP_TOKEN", " tok \n")
	got, err := readSecret(t.Context(), "env:PARLANCE_TEST_SHOP_TOKEN", "", &asker{})
	if got != "tok" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
