package exports

import (
	"cmp"
	"strings"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// vapiReader reads an export of Vapi.
type vapiReader struct {
	plan *Plan
	// tools and files are those of other files, by id.
	tools, files map[string]node
	// made are tools that were read already, by their place.
	made map[string]*Tool
}

func readVapi(items []item) (*Plan, error) {
	r := &vapiReader{
		plan: &Plan{}, tools: byID(items, shapeTool, "id"), files: byID(items, shapeFile, "id"), made: map[string]*Tool{},
	}
	for _, one := range items {
		switch one.shape {
		case shapeAssistant:
			r.assistant(one.node)
		case shapeSquad:
			r.squad(one.node)
		case shapeAgent, shapeTool, shapeMCPServer, shapeDocument, shapeKnowledge, shapeLLM, shapeFlow, shapeFile:
		}
	}
	for _, one := range items {
		switch one.shape {
		case shapeTool:
			r.tool(nil, one.node, endpoint{})
		case shapeFile:
			one.note(vapiNotes.file)
			one.at("id").anew()
		case shapeAgent, shapeAssistant, shapeMCPServer, shapeDocument, shapeKnowledge, shapeLLM, shapeFlow, shapeSquad:
		}
	}
	return r.plan, nil
}

// vapiNames are variables of Vapi that have another name here. Empty: there is none.
var vapiNames = map[string]string{
	"now": "system__time_utc", "call.id": "system__session_id", "customer.number": "system__caller_id",
	"phoneNumber.number": "system__called_number", "assistant.id": "system__agent_id", "date": "", "time": "", "year": "", "month": "",
	"day": "",
}

// squad reads the assistants that a squad holds.
func (r *vapiReader) squad(n node) {
	n.note(vapiNotes.squad)
	for _, member := range n.at("members").items() {
		member.note(vapiNotes.member)
		if assistant := member.at("assistant"); assistant.isObject() {
			r.assistant(assistant)
		}
		if id := member.at("assistantId"); id.exists() && id.value != nil {
			id.lost("Agents do not hand conversations to each other. Import the assistant by itself, " +
				"and choose the agent when the session is created.")
		}
	}
}

func (r *vapiReader) assistant(n node) {
	b := newBuilder(vapiNames)
	n.note(joined(vapiNotes.ids, vapiNotes.assistant))
	n.text("name", "agent.name", into(&b.Want.Name))
	b.ID = n.peek("id")
	r.first(b, n)
	endpoint := r.endpoint(b, n)
	r.model(b, n.at("model"), endpoint)
	r.voice(b, n.at("voice"))
	r.transcriber(b, n.at("transcriber"))
	r.limits(b, n)
	r.analysis(b, n.at("analysisPlan"))
	r.storage(b, n)
	r.plan.Agents = append(r.plan.Agents, b.finish("Vapi assistant"))
}

// first reads how a conversation begins.
func (r *vapiReader) first(b *builder, n node) {
	mode := cmp.Or(n.peek("firstMessageMode"), "assistant-speaks-first")
	place := n.at("firstMessageMode")
	switch mode {
	case "assistant-speaks-first":
		place.became("agent.first_message")
		n.text("firstMessage", "agent.first_message", b.rendered(n, "firstMessage", 10000, &b.Want.FirstMessage))
	case "assistant-waits-for-user":
		place.became("agent.first_message")
		n.at("firstMessage").lost("The agent waits for its user, and never says it.")
	default:
		place.lost("The first message is a text of yours, not the model's.")
		n.text("firstMessage", "agent.first_message", b.rendered(n, "firstMessage", 10000, &b.Want.FirstMessage))
	}
	n.flag("firstMessageInterruptionsEnabled", "agent.voice.waiting.protect_first_message", func(on bool) string {
		b.waiting().ProtectFirstMessage = !on
		return ""
	})
}

// endpoint is a server that tools are called at.
type endpoint struct {
	// address and secret are members of server, or the older ones beside it.
	address, secret, server node
}

func (e endpoint) url() string {
	text, _ := e.address.value.(string)
	return text
}

// endpointOf is the endpoint of a tool.
func endpointOf(server node) endpoint {
	return endpoint{address: server.at("url"), secret: server.at("secret"), server: server}
}

// endpoint reads where Vapi sends its messages, which is also where tools without an address of
// their own are.
func (r *vapiReader) endpoint(b *builder, n node) endpoint {
	at := endpointOf(n.at("server"))
	at.server.note(vapiNotes.server)
	if at.url() == "" {
		at.address, at.secret = n.at("serverUrl"), n.at("serverUrlSecret")
	}
	address := at.address
	if text, _ := address.value.(string); text != "" {
		address.lost("One endpoint got everything; here webhooks tell what happened, and each tool has its own address.")
		b.todo("Have your endpoint "+SafeURL(text)+" told of conversations that are over (another payload: docs/migrate/vapi.md)",
			"parlance webhooks create URL --events post_call_transcription")
	}
	return at
}

// model reads the prompt, its model, and what it may use.
func (r *vapiReader) model(b *builder, n node, server endpoint) {
	n.note(vapiNotes.model)
	r.modelName(b, n)
	n.number("temperature", "agent.model.temperature", func(value float64) string {
		return within(&b.agentModel().Temperature, 0, 2)(value)
	})
	n.number("maxTokens", "agent.model.max_output_tokens", func(value float64) string {
		return whole(&b.agentModel().MaxOutputTokens, 0, 200000)(value)
	})
	r.prompts(b, n)
	for _, tool := range n.at("tools").items() {
		r.tool(b, tool, server)
	}
	for _, key := range []string{"toolIds", "toolRefs"} {
		for _, id := range n.at(key).items() {
			r.toolByID(b, id, server)
		}
	}
}

// prompts joins the prompts of an assistant.
func (r *vapiReader) prompts(b *builder, n node) {
	var places []node
	if prompt := n.at("systemPrompt"); prompt.exists() && !isUnset(prompt.value) {
		places = append(places, prompt)
	}
	for _, message := range n.at("messages").items() {
		if message.peek("role") != "system" {
			message.lost("Conversations begin with the prompt: examples of what is said belong into instructions.")
			continue
		}
		message.at("role").became("agent.instructions")
		if content := message.at("content"); content.exists() {
			places = append(places, content)
		}
	}
	b.prompts(places)
}

func (r *vapiReader) toolByID(b *builder, id node, server endpoint) {
	name, _ := id.value.(string)
	name = cmp.Or(name, id.peek("toolId"), id.peek("id"))
	tool, ok := r.tools[name]
	if !ok {
		id.lost("The tool is not in what was given: export it too, and give its file as well.")
		if !simpleKey.MatchString(name) {
			name = "ID"
		}
		b.todo("Export the tool "+clip(name, 60)+" and run the import again with its file as well",
			`curl -H "Authorization: Bearer $VAPI_API_KEY" https://api.vapi.ai/tool/`+name+" > tool-"+name+".json")
		return
	}
	id.became("tool")
	r.tool(b, tool, server)
}

// vapiModels are Vapi's providers of models, and ours.
var vapiModels = map[string]string{"openai": "openai", "anthropic": "anthropic", "azure-openai": "azure"}

func (r *vapiReader) modelName(b *builder, n node) {
	provider, ok := vapiModels[n.peek("provider")]
	if !ok {
		for _, key := range []string{"provider", "model"} {
			if n.has(key) {
				n.at(key).lost(noModel)
			}
		}
		return
	}
	n.at("provider").became("agent.model.provider")
	set := func(name string) string {
		if len(name) > maxNameChars {
			return noModel
		}
		b.agentModel().Provider, b.agentModel().Name = provider, name
		return ""
	}
	n.text("model", "agent.model.name", set)
	n.texts("fallbackModels", "agent.model.fallbacks", func(names []string) string {
		for _, name := range names {
			if name != "" && len(name) <= maxNameChars && len(b.agentModel().GetFallbacks()) < maxFallbacks {
				b.agentModel().Fallbacks = append(b.agentModel().Fallbacks, &parlancev1.ModelRef{Provider: provider, Name: name})
			}
		}
		if left := len(names) - len(b.agentModel().GetFallbacks()); left > 0 {
			return cut("An agent has at most %d fallbacks, with names of 1 to %d bytes: %d are left out.", maxFallbacks, maxNameChars, left)
		}
		return ""
	})
}

func (r *vapiReader) voice(b *builder, n node) {
	n.note(vapiNotes.voice)
	provider, ok := map[string]string{"11labs": "elevenlabs", "openai": "openai"}[n.peek("provider")]
	if !ok {
		for _, key := range []string{"provider", "voiceId", "model"} {
			if n.has(key) {
				n.at(key).lost("Voices are those of OpenAI (or a server with its API), ElevenLabs and espeak-ng (docs/models.md); " +
					"the agent has the installation's.")
			}
		}
		return
	}
	b.tts["provider"] = provider
	b.provides("tts", n.at("provider"), n.at("voiceId"), n.at("model"))
	n.at("provider").became("agent.voice.tts")
	n.text("voiceId", "agent.voice.tts", b.member(b.tts, "voice"))
	n.text("model", "agent.voice.tts", b.member(b.tts, "model"))
	n.text("language", "agent.voice.tts", b.member(b.tts, "language"))
	n.text("instructions", "agent.voice.tts", func(text string) string {
		b.tts["instructions"] = clip(text, maxDescriptionChars)
		return cutText(text, maxDescriptionChars)
	})
	n.number("stability", "agent.voice.tts", ranged(b.tts, "stability", 0, 1))
	n.number("similarityBoost", "agent.voice.tts", ranged(b.tts, "similarity_boost", 0, 1))
	n.number("speed", "agent.voice.tts", ranged(b.tts, "speed", 0.25, 4))
}

func (r *vapiReader) transcriber(b *builder, n node) {
	n.note(vapiNotes.transcriber)
	n.text("language", "agent.language", language(&b.Want.Language))
	provider := n.peek("provider")
	if provider != "deepgram" && provider != "openai" {
		for _, key := range []string{"provider", "model"} {
			if n.has(key) {
				n.at(key).lost("Transcribers are those of Deepgram and OpenAI, or a server with its API (docs/models.md); " +
					"the agent has the installation's.")
			}
		}
	} else {
		b.stt["provider"] = provider
		b.provides("stt", n.at("provider"), n.at("model"))
		n.at("provider").became("agent.voice.stt")
		n.text("model", "agent.voice.stt", b.member(b.stt, "model"))
	}
	var words []string
	add := func(more []string) string {
		weighted := false
		for _, word := range more {
			word, _, found := strings.Cut(word, ":") // Deepgram's keywords have a weight behind a colon
			words, weighted = append(words, word), weighted || found
		}
		why := b.keywords(words)
		if why == "" && weighted {
			return cut("Words have no weights: what is behind a colon is left out.")
		}
		return why
	}
	n.texts("keywords", "agent.voice.stt", add)
	n.texts("keyterm", "agent.voice.stt", add)
}

// limits reads time-outs, and what follows when an answering machine answers.
func (r *vapiReader) limits(b *builder, n node) {
	n.number("maxDurationSeconds", "agent.max_duration_seconds", seconds(&b.Want.MaxDurationSeconds))
	n.number("silenceTimeoutSeconds", "agent.idle_timeout_seconds", seconds(&b.Want.IdleTimeoutSeconds))
	b.voicemail(n, "voicemailMessage")
	if denoise := n.at("backgroundDenoisingEnabled"); denoise.exists() {
		denoise.anew()
	}
}

// analysis reads what is found out about conversations.
func (r *vapiReader) analysis(b *builder, n node) {
	n.note(vapiNotes.analysis)
	summary := n.down("summaryPlan", "enabled")
	n.at("summaryPlan").note(vapiNotes.summary)
	if on, isFlag := summary.value.(bool); isFlag && on {
		b.analysis(summary)
		summary.became("agent.analysis.enabled")
	}
	success := n.at("successEvaluationPlan")
	success.note(vapiNotes.summary)
	if on := success.at("enabled"); on.value == true {
		b.analysis(on)
		on.became("agent.analysis.enabled")
	}
	data := n.at("structuredDataPlan")
	data.note(vapiNotes.summary)
	if on := data.at("enabled"); on.value == true {
		b.analysis(on)
		on.became("agent.analysis.enabled")
	}
	schema := data.at("schema")
	schema.note(vapiNotes.schema)
	properties := schema.at("properties")
	for _, name := range properties.keys() {
		property := properties.at(name)
		property.note(vapiNotes.property)
		b.datum(property, name, "", "enum")
	}
}

// storage reads what is kept of conversations.
func (r *vapiReader) storage(b *builder, n node) {
	artifacts := n.at("artifactPlan")
	artifacts.note(vapiNotes.artifacts)
	artifacts.flag("recordingEnabled", "agent.voice.recording.enabled", b.record(artifacts.at("recordingEnabled")))
	n.flag("recordingEnabled", "agent.voice.recording.enabled", b.record(n.at("recordingEnabled")))
	compliance := n.at("compliancePlan")
	compliance.note(vapiNotes.compliance)
	zero := func(on bool) string {
		if on {
			b.privacy().ZeroRetention = true
		}
		return ""
	}
	compliance.flag("hipaaEnabled", "agent.privacy.zero_retention", zero)
	n.flag("hipaaEnabled", "agent.privacy.zero_retention", zero)
}

// transferTo reads the destinations of a transfer.
func (r *vapiReader) transferTo(b *builder, n node) {
	for _, one := range n.at("destinations").items() {
		one.note(vapiNotes.destination)
		if one.peek("type") != "number" {
			one.lost("Calls are transferred to telephone numbers, not to SIP addresses or other assistants.")
			continue
		}
		number := one.at("number")
		text, _ := number.value.(string)
		name := one.at("name")
		if one.peek("name") == "" {
			name = one.at("description")
		}
		if why := b.destination(name, text); why != "" {
			one.lost("%s", why)
			continue
		}
		number.became(destinations)
		one.at("type").became(destinations)
		one.down("transferPlan").note(vapiNotes.transferPlan)
		one.at("transferPlan").text("mode", "agent.handover.mode", func(mode string) string {
			if strings.HasPrefix(mode, "warm-") {
				b.handover().Mode = "warm"
			}
			return ""
		})
	}
}

// query reads the files of a tool that searches.
func (r *vapiReader) query(b *builder, n node) {
	for _, base := range n.at("knowledgeBases").items() {
		base.note(vapiNotes.knowledge)
		for _, id := range base.at("fileIds").items() {
			text, _ := id.value.(string)
			name := text
			if file, ok := r.files[text]; ok {
				name = cmp.Or(file.peek("name"), file.peek("originalName"), name)
			}
			id.lost("Files are not in exports: add the file yourself.")
			b.todo("Upload the file "+quoted(name), addFile(name))
		}
	}
}
