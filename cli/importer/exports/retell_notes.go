package exports

const (
	noRetellSpeech = "Speech is made as the voice's provider makes it."
	noDTMF         = "Keys are collected until #, or for 1.5 s after the last one, and interrupt the agent."
	noHandbook     = "Nothing is added to your prompt: write it into instructions."
	noSaid         = "What is said while a tool runs is voice.waiting of the agent, the same for all tools."
)

// retellSteps are sentences for the kinds of steps of conversation flows.
var retellSteps = map[string]string{
	"conversation":              "Steps that talk: write what the agent says and asks there into instructions.",
	"subagent":                  "Steps that talk: write what the agent says and asks there into instructions.",
	"end":                       "Steps that end the conversation: the model calls end_call; write into instructions when.",
	"function":                  "Steps that call a tool: the model calls it; write into instructions when.",
	"mcp":                       "Steps that call a tool: the model calls it; write into instructions when.",
	"code":                      "Steps that run code: make a tool of it (parlance tools add).",
	"transfer_call":             "Steps that transfer a call: give the agent the number in handover.destinations.",
	"press_digit":               "Steps that press keys: turn on callbacks.press_keys, and write into instructions when.",
	"branch":                    "Steps that branch: write the conditions into instructions.",
	"sms":                       "There are no text messages: make a tool of your provider's API (parlance tools add --from-openapi).",
	"extract_dynamic_variables": "Variables are set by answers of tools (assignments); what was said is read out by analysis.data.",
	"agent_swap":                "Agents do not hand conversations to each other: choose the agent when the session is created.",
	"bridge_transfer":           "A warm transfer is finished by the person who was called: see docs/sessions.md.",
	"cancel_transfer":           "A warm transfer is finished by the person who was called: see docs/sessions.md.",
	"component":                 "Steps that are a flow of their own: write what happens there into instructions.",
}

// retellNotes are sentences for members of Retell's exports without counterpart.
var retellNotes = struct {
	agent, response, voicemail, datum, pii, engine, flow, choice, component, knowledge, state, base, source, tool, server, option table
}{
	agent: table{
		"agent_id": anew, "last_modification_timestamp": anew, "user_modified_timestamp": anew, "version": anew, "base_version": anew,
		"is_published": anew, "assigned_tags": noTag, "version_description": anew, "version_title": anew, "channel": anew,
		"allow_dtmf_interruption": noDTMF, "allow_user_dtmf": noDTMF, "user_dtmf_options": noDTMF,
		"ambient_sound": noSound, "ambient_sound_volume": anew,
		"backchannel_frequency":  "The agent says nothing while it listens.",
		"backchannel_words":      "The agent says nothing while it listens.",
		"enable_backchannel":     "The agent says nothing while it listens.",
		"begin_message_delay_ms": "The first message is said at once.",
		"call_screening_option":  "Calls are not screened.", "ivr_option": "The model may press keys in menus (callbacks.press_keys).",
		"custom_stt_config":             "The transcriber is the installation's, or voice.stt (docs/models.md).",
		"stt_mode":                      "The transcriber is the installation's, or voice.stt (docs/models.md).",
		"vocab_specialization":          "The transcriber is the installation's, or voice.stt (docs/models.md).",
		"denoising_mode":                "Noise is told from speech by a neural network, without settings (docs/voice.md).",
		"enable_dynamic_responsiveness": noGuess, "responsiveness": noGuess,
		"enable_dynamic_voice_speed": noRetellSpeech, "enable_expressive_mode": noRetellSpeech, "expressive_emotion_tags": noRetellSpeech,
		"expressive_mode_prompt": noRetellSpeech, "voice_emotion": noRetellSpeech, "voice_temperature": noRetellSpeech,
		"volume":                   noRetellSpeech,
		"fallback_voice_ids":       otherVoice,
		"guardrail_config":         "There are no ready-made topics: make no-go zones of phrases, patterns or examples (docs/guards.md).",
		"handbook_config":          noHandbook,
		"opt_in_signed_url":        "Recordings and transcripts are read with a key, or by links that expire (docs/recordings.md).",
		"signed_url_expiration_ms": "Recordings and transcripts are read with a key, or by links that expire (docs/recordings.md).",
		"post_call_analysis_model": noAnalysis, "analysis_summary_prompt": noAnalysis, "analysis_successful_prompt": noAnalysis,
		"analysis_user_sentiment_prompt": noAnalysis,
		"pronunciation_dictionary":       "There are no dictionaries of pronunciation.",
		"reminder_max_count":             noReengage, "reminder_trigger_ms": noReengage,
		"timezone":             "The time zone is that of the workspace, or of the session.",
		"webhook_events":       "Which events an endpoint gets is a setting of the endpoint (docs/webhooks.md).",
		"webhook_timeout_ms":   "Endpoints have 15 seconds to answer.",
		"normalize_for_speech": "Numbers, dates and the like are always written out for the voice.",
		"voicemail_message":    "callbacks.voicemail_message has it.", "enable_voicemail_detection": anew,
		"voicemail_detection_timeout_ms": anew,
	},
	response:  table{"version": anew, "conversation_flow_id": noFlow, "llm_id": anew},
	voicemail: table{"detection_prompt": "Answering machines are told by the carrier."},
	datum: table{
		"conditional_prompt": noAnalysis, "required": "A value that was not said is null.",
		"examples": "Write examples into the description.",
	},
	pii: table{"mode": anew},
	engine: table{
		"llm_id": anew, "last_modification_timestamp": anew, "version": anew, "is_published": anew, "is_transfer_llm": anew,
		"begin_after_user_silence_ms": "An agent that waits for its user says nothing by itself.",
		"model_high_priority":         "How fast a model is depends on its provider.",
		"s2s_model":                   "Speech is heard, answered and spoken by three models.",
		"starting_state":              noFlow, "tool_call_strict_mode": anew, "general_prompt": anew,
	},
	flow: table{
		"conversation_flow_id": anew, "last_modification_timestamp": anew, "version": anew, "is_published": anew, "start_node_id": noFlow,
		"begin_after_user_silence_ms": "An agent that waits for its user says nothing by itself.",
		"tool_call_strict_mode":       anew, "begin_tag_display_position": anew, "notes": "Notes are for the editor of flows.",
		"is_transfer_cf": anew, "is_transfer_llm": anew, "flex_mode": noFlow,
	},
	choice: table{"type": anew, "high_priority": "How fast a model is depends on its provider."},
	component: table{
		"name": noFlow, "conversation_flow_component_id": anew, "start_node_id": noFlow, "component_id": anew,
		"begin_tag_display_position": anew, "notes": "Notes are for the editor of flows.",
	},
	knowledge: table{"filter_score": noRAG},
	state: table{
		"name": noFlow, "edges": noFlow,
		"state_prompt": "An agent has one prompt: write into instructions what the state does. Its tools are brought over.",
	},
	base: table{
		"knowledge_base_id": anew, "knowledge_base_name": anew, "status": anew, "last_refreshed_timestamp": anew,
		"user_modified_timestamp": anew,
		"max_chunk_size":          "How sources are cut is not a setting.", "min_chunk_size": "How sources are cut is not a setting.",
	},
	source: table{"source_id": anew, "title": anew},
	tool: table{
		"description":                   "The description of a built-in tool cannot be changed: write into instructions when to use it.",
		"execution_message_description": noSaid, "execution_message_type": noSaid, "speak_during_execution": noSaid,
		"speak_after_execution": noAsync,
		"enable_typing_sound":   noSound, "parameter_type": "Bodies are JSON.", "delay_ms": "Keys are pressed at once.",
		"custom_sip_headers": "Calls are transferred by the carrier, without SIP headers of yours.", "ignore_e164_validation": anew,
		"transfer_destination.extension": "No keys are pressed after a transfer.", "input_schema": "The server's own schema is used.",
		"response_variables": "Values are kept of the answers of HTTP tools only.", "tool_id": anew,
	},
	server: table{"mcp_id": anew, "id": anew},
	option: table{
		"cold_transfer_mode":         "Calls are transferred by the carrier.",
		"show_transferee_as_caller":  "The carrier decides which number is shown.",
		"agent_detection_timeout_ms": "The person is told a summary when the call is answered.", "custom_on_hold_music_asset_id": noSound,
		"enable_bridge_audio_cue": noSound, "on_hold_music": noSound, "ivr_option": "Menus are not passed in a transfer.",
		"opt_out_human_detection": anew, "private_handoff_option": "With mode warm the person hears a summary that the model writes.",
		"public_handoff_option":   "With mode warm the person hears a summary that the model writes.",
		"agentic_transfer_config": "Agents do not hand conversations to each other.",
	},
}
