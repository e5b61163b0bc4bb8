package exports

import (
	"slices"
	"strings"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// tool reads one tool. b is nil for a tool that no agent has.
func (r *elevenReader) tool(b *builder, n node) {
	switch kind := n.peek("type"); kind {
	case "webhook":
		r.attach(b, r.webhook(n))
	case "client":
		if b == nil {
			n.lost("Tools that a client runs belong to an agent, and no agent of the export has this one.")
			return
		}
		r.client(b, n)
	case "system":
		if b == nil {
			n.lost("Every agent has the system tools.")
			return
		}
		r.system(b, n, n.down("params").peek("system_tool_type"))
	default:
		n.lost("Tools call an HTTP endpoint, a server of MCP tools, or the connected client; this kind does neither.")
	}
}

func (r *elevenReader) attach(b *builder, tool *Tool) {
	if b != nil && !slices.Contains(b.Tools, tool) {
		b.Tools = append(b.Tools, tool)
	}
}

// webhook reads a tool that calls an endpoint.
func (r *elevenReader) webhook(n node) *Tool {
	key := n.tree.file + "\x00" + n.path
	if tool, ok := r.made[key]; ok {
		return tool
	}
	tool := newHTTPTool(r.plan, n)
	r.made[key] = tool
	n.note(elevenNotes.tool)
	n.at("type").became("tool.kind")
	tool.named(n, "name", "description")
	n.number("response_timeout_secs", "tool.timeout_seconds", toolSeconds(&tool.Want.TimeoutSeconds, 1))
	tool.assignments(n.at("assignments"))
	api := n.at("api_schema")
	api.note(elevenNotes.api)
	api.text("url", "tool.webhook_url", into(&tool.Want.WebhookUrl))
	api.text("method", "tool.method", tool.method)
	s := newSchema(tool)
	s.path(api.at("path_params_schema"))
	s.query(api.at("query_params_schema"))
	s.readBody(api.at("request_body_schema"))
	s.finish()
	tool.headers(api.at("request_headers"))
	if auth := api.at("auth_connection"); auth.exists() && auth.value != nil {
		auth.lost("The connection's secret is not in exports: set the header Authorization.")
		tool.secret("Authorization")
	}
	if api.peek("content_type") == "application/x-www-form-urlencoded" {
		tool.Notes = append(tool.Notes, "gets its body as JSON, and no more as a form")
	}
	tool.variables(tool.Want.GetWebhookUrl())
	return tool
}

// newHTTPTool begins a tool of kind http.
func newHTTPTool(plan *Plan, n node) *Tool {
	tool := &Tool{Want: &parlancev1.CreateToolRequest{Kind: "http"}, from: n}
	plan.Tools = append(plan.Tools, tool)
	return tool
}

// named reads the name and the description.
func (t *Tool) named(n node, name, description string) {
	n.text(name, "tool.slug", into(&t.Want.Slug))
	n.text(description, "tool.description", clipped(&t.Want.Description, maxDescriptionChars))
	t.describe()
}

// describe makes name and description such as the API takes.
func (t *Tool) describe() {
	given := t.Want.GetSlug()
	t.Want.Slug = slugOf(given)
	if given != "" && given != t.Want.GetSlug() {
		t.Notes = append(t.Notes, "was named "+quoted(given)+". Names begin with a letter and have letters, digits, _ and -: "+
			"use the new one in instructions")
	}
	if t.Want.GetDescription() == "" {
		t.Want.Description = strings.ReplaceAll(t.Want.GetSlug(), "_", " ")
	}
}

func (t *Tool) method(method string) string {
	if method = strings.ToUpper(method); !slices.Contains([]string{"GET", "POST", "PATCH", "PUT", "DELETE"}, method) {
		return "Tools use GET, POST, PATCH, PUT and DELETE; it stays POST."
	}
	t.Want.Method = method
	return ""
}

// assignments reads ElevenLabs' list of values that are kept of an answer.
func (t *Tool) assignments(n node) {
	for _, one := range n.items() {
		one.note(elevenNotes.assignment)
		path := one.at("value_path")
		name := one.peek("dynamic_variable")
		if why := t.assign(name, one.peek("value_path")); why != "" {
			one.lost("%s", why)
			continue
		}
		path.became("tool.assignments")
		one.at("dynamic_variable").became("tool.assignments")
	}
}

// headers reads ElevenLabs' headers: texts, variables, and secrets by their ids.
func (t *Tool) headers(n node) {
	for _, name := range n.keys() {
		value := n.at(name)
		text, isText := value.value.(string)
		switch variable := value.peek("variable_name"); {
		case isText:
			value.settle(t.header(name, text))
		case variable != "":
			value.settle(t.header(name, "{{"+variable+"}}"))
		case value.has("secret_id"), value.has("env_var_label"):
			value.lost("Secrets are not in exports: give the value with --secret.")
			t.secret(name)
		}
	}
}

// client reads a tool that the connected client runs.
func (r *elevenReader) client(b *builder, n node) {
	n.note(elevenNotes.clientTool)
	n.at("type").became(clientTools)
	s := &schema{properties: map[string]any{}, fixer: clientFixer(b, n.peek("name"))}
	parameters := s.object(n.at("parameters"))
	b.clientTool(n, parameters)
	n.number("response_timeout_secs", "agent.tools_config.client_tool_timeout_seconds", func(value float64) string {
		longest := b.toolsConfig().GetClientToolTimeoutSeconds()
		return toolSeconds(&b.toolsConfig().ClientToolTimeoutSeconds, 1)(max(value, float64(longest)))
	})
}

// server reads an MCP server.
func (r *elevenReader) server(n node) *Tool {
	if tool, ok := r.made[n.path+"\x00"+n.tree.file]; ok {
		return tool
	}
	n.note(elevenNotes.file)
	n = n.at("config")
	tool := &Tool{Want: &parlancev1.CreateToolRequest{Kind: "mcp"}, from: n}
	r.plan.Tools = append(r.plan.Tools, tool)
	r.made[strings.TrimSuffix(n.path, ".config")+"\x00"+n.tree.file] = tool
	n.note(elevenNotes.server)
	tool.named(n, "name", "description")
	if url := n.at("url"); url.isObject() {
		url.lost("The address is a secret, and not in exports: make the tool by hand.")
	} else {
		n.text("url", "tool.mcp_server_url", into(&tool.Want.McpServerUrl))
	}
	n.number("response_timeout_secs", "tool.timeout_seconds", toolSeconds(&tool.Want.TimeoutSeconds, 1))
	n.text("approval_policy", "tool.approval", func(policy string) string {
		tool.Want.Approval = map[string]string{
			"auto_approve_all": "never", "require_approval_all": "always", "require_approval_per_tool": "listed",
		}[policy]
		return map[bool]string{true: "It is none of the known policies; calls need no approval."}[tool.Want.GetApproval() == ""]
	})
	for _, hash := range n.at("tool_approval_hashes").items() {
		name := hash.peek("tool_name")
		if hash.peek("approval_policy") == "requires_approval" && name != "" && tool.Want.GetApproval() == "listed" {
			tool.Want.ApprovalTools = append(tool.Want.ApprovalTools, name)
		}
		hash.became("tool.approval_tools")
	}
	tool.headers(n.at("request_headers"))
	for _, key := range []string{"secret_token", "auth_connection"} {
		if auth := n.at(key); auth.exists() && auth.value != nil {
			auth.lost("Secrets are not in exports: set the header Authorization.")
			tool.secret("Authorization")
		}
	}
	return tool
}

// system reads a built-in tool of ElevenLabs.
func (r *elevenReader) system(b *builder, n node, kind string) {
	params := n.at("params")
	n.note(elevenNotes.system)
	done := func(to string) {
		n.at("name").became(to)
		params.at("system_tool_type").became(to)
	}
	switch kind {
	case "end_call", "language_detection", "skip_turn":
		done("tool system:" + kind)
	case "play_keypad_touch_tone":
		b.callbacks().PressKeys = true
		done("agent.callbacks.press_keys")
	case "voicemail_detection":
		r.voicemail(b, params)
		done("agent.callbacks.voicemail")
	case "transfer_to_number":
		for _, transfer := range params.at("transfers").items() {
			r.transfer(b, transfer)
		}
		done("agent.handover.enabled")
	case "transfer_to_agent":
		n.lost("Agents do not hand conversations to each other: choose the agent when the session is created.")
	default:
		n.lost("There is no built-in tool of this kind.")
	}
}

func (r *elevenReader) voicemail(b *builder, params node) {
	b.callbacks().Voicemail = "hang_up"
	b.voicemail(params, "voicemail_message")
}

// transfer reads a number that calls are transferred to.
func (r *elevenReader) transfer(b *builder, n node) {
	n.note(elevenNotes.transfer)
	destination := n.at("transfer_destination")
	number := destination.at("phone_number")
	if !number.exists() {
		number = n.at("phone_number")
	} else if n.has("phone_number") {
		n.at("phone_number").anew()
	}
	text, _ := number.value.(string)
	if why := b.destination(n.at("condition"), text); why != "" {
		n.lost("%s", why)
		return
	}
	number.became(destinations)
	destination.at("type").became(destinations)
	n.text("transfer_type", "agent.handover.mode", func(kind string) string {
		b.handover().Mode = map[string]string{"conference": "warm"}[kind]
		return ""
	})
}

// schema joins the parameters of a tool, which ElevenLabs keeps by their places, into one JSON
// Schema.
type schema struct {
	tool       *Tool
	properties map[string]any
	required   []string
	fixer      *fixer
}

func newSchema(tool *Tool) *schema {
	return &schema{tool: tool, properties: map[string]any{}, fixer: newFixer(tool)}
}

// fixed says what a parameter is set to without the model: a constant or a variable. place is the
// member that says so.
func fixed(n node) (place node, value any, ok bool) {
	if name := n.peek("dynamic_variable"); name != "" {
		return n.at("dynamic_variable"), "{{" + name + "}}", true
	}
	constant := n.at("constant_value")
	if !constant.exists() || isUnset(constant.value) {
		return node{}, nil, false
	}
	return constant, constant.value, true
}

// omitted says that a parameter is not sent at all.
func omitted(n node) bool {
	value, _ := n.at("is_omitted").value.(bool)
	if value {
		n.lost("It was left out of requests before, and is so now.")
	}
	return value
}

// add puts a parameter that the model fills in into the schema. path is its place in the body, and
// empty for one of the URL.
func (s *schema) add(n node, path []string, name string, required bool) bool {
	if _, taken := s.properties[name]; taken {
		n.lost("The tool has a parameter of this name in another place of the request, and names occur once.")
		if len(path) > 0 {
			s.tool.notInBody(name)
		} else {
			s.fixer.note("does not send " + quoted(name) + " in the query any more, because it is in the path")
		}
		return false
	}
	value, isFixed := s.value(n, path, name)
	if value == nil {
		return false
	}
	s.properties[name] = value
	if required || isFixed {
		s.required = append(s.required, name)
	}
	return true
}
