package exports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// elevenReader reads an export of ElevenLabs.
type elevenReader struct {
	plan *Plan
	// tools, servers and documents are those of other files, by id.
	tools, servers, documents map[string]node
	// made are tools that were read already, by their place.
	made map[string]*Tool
	// sources are those that were read already, by id.
	sources map[string]*Source
}

func readElevenLabs(items []item) (*Plan, error) {
	r := &elevenReader{
		plan: &Plan{}, tools: byID(items, shapeTool, "id"), servers: byID(items, shapeMCPServer, "id"),
		documents: byID(items, shapeDocument, "id"), made: map[string]*Tool{}, sources: map[string]*Source{},
	}
	for _, one := range items {
		if one.shape == shapeAgent {
			r.agent(one.node)
		}
	}
	for _, one := range items {
		if one.shape != shapeAgent {
			r.unused(one)
		}
	}
	return r.plan, nil
}

// unused makes the tools and documents that no agent names.
func (r *elevenReader) unused(one item) {
	switch one.shape {
	case shapeTool:
		if config := one.at("tool_config"); !config.isRead() {
			r.tool(nil, config)
		}
		one.note(elevenNotes.file)
	case shapeMCPServer:
		r.server(one.node)
	case shapeDocument:
		r.document(one.node, one.peek("id"))
	case shapeAgent, shapeAssistant, shapeKnowledge, shapeLLM, shapeFlow, shapeSquad, shapeFile:
	}
}

// elevenNames are variables of ElevenLabs that have another name here. Empty: there is none.
var elevenNames = map[string]string{
	"system__current_agent_id": "system__agent_id", "system__time": "system__time_utc", "system__call_sid": "system__session_id",
	"system__call_duration_secs": "", "system__conversation_history": "", "system__agent_turns": "",
}

func (r *elevenReader) agent(n node) {
	b := newBuilder(elevenNames)
	n.note(elevenNotes.agent)
	n.text("name", "agent.name", into(&b.Want.Name))
	b.ID = n.peek("agent_id")
	config := n.at("conversation_config")
	config.note(elevenNotes.config)
	r.spoken(b, config.at("agent"))
	r.prompt(b, config.down("agent", "prompt"))
	r.voice(b, config)
	r.limits(b, config)
	r.platform(b, n.at("platform_settings"))
	r.workflow(b, n.at("workflow"))
	for _, number := range n.at("phone_numbers").items() {
		number.lost("Numbers stay with their carrier: bring the number to yours and give it to the agent.")
		b.todo("Have the agent answer its telephone number", "parlance numbers create "+plainNumber(number.peek("phone_number"))+
			" --agent "+AgentPlaceholder)
	}
	r.plan.Agents = append(r.plan.Agents, b.finish("ElevenLabs agent"))
}

func plainNumber(number string) string {
	if phoneNumber.MatchString(number) {
		return number
	}
	return "NUMBER"
}

// spoken reads what the agent is but its prompt.
func (r *elevenReader) spoken(b *builder, n node) {
	n.note(elevenNotes.spoken)
	n.text("first_message", "agent.first_message", b.rendered(n, "first_message", 10000, &b.Want.FirstMessage))
	n.text("language", "agent.language", language(&b.Want.Language))
	n.flag("disable_first_message_interruptions", "agent.voice.waiting.protect_first_message", func(on bool) string {
		b.waiting().ProtectFirstMessage = on
		return ""
	})
	values := n.down("dynamic_variables", "dynamic_variable_placeholders")
	for _, name := range values.keys() {
		values.at(name).lost("Variables have no default values: give them in dynamic_variables when a session is created.")
		if variableName.MatchString(name) && !strings.HasPrefix(name, "system__") {
			b.variables[name] = true
		}
	}
}

// prompt reads the prompt, its model, and what it may use.
func (r *elevenReader) prompt(b *builder, n node) {
	n.note(elevenNotes.prompt)
	b.prompt(n, "prompt")
	n.text("llm", "agent.model.name", b.model)
	n.number("temperature", "agent.model.temperature", func(value float64) string {
		return within(&b.agentModel().Temperature, 0, 2)(value)
	})
	n.number("max_tokens", "agent.model.max_output_tokens", func(value float64) string {
		if value < 0 {
			return "" // no limit, as without one
		}
		return whole(&b.agentModel().MaxOutputTokens, 0, 200000)(value)
	})
	if backup := n.at("backup_llm_config"); backup.peek("preference") == "override" {
		backup.at("preference").became("agent.model.fallbacks")
		for _, one := range backup.at("order").items() {
			name, _ := one.value.(string)
			one.settle("agent.model.fallbacks", b.fallback(name))
		}
	}
	rag := n.at("rag")
	rag.note(elevenNotes.rag)
	rag.number("max_retrieved_rag_chunks_count", "agent.retrieval.top_k", func(value float64) string {
		return whole(&b.retrieval().TopK, 1, 50)(value)
	})
	builtIn := n.at("built_in_tools")
	for _, name := range builtIn.keys() {
		if tool := builtIn.at(name); tool.value != nil {
			r.system(b, tool, name)
		}
	}
	for _, tool := range n.at("tools").items() {
		r.tool(b, tool)
	}
	r.byIDs(b, n)
	for _, document := range n.at("knowledge_base").items() {
		r.locator(b, document)
	}
}

// byIDs reads the tools and servers that the prompt names by their ids.
func (r *elevenReader) byIDs(b *builder, n node) {
	ids := n.at("tool_ids").items()
	inline := 0
	for _, tool := range n.at("tools").items() {
		if tool.peek("type") != "system" {
			inline++
		}
		b.inline[cmp.Or(tool.peek("id"), tool.peek("tool_id"))] = true
	}
	for _, id := range ids {
		if name, _ := id.value.(string); inline == len(ids) {
			b.inline[name] = true // tools are what tool_ids name, in full
		}
		r.toolByID(b, id)
	}
	for _, id := range n.at("mcp_server_ids").items() {
		name, _ := id.value.(string)
		if server, ok := r.servers[name]; ok {
			id.became("tool")
			b.Tools = append(b.Tools, r.server(server))
			continue
		}
		id.lost("The MCP server is not in what was given: export it too, and give its file as well.")
		b.todo("Export the MCP server "+clip(name, 60)+" and run the import again with its file as "+
			"well", elevenCurl("mcp-servers", name, "mcp"))
	}
}

// toolByID reads a tool that is named by its id. It may be in the agent, or in a file of its own.
func (r *elevenReader) toolByID(b *builder, id node) {
	name, _ := id.value.(string)
	tool, ok := r.tools[name]
	switch {
	case ok:
		id.became("tool")
		tool.note(elevenNotes.file)
		if !b.read[name] {
			b.read[name] = true
			r.tool(b, tool.at("tool_config"))
		}
	case b.inline[name]:
		id.anew()
	default:
		b.inline[name] = true // one line is enough
		id.lost("The tool is not in what was given: export it too, and give its file as well.")
		b.todo("Export the tool "+clip(name, 60)+" and run the import again with its file as well", elevenCurl("tools", name, "tool"))
	}
}

// elevenCurl is a command that exports an object.
func elevenCurl(kind, id, file string) string {
	if !simpleKey.MatchString(id) {
		id = "ID"
	}
	return fmt.Sprintf(`curl -H "xi-api-key: $ELEVENLABS_API_KEY" `+
		`https://api.elevenlabs.io/v1/convai/%s/%s > %s-%s.json`, kind, id, file, id)
}

// elevenFormats are the formats of sound that both have.
var elevenFormats = map[string]string{"pcm_16000": "pcm16_16000", "pcm_24000": "pcm16_24000", "ulaw_8000": "g711_ulaw"}

func format(place *string) func(string) string {
	return func(given string) string {
		ours, ok := elevenFormats[given]
		if !ok {
			return "Sound has 24,000 or 16,000 Hz in 16 bits, or is µ-law or A-law; the default of 24,000 Hz stays."
		}
		*place = ours
		return ""
	}
}

// voice reads how the agent hears and speaks.
func (r *elevenReader) voice(b *builder, config node) {
	asr, tts, turn := config.at("asr"), config.at("tts"), config.at("turn")
	asr.note(elevenNotes.asr)
	asr.texts("keywords", "agent.voice.stt", b.keywords)
	asr.text("user_input_audio_format", "agent.voice.input_audio_format", func(given string) string {
		return format(&b.voice().InputAudioFormat)(given)
	})
	tts.note(elevenNotes.tts)
	tts.text("voice_id", "agent.voice.tts", b.member(b.tts, "voice"))
	tts.text("model_id", "agent.voice.tts", b.member(b.tts, "model"))
	tts.number("stability", "agent.voice.tts", ranged(b.tts, "stability", 0, 1))
	tts.number("similarity_boost", "agent.voice.tts", ranged(b.tts, "similarity_boost", 0, 1))
	tts.number("speed", "agent.voice.tts", ranged(b.tts, "speed", 0.25, 4))
	tts.text("agent_output_audio_format", "agent.voice.output_audio_format", func(given string) string {
		return format(&b.voice().OutputAudioFormat)(given)
	})
	if len(b.tts) > 0 {
		b.tts["provider"] = "elevenlabs"
		b.provides("tts", tts.at("voice_id"), tts.at("model_id"))
	}
	turn.note(elevenNotes.turn)
	turn.number("silence_end_call_timeout", "agent.idle_timeout_seconds", func(value float64) string {
		if value < 0 {
			return "Sessions always have a longest silence; the default of 120 s for voice and 1,800 s for text stays."
		}
		return seconds(&b.Want.IdleTimeoutSeconds)(value)
	})
	r.fillers(b, turn.at("soft_timeout_config"))
}

// keywords are words that the transcriber is told.
func (b *builder) keywords(words []string) string {
	given := len(words)
	words = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == "" || len(word) > 100 })
	if len(words) > 100 {
		return "A transcriber is told at most 100 words."
	}
	list := make([]any, len(words))
	for i, word := range words {
		list[i] = word
	}
	b.stt["keywords"] = list
	if left := given - len(words); left > 0 {
		return cut("Words have 1 to 100 bytes: %d of %d are left out.", left, given)
	}
	return ""
}

// fillers reads what is said while the user waits for an answer.
func (r *elevenReader) fillers(b *builder, n node) {
	n.note(elevenNotes.fillers)
	off := false
	n.number("timeout_seconds", "agent.voice.waiting.filler_after_ms", func(value float64) string {
		off = value <= 0
		after := int32(min(max(value*1000, 0), maxFillerAfterMs))
		b.waiting().FillerAfterMs = &after
		if value*1000 > maxFillerAfterMs {
			return cut("A filler is said after at most 60 seconds: it is 60 s.")
		}
		return ""
	})
	if off {
		for _, key := range []string{"message", "additional_soft_timeout_messages"} {
			n.at(key).set(Row{Kind: Empty})
		}
		return
	}
	n.text("message", fillers, b.filler)
	for _, text := range n.at("additional_soft_timeout_messages").items() {
		if words, ok := text.value.(string); ok {
			text.settle(fillers, b.filler(words))
		}
	}
}

// fillers is the field of sentences that are said while the user waits, and maxFillerAfterMs the
// longest that the user waits for one.
const (
	fillers          = "agent.voice.waiting.fillers"
	maxFillerAfterMs = 60000
)

// filler adds a sentence that is said while the user waits for an answer.
func (b *builder) filler(text string) string {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "It says nothing."
	case len(b.waiting().GetFillers()) == 10:
		return "An agent has at most ten fillers."
	}
	b.waiting().Fillers = append(b.waiting().Fillers, clip(text, maxNameChars))
	return cutText(text, maxNameChars)
}

// limits reads how long a conversation may last.
func (r *elevenReader) limits(b *builder, config node) {
	n := config.at("conversation")
	n.note(elevenNotes.conversation)
	n.number("max_duration_seconds", "agent.max_duration_seconds", seconds(&b.Want.MaxDurationSeconds))
	b.Want.ClientOverrides = append(b.Want.ClientOverrides, "dynamic_variables") // clients of ElevenLabs may always send them
}

// workflow says what becomes of a workflow: nothing of its steps. What they use the agent uses.
func (r *elevenReader) workflow(b *builder, n node) {
	if len(n.at("nodes").keys()) <= 1 && len(n.at("edges").keys()) == 0 {
		if n.exists() {
			n.set(Row{Kind: Empty})
		}
		return
	}
	n.lost("Workflows: an agent has one prompt and all its tools. Write the steps into instructions, " +
		"or make an agent of each and choose it when the session is created.")
	b.todo("Write into the instructions of the agent what its workflow did in steps, and when it calls its tools",
		"parlance agents update "+AgentPlaceholder+" --instructions @FILE")
	nodes := n.at("nodes")
	for _, key := range nodes.keys() {
		step := nodes.at(key)
		prompt := step.down("conversation_config", "agent", "prompt")
		for _, id := range slices.Concat(step.at("additional_tool_ids").items(), prompt.at("tool_ids").items()) {
			r.toolByID(b, id)
		}
		for _, tool := range step.at("tools").items() {
			if id := tool.at("tool_id"); id.exists() {
				r.toolByID(b, id)
			}
		}
		for _, document := range slices.Concat(step.at("additional_knowledge_base").items(), prompt.at("knowledge_base").items()) {
			r.locator(b, document)
		}
	}
}

// document makes a source of an exported document.
func (r *elevenReader) document(n node, id string) *Source {
	if source, ok := r.sources[id]; ok {
		return source
	}
	n.note(elevenNotes.document)
	source := &Source{}
	n.at("id").anew()
	n.at("type").became("source")
	n.text("name", "source.name", clipped(&source.Name, maxNameChars))
	switch n.peek("type") {
	case "url":
		n.text("url", "source.url", into(&source.URL))
	case "text":
		n.text("extracted_inner_html", "source.content", into(&source.Text))
		source.MediaType = "text/html"
	default:
		return nil
	}
	if source.URL == "" && source.Text == "" {
		return nil
	}
	if source.URL != "" {
		source.Name = sourceName(source.Name, source.URL)
	}
	r.sources[id] = source
	r.plan.Sources = append(r.plan.Sources, source)
	return source
}

// locator reads a document that the prompt names.
func (r *elevenReader) locator(b *builder, n node) {
	id, kind, name := n.peek("id"), n.peek("type"), n.peek("name")
	document, given := r.documents[id]
	var source *Source
	switch {
	case given:
		source = r.document(document, id)
	case kind == "url" && (strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")):
		source = &Source{Name: sourceName(name, name), URL: name}
		r.plan.Sources = append(r.plan.Sources, source)
	}
	if source != nil {
		n.became("source")
		source.InPrompt = source.InPrompt || n.peek("usage_mode") == "prompt"
		b.Sources = append(b.Sources, source)
		return
	}
	name = clip(name, 60)
	switch {
	case kind == "file" || given:
		n.lost("Files are not in exports: add the file yourself.")
		b.todo(fmt.Sprintf("Upload the file %q", name), addFile(name))
	case kind == "folder":
		n.lost("Folders of documents are not in exports: add their files yourself.")
		b.todo(fmt.Sprintf("Upload the files of the folder %q", name), "parlance kb add FOLDER --attach "+AgentPlaceholder)
	default:
		n.lost("The document is not in what was given: export it too, and give its file as well.")
		b.todo(fmt.Sprintf("Export the document %q and run the import again with its file as well", name),
			elevenCurl("knowledge-base", id, "document"))
	}
}
