package exports

import "slices"

// agentFlow finds the conversation flow of an agent: in the agent, as the dashboard exports it, or
// in another file.
func (r *retellReader) agentFlow(b *builder, n node, items []item) {
	engine := n.at("response_engine")
	id := engine.peek("conversation_flow_id")
	flow, ok := r.flows[id]
	for _, key := range []string{"conversationFlow", "conversation_flow"} {
		if inside := n.at(key); inside.isObject() {
			flow, ok = inside, true
		}
	}
	if !ok && count(items, shapeAgent) == 1 && count(items, shapeFlow) == 1 {
		at := slices.IndexFunc(items, func(one item) bool { return one.shape == shapeFlow })
		flow, ok = items[at].node, true
	}
	if !ok {
		engine.at("conversation_flow_id").lost("The conversation flow is not in what was given: export it too, and give its file as well.")
		engine.at("type").lost("%s", noFlow)
		if !simpleKey.MatchString(id) {
			id = "ID"
		}
		b.Obstacle = "the export lacks its conversation flow, which has the prompt and the tools: give that file too"
		b.todo("Export the conversation flow, which has the prompt and the tools, and run the import again with its file as well",
			`curl -H "Authorization: Bearer $RETELL_API_KEY" https://api.retellai.com/get-conversation-flow/`+id+" > flow.json")
		return
	}
	engine.at("type").became("agent.instructions")
	engine.at("conversation_flow_id").became("agent.instructions")
	r.flow(b, flow)
}

// flow reads what a conversation flow has beside its steps, which have no counterpart.
func (r *retellReader) flow(b *builder, n node) {
	n.note(retellNotes.flow)
	b.prompt(n, "global_prompt")
	n.text("start_speaker", "agent.first_message", func(string) string { return "" })
	n.down("model_choice").text("model", "agent.model.name", b.model)
	n.at("model_choice").note(retellNotes.choice)
	r.common(b, n, "tools")
	r.steps(n)
	r.firstStep(b, n)
	for _, component := range n.at("components").items() {
		component.note(retellNotes.component)
		for _, one := range component.at("tools").items() {
			r.tool(b, one, r.servers)
		}
		r.steps(component)
	}
	b.todo("Write into the instructions of the agent what its conversation flow did in steps, and when it calls its tools",
		"parlance agents update "+AgentPlaceholder+" --instructions @FILE")
}

// steps say what becomes of the nodes of a flow, with their edges: nothing.
func (r *retellReader) steps(n node) {
	for _, one := range n.at("nodes").items() {
		why, ok := retellSteps[one.peek("type")]
		if !ok {
			why = noFlow
		}
		one.lost("%s", why)
	}
}

// firstStep makes the first message of a first step that says a text.
func (r *retellReader) firstStep(b *builder, n node) {
	for _, one := range n.at("nodes").items() {
		says := one.at("instruction")
		if n.peek("start_speaker") == "agent" && one.peek("id") == n.peek("start_node_id") && says.peek("type") == "static_text" {
			says.text("text", "agent.first_message", b.rendered(says, "text", 10000, &b.Want.FirstMessage))
			return
		}
	}
}

// common reads what response engines and conversation flows both have; tools is the name of the
// list of tools.
func (r *retellReader) common(b *builder, n node, tools string) {
	n.number("model_temperature", "agent.model.temperature", func(value float64) string {
		return within(&b.agentModel().Temperature, 0, 2)(value)
	})
	n.at("kb_config").note(retellNotes.knowledge)
	n.at("kb_config").number("top_k", "agent.retrieval.top_k", func(value float64) string {
		return whole(&b.retrieval().TopK, 1, 50)(value)
	})
	values := n.at("default_dynamic_variables")
	for _, name := range values.keys() {
		values.at(name).lost("Variables have no default values: give them in dynamic_variables when a session is created.")
		if variableName.MatchString(name) {
			b.variables[name] = true
		}
	}
	r.servers = map[string]*Tool{}
	for _, one := range n.at("mcps").items() {
		r.server(b, one, r.servers)
	}
	for _, one := range n.at(tools).items() {
		r.tool(b, one, r.servers)
	}
	for _, id := range n.at("knowledge_base_ids").items() {
		r.knowledge(b, id)
	}
}
