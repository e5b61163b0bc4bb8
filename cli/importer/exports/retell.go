package exports

import (
	"math"
	"slices"
	"strings"
)

// retellReader reads an export of Retell.
type retellReader struct {
	plan *Plan
	// engines, flows and bases are those of other files, by id.
	engines, flows, bases map[string]node
	// made are sources that were read already, by the id of their knowledge base.
	made map[string][]*Source
	// servers are the servers of MCP tools of the engine that is read, by name.
	servers map[string]*Tool
}

func readRetell(items []item) (*Plan, error) {
	r := &retellReader{
		plan: &Plan{}, engines: byID(items, shapeLLM, "llm_id"), flows: byID(items, shapeFlow, "conversation_flow_id"),
		bases: byID(items, shapeKnowledge, "knowledge_base_id"), made: map[string][]*Source{},
	}
	agents, engines := count(items, shapeAgent), count(items, shapeLLM)
	for _, one := range items {
		if one.shape == shapeAgent {
			r.agent(one.node, agents == 1 && engines == 1, items)
		}
	}
	for _, one := range items {
		switch {
		case one.shape == shapeLLM && agents == 0:
			b := newBuilder(retellNames)
			b.ID = one.peek("llm_id")
			r.engine(b, one.node)
			r.plan.Agents = append(r.plan.Agents, b.finish("Retell agent"))
		case one.shape == shapeFlow && agents == 0:
			b := newBuilder(retellNames)
			b.ID = one.peek("conversation_flow_id")
			r.flow(b, one.node)
			r.plan.Agents = append(r.plan.Agents, b.finish("Retell agent"))
		case one.shape == shapeFlow && !one.tree.opened[one.path]:
			one.lost("No agent of the export has this flow.")
		case one.shape == shapeKnowledge:
			r.base(one.node)
		}
	}
	return r.plan, nil
}

func count(items []item, of shape) (n int) {
	for _, one := range items {
		if one.shape == of {
			n++
		}
	}
	return n
}

// retellNames are variables of Retell that have another name here. Empty: there is none.
var retellNames = map[string]string{
	"user_number": "system__caller_id", "agent_number": "system__called_number", "call_id": "system__session_id",
	"direction": "system__call_direction", "current_time": "system__time_utc", "current_agent_state": "", "previous_agent_state": "",
	"session_type": "", "session_duration": "", "call_type": "", "current_hour": "", "current_calendar": "",
}

// agent reads an agent. single says that the export has one agent and one engine, which belong
// together even when their ids do not say so.
func (r *retellReader) agent(n node, single bool, items []item) {
	b := newBuilder(retellNames)
	n.note(retellNotes.agent)
	n.text("agent_name", "agent.name", into(&b.Want.Name))
	b.ID = n.peek("agent_id")
	r.spoken(b, n)
	r.limits(b, n)
	r.analysis(b, n)
	r.storage(b, n)
	engine := n.at("response_engine")
	engine.note(retellNotes.response)
	switch engine.peek("type") {
	case "retell-llm":
		r.retellLLM(b, n, single, items)
	case "conversation-flow":
		r.agentFlow(b, n, items)
	default:
		engine.at("type").lost("An agent is answered by a model, not by a program of yours on a socket.")
		engine.at("llm_websocket_url").lost("An agent is answered by a model, not by a program of yours on a socket. A server with " +
			"OpenAI's API can be the model (docs/models.md).")
	}
	r.plan.Agents = append(r.plan.Agents, b.finish("Retell agent"))
}

// retellLLM finds the engine of an agent: in the agent, as the dashboard exports it, or in
// another file.
func (r *retellReader) retellLLM(b *builder, n node, single bool, items []item) {
	for _, key := range []string{"retellLlmData", "retell_llm_data"} {
		if inside := n.at(key); inside.isObject() {
			n.down("response_engine", "type").became("agent.instructions")
			r.engine(b, inside)
			return
		}
	}
	id := n.at("response_engine").peek("llm_id")
	engine, ok := r.engines[id]
	if !ok && single {
		at := slices.IndexFunc(items, func(one item) bool { return one.shape == shapeLLM })
		engine, ok = items[at].node, true
	}
	if !ok {
		n.down("response_engine", "llm_id").lost("The response engine is not in what was given: export it too, and give its file as well.")
		if !simpleKey.MatchString(id) {
			id = "ID"
		}
		b.Obstacle = "the export lacks its response engine, which has the prompt and the tools: give that file too"
		b.todo("Export the response engine, which has the prompt and the tools, and run the import again with its file as well",
			`curl -H "Authorization: Bearer $RETELL_API_KEY" https://api.retellai.com/get-retell-llm/`+id+" > llm.json")
		return
	}
	n.down("response_engine", "type").became("agent.instructions")
	n.down("response_engine", "llm_id").became("agent.instructions")
	r.engine(b, engine)
}

// spoken reads how the agent hears and speaks.
func (r *retellReader) spoken(b *builder, n node) {
	if list, ok := textsOf(n.at("language").value); ok && len(list) > 0 {
		n.at("language").settle("agent.language", firstLanguage(&b.Want.Language, list))
	} else {
		n.text("language", "agent.language", language(&b.Want.Language))
	}
	n.text("voice_id", "agent.voice.tts", func(id string) string {
		provider, name, _ := strings.Cut(id, "-")
		if provider != "openai" || name == "" {
			return "The voice's id is Retell's own: choose a voice of your provider (parlance agents update, docs/models.md)."
		}
		b.tts["provider"], b.tts["voice"] = "openai", strings.ToLower(name)
		b.provides("tts", n.at("voice_id"), n.at("voice_model"))
		return ""
	})
	n.text("voice_model", "agent.voice.tts", func(model string) string {
		if b.tts["provider"] != "openai" || model != "tts-1" && model != "gpt-4o-mini-tts" {
			return "The model belongs to a voice that is not brought over."
		}
		b.tts["model"] = model
		return ""
	})
	n.number("voice_speed", "agent.voice.tts", ranged(b.tts, "speed", 0.25, 4))
	n.texts("boosted_keywords", "agent.voice.stt", b.keywords)
	n.number("interruption_sensitivity", "agent.voice.turn_detection", func(value float64) string {
		if value != 0 {
			return "How easily speech interrupts is built in (docs/voice.md); 0 turns it off."
		}
		b.detection["interrupt_response"] = false
		return ""
	})
}

// firstLanguage sets the first of several languages.
func firstLanguage(place *string, tags []string) string {
	why := language(place)(tags[0])
	if why != "" || len(tags) == 1 {
		return why
	}
	return cut("An agent has one language, here the first, or none: without one it speaks that of its user. Left out are %s.",
		quotedList(tags[1:]))
}

// ringSeconds sets for how long a call rings, of milliseconds.
func ringSeconds(place *int32, most float64) func(float64) string {
	return func(given float64) string {
		value := math.Trunc(given / 1000)
		if why := whole(place, 5, most)(value); why != "" || value*1000 == given {
			return why
		}
		return cut("Time-outs are whole seconds: it is %d s.", *place)
	}
}

// limits reads time-outs and calls.
func (r *retellReader) limits(b *builder, n node) {
	n.number("max_call_duration_ms", "agent.max_duration_seconds", scaled(&b.Want.MaxDurationSeconds, 1000))
	n.number("end_call_after_silence_ms", "agent.idle_timeout_seconds", scaled(&b.Want.IdleTimeoutSeconds, 1000))
	n.number("ring_duration_ms", "agent.callbacks.ring_seconds", func(value float64) string {
		return ringSeconds(&b.callbacks().RingSeconds, 120)(value)
	})
	voicemail := n.down("voicemail_option", "action")
	n.at("voicemail_option").note(retellNotes.voicemail)
	switch voicemail.peek("type") {
	case "static_text":
		voicemail.at("type").became("agent.callbacks.voicemail")
		b.voicemail(voicemail, "text")
	case "hangup":
		b.callbacks().Voicemail = "hang_up"
		voicemail.at("type").became("agent.callbacks.voicemail")
	case "":
	default:
		voicemail.lost("What is left on an answering machine is a text of yours: callbacks.voicemail_message.")
	}
	if hook := n.at("webhook_url"); hook.exists() && !isUnset(hook.value) {
		text, _ := hook.value.(string)
		hook.lost("Endpoints belong to the workspace: register yours.")
		b.todo("Have your endpoint "+SafeURL(text)+" told of conversations that are over (another payload: docs/migrate/retell.md)",
			"parlance webhooks create URL --events post_call_transcription")
	}
}

// analysis reads what is found out about conversations.
func (r *retellReader) analysis(b *builder, n node) {
	for _, one := range n.at("post_call_analysis_data").items() {
		one.note(retellNotes.datum)
		if one.peek("type") == "system-presets" {
			r.preset(b, one)
			continue
		}
		b.datum(one, one.peek("name"), "name", "choices")
	}
}

// preset reads a value that Retell itself describes.
func (r *retellReader) preset(b *builder, n node) {
	why := ""
	if n.peek("name") == "user_sentiment" {
		why = "How the user feels is a value like others: describe it in analysis.data."
	} else {
		b.analysis(n.at("type"))
	}
	for _, key := range []string{"name", "type"} {
		n.at(key).settle("agent.analysis.enabled", why)
		b.analysisFrom = append(b.analysisFrom, n.at(key))
	}
	if n.has("description") {
		n.at("description").lost("%s", noAnalysis)
	}
}

// retellRedaction are the kinds of personal data that both know.
var retellRedaction = map[string]string{"email": "email", "phone_number": "phone", "credit_card": "card", "bank_account": "iban"}

// storage reads what is kept of conversations.
func (r *retellReader) storage(b *builder, n node) {
	n.text("data_storage_setting", "agent.privacy", func(setting string) string {
		switch setting {
		case "everything":
		case "everything_except_pii":
			for _, kind := range []string{"card", "email", "phone", "iban"} {
				_ = b.redact(kind) // all are known
			}
		case "basic_attributes_only":
			b.privacy().ZeroRetention = true
		default:
			return "It is none of the known settings; everything is kept."
		}
		return ""
	})
	n.number("data_storage_retention_days", "agent.privacy.retention.transcript_days", func(value float64) string {
		return days(&b.retention().TranscriptDays)(value)
	})
	pii := n.at("pii_config")
	pii.note(retellNotes.pii)
	if categories := pii.at("categories").items(); len(categories) > 0 {
		b.redactAll(categories, func(name string) string { return retellRedaction[name] })
	}
}

// engine reads the prompt of one agent, its model, and what it may use.
func (r *retellReader) engine(b *builder, n node) {
	n.note(retellNotes.engine)
	b.prompt(n, "general_prompt")
	if n.peek("start_speaker") == "user" && n.peek("begin_message") != "" {
		n.at("begin_message").lost("The agent waits for its user, and never says it.")
	} else {
		n.text("begin_message", "agent.first_message", b.rendered(n, "begin_message", 10000, &b.Want.FirstMessage))
	}
	n.text("start_speaker", "agent.first_message", func(string) string { return "" })
	n.text("model", "agent.model.name", b.model)
	r.common(b, n, "general_tools")
	for _, state := range n.at("states").items() {
		state.note(retellNotes.state)
		for _, one := range state.at("tools").items() {
			r.tool(b, one, r.servers)
		}
	}
}

// knowledge reads a knowledge base that the engine names.
func (r *retellReader) knowledge(b *builder, id node) {
	name, _ := id.value.(string)
	base, ok := r.bases[name]
	if !ok {
		id.lost("The knowledge base is not in what was given: export it too, and give its file as well.")
		if !simpleKey.MatchString(name) {
			name = "ID"
		}
		b.todo("Export the knowledge base "+name+" and run the import again with its file as well",
			`curl -H "Authorization: Bearer $RETELL_API_KEY" https://api.retellai.com/get-knowledge-base/`+name+" > kb-"+name+".json")
		return
	}
	id.became("source")
	b.Sources = append(b.Sources, r.base(base)...)
	for _, one := range base.at("knowledge_base_sources").items() {
		switch one.peek("type") {
		case "document":
			b.todo("Upload the file "+quoted(one.peek("filename")), addFile(one.peek("filename")))
		case "text":
			b.todo("Download the content_url of the text "+quoted(one.peek("title"))+" and upload it",
				"parlance kb add FILE --attach "+AgentPlaceholder)
		}
	}
}

// base makes the sources of a knowledge base.
func (r *retellReader) base(n node) []*Source {
	id := n.peek("knowledge_base_id")
	if sources, ok := r.made[id]; ok {
		return sources
	}
	n.note(retellNotes.base)
	every := ""
	n.flag("enable_auto_refresh", "source.refresh_every", func(on bool) string {
		if on {
			every = "12h"
		}
		return ""
	})
	r.made[id] = nil
	for _, one := range n.at("knowledge_base_sources").items() {
		one.note(retellNotes.source)
		if address := one.peek("url"); one.peek("type") == "url" && address != "" {
			one.at("url").became("source.url")
			one.at("type").became("source")
			source := &Source{Name: sourceName(one.peek("title"), address), URL: address, RefreshEvery: every}
			r.plan.Sources = append(r.plan.Sources, source)
			r.made[id] = append(r.made[id], source)
			continue
		}
		one.lost("Files and texts are not in exports: add them yourself.")
	}
	return r.made[id]
}
