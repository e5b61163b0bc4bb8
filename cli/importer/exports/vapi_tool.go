package exports

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func quoted(text string) string { return strconv.Quote(clip(text, 60)) }

// tool reads one tool. b is nil for a tool that no assistant names; server is the assistant's
// endpoint, which has the functions that have no address of their own. So a function of two
// assistants can be two tools.
func (r *vapiReader) tool(b *builder, n node, server endpoint) {
	n.note(joined(vapiNotes.ids, vapiNotes.tool))
	kind := n.peek("type")
	key := n.tree.file + "\x00" + n.path
	if kind == "function" && endpointOf(n.at("server")).url() == "" && server.url() != "" {
		key += "\x00" + server.address.tree.file + "\x00" + server.address.path
	}
	if tool, ok := r.made[key]; ok {
		if b != nil && !slices.Contains(b.Tools, tool) {
			b.Tools = append(b.Tools, tool)
		}
		return
	}
	_, isLost := n.tree.rows[n.path]
	if isLost || n.isRead() && b == nil {
		return
	}
	n.at("type").became("tool.kind")
	var tool *Tool
	switch kind {
	case "apiRequest":
		tool = r.apiRequest(n)
	case "mcp":
		tool = r.mcp(n)
	case "function":
		tool = r.function(b, n, server)
	default:
		r.builtIn(b, n, kind)
	}
	if tool != nil {
		if plan := n.at("rejectionPlan"); !isEmpty(plan.value) {
			tool.Notes = append(tool.Notes, "is called without its rejectionPlan: set requires_user_intent if that does")
		}
		r.made[key] = tool
		if b != nil {
			b.Tools = append(b.Tools, tool)
		}
	}
}

// builtIn reads a tool that is no endpoint.
func (r *vapiReader) builtIn(b *builder, n node, kind string) {
	n.at("function").note(vapiNotes.builtIn)
	if b == nil {
		n.lost("No assistant of the export has this tool.")
		return
	}
	switch kind {
	case "endCall":
		n.at("type").became("tool system:end_call")
	case "dtmf":
		b.callbacks().PressKeys = true
		n.at("type").became("agent.callbacks.press_keys")
	case "voicemail":
		if b.callbacks().GetVoicemail() == "" {
			b.callbacks().Voicemail = "hang_up"
		}
		n.at("type").became("agent.callbacks.voicemail")
	case "transferCall":
		n.at("type").became("agent.handover.enabled")
		r.transferTo(b, n)
	case "query":
		n.at("type").became("source")
		r.query(b, n)
	case "handoff":
		n.lost("Agents do not hand conversations to each other: choose the agent when the session is created.")
	default:
		n.lost("Tools call an HTTP endpoint, a server of MCP tools, or the connected client; this kind does neither.")
	}
}

// function reads a function: a tool whose endpoint is sent Vapi's own envelope.
func (r *vapiReader) function(b *builder, n node, server endpoint) *Tool {
	function := n.at("function")
	function.note(vapiNotes.function)
	if own := endpointOf(n.at("server")); own.url() != "" {
		server = own
	}
	if server.url() == "" {
		if b == nil {
			n.lost("Tools that a client runs belong to an agent, and no assistant of the export has this one.")
			return nil
		}
		function.at("parameters").became(clientTools)
		parameters, _ := clientFixer(b, function.peek("name")).schema(function.at("parameters"), nil, false)
		b.clientTool(function, parameters)
		return nil
	}
	tool := newHTTPTool(r.plan, n)
	tool.named(function, "name", "description")
	tool.Want.Method = "POST"
	tool.Want.WebhookUrl = server.url()
	tool.parameters(function.at("parameters"))
	tool.vapiServer(server, "tool.webhook_url")
	tool.fixedParameters(n.at("parameters"))
	tool.extraction(n.at("variableExtractionPlan"))
	tool.Notes = append(tool.Notes, "gets the arguments as its whole body, and no more in message.toolCallList; "+
		"its answer goes to the model as it is, without results[].result")
	return tool
}

// parameters takes a JSON Schema. What it fixes is sent without the model, which does not see it.
func (t *Tool) parameters(n node) {
	if schema, ok := n.value.(map[string]any); !ok || len(schema) == 0 {
		return
	}
	n.became("tool.input_schema")
	t.schema, _ = newFixer(t).schema(n, nil, false)
	t.Want.InputSchemaJson = jsonText(t.schema)
}

// vapiServer reads the address and headers of a tool.
func (t *Tool) vapiServer(at endpoint, field string) {
	n := at.server
	n.note(vapiNotes.server)
	if at.url() != "" {
		at.address.became(field)
	}
	n.number("timeoutSeconds", "tool.timeout_seconds", toolSeconds(&t.Want.TimeoutSeconds, 1))
	headers := n.at("headers")
	for _, name := range headers.keys() {
		value := headers.at(name)
		if text, ok := value.value.(string); ok {
			value.settle(t.header(name, text))
		}
	}
	if text, _ := at.secret.value.(string); text != "" {
		at.secret.settle(t.header("X-Vapi-Secret", text))
	}
	t.credential(n)
	if t.Want.GetKind() == "http" {
		t.backoff(n.at("backoffPlan"))
	}
}

// credential notes that a secret is kept elsewhere.
func (t *Tool) credential(n node) {
	if id := n.at("credentialId"); id.exists() && !isUnset(id.value) {
		id.lost("The credential's secret is not in exports: set the header Authorization.")
		t.secret("Authorization")
	}
}

func (t *Tool) backoff(n node) {
	n.note(vapiNotes.backoff)
	n.number("maxRetries", "tool.retry.max_attempts", t.attempts)
}

// apiRequest reads a tool that calls any endpoint.
func (r *vapiReader) apiRequest(n node) *Tool {
	tool := newHTTPTool(r.plan, n)
	tool.named(n, "name", "description")
	n.at("function").note(vapiNotes.builtIn)
	if tool.Want.GetSlug() == "tool" && n.at("function").peek("name") != "" {
		tool.named(n.at("function"), "name", "description")
	}
	n.text("method", "tool.method", tool.method)
	n.number("timeoutSeconds", "tool.timeout_seconds", toolSeconds(&tool.Want.TimeoutSeconds, 1))
	tool.parameters(n.at("body"))
	n.text("url", "tool.webhook_url", func(address string) string {
		tool.Want.WebhookUrl = tool.arguments(address)
		if tool.hasBody() {
			tool.notInBody(slices.Concat(tool.Want.GetPathParams(), tool.Want.GetQueryParams())...)
		}
		tool.variables(tool.Want.GetWebhookUrl())
		return ""
	})
	headers := n.at("headers")
	headers.note(vapiNotes.schema)
	properties := headers.at("properties")
	for _, name := range properties.keys() {
		tool.schemaHeader(name, properties.at(name))
	}
	tool.credential(n)
	tool.fixedParameters(n.at("parameters"))
	tool.extraction(n.at("variableExtractionPlan"))
	tool.backoff(n.at("backoffPlan"))
	return tool
}

// schemaHeader reads a header whose value stands in its schema.
func (t *Tool) schemaHeader(name string, n node) {
	for _, key := range []string{"value", "const", "default"} {
		if text := n.peek(key); text != "" {
			n.settle(t.header(name, text))
			return
		}
	}
	n.lost("The header has no value in the export: give it with --secret.")
	t.secret(name)
}

// extraction reads values that are kept of an answer.
func (t *Tool) extraction(n node) {
	n.note(vapiNotes.extraction)
	for _, alias := range n.at("aliases").items() {
		path := strings.TrimSpace(alias.peek("value"))
		if found := placeholder.FindStringSubmatch(path); found != nil && found[0] == path {
			path = strings.TrimSpace(found[1])
		}
		alias.settle("tool.assignments", t.assign(alias.peek("key"), path))
	}
}

// mcp reads a server of MCP tools.
func (r *vapiReader) mcp(n node) *Tool {
	tool := &Tool{Want: &parlancev1.CreateToolRequest{Kind: "mcp"}, from: n}
	r.plan.Tools = append(r.plan.Tools, tool)
	server := n.at("server")
	n.text("name", "tool.slug", into(&tool.Want.Slug))
	function := n.at("function")
	function.note(vapiNotes.builtIn)
	if function.peek("name") != "" {
		function.text("name", "tool.slug", into(&tool.Want.Slug))
		function.text("description", "tool.description", clipped(&tool.Want.Description, maxDescriptionChars))
	}
	tool.Want.McpServerUrl = server.peek("url")
	if tool.Want.GetSlug() == "" {
		tool.Want.Slug = "mcp"
		if parsed, err := url.Parse(tool.Want.GetMcpServerUrl()); err == nil && parsed.Hostname() != "" {
			tool.Want.Slug = strings.ReplaceAll(parsed.Hostname(), ".", "_")
		}
	}
	tool.describe()
	tool.vapiServer(endpointOf(server), "tool.mcp_server_url")
	n.at("metadata").note(vapiNotes.metadata)
	return tool
}
