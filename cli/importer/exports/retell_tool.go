package exports

import (
	"strings"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// tool reads one tool of an engine. servers are its MCP servers by name.
func (r *retellReader) tool(b *builder, n node, servers map[string]*Tool) {
	n.note(retellNotes.tool)
	kind := n.at("type")
	switch n.peek("type") {
	case "custom":
		kind.became("tool.kind")
		b.Tools = append(b.Tools, r.custom(n))
	case "mcp":
		r.mcp(n, servers)
	case "end_call":
		kind.became("tool system:end_call")
		n.at("name").became("tool system:end_call")
	case "press_digit":
		b.callbacks().PressKeys = true
		kind.became("agent.callbacks.press_keys")
		n.at("name").became("agent.callbacks.press_keys")
	case "transfer_call":
		r.transfer(b, n)
	case "agent_swap":
		n.lost("Agents do not hand conversations to each other: choose the agent when the session is created.")
	case "bridge_transfer", "cancel_transfer":
		n.lost("A warm transfer is finished by the person who was called: see docs/sessions.md.")
	case "extract_dynamic_variable":
		n.lost("Variables are set by answers of tools (assignments); what was said is read out by analysis.data.")
	case "check_availability_cal", "book_appointment_cal":
		n.lost("There are no calendars: make a tool of the calendar's API (parlance tools add --from-openapi). Its key is not " +
			"brought over.")
	default:
		n.lost("Tools call an HTTP endpoint, a server of MCP tools, or the connected client; this kind does neither.")
	}
}

// custom reads a tool that calls an endpoint.
func (r *retellReader) custom(n node) *Tool {
	tool := newHTTPTool(r.plan, n)
	tool.named(n, "name", "description")
	n.text("url", "tool.webhook_url", into(&tool.Want.WebhookUrl))
	n.text("method", "tool.method", tool.method)
	tool.variables(tool.Want.GetWebhookUrl())
	tool.parameters(n.at("parameters"))
	tool.retellServer(n)
	n.number("timeout_ms", "tool.timeout_seconds", toolSeconds(&tool.Want.TimeoutSeconds, 1000))
	n.number("max_retry", "tool.retry.max_attempts", tool.attempts)
	kept := n.at("response_variables")
	for _, name := range kept.keys() {
		path, _ := kept.at(name).value.(string)
		kept.at(name).settle("tool.assignments", tool.assign(name, path))
	}
	atRoot := n.at("args_at_root")
	if on, _ := atRoot.value.(bool); !on && tool.Want.GetMethod() != "GET" && tool.Want.GetMethod() != "DELETE" {
		tool.Notes = append(tool.Notes, "gets the arguments as its whole body (as with args_at_root), and no more in args, beside "+
			"name and call")
	}
	if atRoot.exists() {
		atRoot.became("tool.kind")
	}
	if n.peek("parameter_type") == "form" {
		tool.Notes = append(tool.Notes, "gets its body as JSON, and no more as a form")
	}
	return tool
}

// retellServer reads headers and fixed query parameters.
func (t *Tool) retellServer(n node) {
	headers := n.at("headers")
	for _, name := range headers.keys() {
		value := headers.at(name)
		if text, ok := value.value.(string); ok {
			value.settle(t.header(name, text))
		}
	}
	query := n.at("query_params")
	if t.Want.GetKind() == "mcp" {
		if names := query.keys(); len(names) > 0 {
			t.Notes = append(t.Notes, "is called without the parameters "+quotedList(names)+" in the query: put them into its mcp_server_url")
			query.lost("The address of an MCP server is sent as it is: put them into it.")
		}
		return
	}
	for _, name := range query.keys() {
		value := query.at(name)
		if text, ok := value.value.(string); ok && len(text) <= 4096 && len(name) <= maxNameChars {
			put(&t.Want.HardcodedQueryParams, name, text)
			t.variables(text)
			value.became("tool.hardcoded_query_params")
		}
	}
}

// server reads a server of MCP tools.
func (r *retellReader) server(b *builder, n node, servers map[string]*Tool) {
	tool := &Tool{Want: &parlancev1.CreateToolRequest{Kind: "mcp"}, from: n}
	n.note(retellNotes.server)
	tool.named(n, "name", "description")
	n.text("url", "tool.mcp_server_url", into(&tool.Want.McpServerUrl))
	n.number("timeout_ms", "tool.timeout_seconds", toolSeconds(&tool.Want.TimeoutSeconds, 1000))
	tool.retellServer(n)
	for _, key := range []string{"mcp_id", "id", "name"} {
		if id := n.peek(key); id != "" {
			servers[id] = tool
		}
	}
	r.plan.Tools = append(r.plan.Tools, tool)
	b.Tools = append(b.Tools, tool)
}

// mcp reads a tool of a server of MCP tools: the server's tool allows it.
func (r *retellReader) mcp(n node, servers map[string]*Tool) {
	server, ok := servers[n.peek("mcp_id")]
	if !ok && len(servers) > 0 {
		for _, one := range servers { // all of them are the same when there is only one
			if server == nil || server == one {
				server, ok = one, true
				continue
			}
			server, ok = nil, false
			break
		}
	}
	if !ok {
		n.lost("Its server is not among mcps: make a tool of kind mcp of it.")
		return
	}
	for _, key := range []string{"type", "mcp_id"} {
		if n.has(key) {
			n.at(key).became("tool.allowed_tools")
		}
	}
	n.text("name", "tool.allowed_tools", func(name string) string {
		server.Want.AllowedTools = append(server.Want.AllowedTools, name)
		return ""
	})
}

// transfer reads a number that calls are transferred to.
func (r *retellReader) transfer(b *builder, n node) {
	destination := n.at("transfer_destination")
	if destination.peek("type") != "predefined" {
		n.lost("Calls are transferred to telephone numbers that are written down, not to ones that a model finds.")
		return
	}
	number := destination.at("number")
	text, _ := number.value.(string)
	if why := b.destination(n.at("name"), text); why != "" {
		n.lost("%s", why)
		return
	}
	for _, at := range []node{number, destination.at("type"), n.at("type")} {
		at.became(destinations)
	}
	option := n.at("transfer_option")
	option.note(retellNotes.option)
	option.text("type", "agent.handover.mode", func(kind string) string {
		if strings.Contains(kind, "warm") {
			b.handover().Mode = "warm"
		}
		return ""
	})
	option.number("transfer_ring_duration_ms", "agent.handover.ring_seconds", func(value float64) string {
		return ringSeconds(&b.handover().RingSeconds, 60)(value)
	})
}
