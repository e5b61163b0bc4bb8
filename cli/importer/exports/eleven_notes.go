package exports

// Sentences that several members share.
const (
	noSound     = "The agent has no sounds beside its voice."
	noLook      = "The widget is set up where it is embedded (docs/widget.md)."
	noTTS       = "Speech is made as the voice's provider makes it."
	noToolSpeak = "What is said while a tool runs is voice.waiting of the agent, the same for all tools."
	noErrors    = "The model is told why a call failed, and the user what the model makes of it."
	noAsync     = "The answer waits for the result of a tool, within its time-out."
	noLimit     = "The plan of the tenant limits sessions and calls, not the agent."
	noGuess     = "When the user has finished is decided by the words, the silences and a model of the end of turns (docs/voice.md)."
	noReengage  = "voice.waiting.reengage_after_ms is near, but after as long again it ends the session: set it if you want that."
	noAnalysis  = "Analyses are made by the agent's own model, of each conversation by itself."
	noTest      = "Tests are not imported."
	noReason    = "How much a model thinks is left to it."
	noFlow      = "An agent has one prompt and all its tools; there are no flows of steps."
	noRAG       = "The embedding model is the installation's, and other models have other similarities: see docs/knowledge.md."
	noTools     = "Tools are called one after the other, as the model asks."
	noTag       = "Agents have no tags."
	noOverride  = "There is no override for it."
	noEvents    = "Which events a client gets, it says when it connects (docs/realtime.md)."
)

// elevenNotes are sentences for members of ElevenLabs' exports without counterpart.
var elevenNotes = struct {
	agent, config, spoken, prompt, rag, asr, tts, turn, fillers, conversation, document, file,
	tool, api, property, assignment, clientTool, server, system, transfer,
	platform, criterion, datum, privacy, overrides, overridable, auth table
}{
	agent: table{
		"agent_id": anew, "metadata": anew, "version_id": anew, "branch_id": anew, "main_branch_id": anew, "access_info": anew,
		"tags": noTag, "procedures": noFlow, "default_hold_audio_url": noSound,
		"whatsapp_accounts": "There is no WhatsApp.",
	},
	config: table{
		"vad": anew,
		"language_presets": "An agent speaks all languages with one prompt; its first message is in one. Choose first_message and voice " +
			"in the overrides of a session.",
	},
	spoken: table{
		"hinglish_mode":                     noTTS,
		"max_conversation_duration_message": "A session that reaches its longest duration ends without a sentence.",
		"text_behavior_overrides":           "Say in instructions how long answers are.",
		"dynamic_variables":                 anew,
	},
	prompt: table{
		"reasoning_effort": noReason, "thinking_budget": noReason, "enable_reasoning_summary": noReason,
		"tool_ids_strict": anew, "enable_parallel_tool_calls": noTools,
		"native_mcp_server_ids": "Servers that ElevenLabs itself runs cannot be called from elsewhere.",
		"custom_llm": "Models belong to the installation or the workspace: PARLANCE_MODEL_BASE_URL, or a credential of the workspace " +
			"(docs/models.md).",
		"ignore_default_personality": anew,
		"timezone":                   "The time zone is that of the workspace, or of the session.",
		"backup_llm_config":          "No fallback is chosen for you: name them in model.fallbacks.",
		"cascade_timeout_seconds":    "A fallback is asked when the model fails before its first token.",
	},
	rag: table{
		"enabled": anew, "embedding_model": noRAG, "max_vector_distance": noRAG, "num_candidates": noRAG,
		"max_documents_length":          "How much of the sources is in the prompt follows from retrieval.top_k.",
		"query_rewrite_prompt_override": "Questions are searched for as they are asked.",
		"knowledge_base_tool_info":      "Passages are in the prompt of each turn; the model does not search.",
	},
	asr: table{
		"quality": "The transcriber is the installation's.", "provider": "The transcriber is the installation's.",
	},
	tts: table{
		"supported_voices": "An agent has one voice.", "expressive_mode": noTTS, "suggested_audio_tags": noTTS,
		"optimize_streaming_latency": noTTS, "text_normalisation_type": "Numbers, dates and the like are always written out for the voice.",
		"pronunciation_dictionary_locators": "There are no dictionaries of pronunciation.", "enable_phoneme_tags": noTTS,
		"audio_effects": noSound,
	},
	turn: table{
		"turn_timeout": noReengage, "initial_wait_time": noReengage,
		"turn_eagerness":               "A client sets the eagerness: turn_detection of session.update, with type semantic_vad.",
		"spelling_patience":            noGuess,
		"speculative_turn":             "The model is always asked early where nothing speaks against it (turn_detection.start_early).",
		"retranscribe_on_turn_timeout": noGuess, "turn_model": noGuess,
		"interruption_ignore_terms":          "Words that are no interruption are built in, for each language.",
		"interruption_ignore_term_languages": "Words that are no interruption are built in, for each language.",
		"merge_with_default_ignore_terms":    anew, "transcribe_on_disabled_interruptions": anew, "mode": noGuess,
	},
	fillers: table{
		"use_llm_generated_message":             "Fillers are written beforehand.",
		"llm_generated_message_prompt_override": "Fillers are written beforehand.",
		"randomize_fillers":                     "Fillers are said in turn.",
		"max_soft_timeouts_per_generation":      "At most one filler is said while an answer is waited for.",
		"disable_until_first_user_message":      anew,
	},
	conversation: table{
		"text_only":     "Whether a conversation is spoken is the modality of its session.",
		"client_events": noEvents, "monitoring_events": noEvents,
		"monitoring_enabled":  "Operators can always follow a session (docs/sessions.md).",
		"file_input":          "Users send text and speech, and no files.",
		"dtmf_input_settings": "Keys are collected until #, or for 1.5 s after the last one.",
		"background_sound":    noSound,
		"source_attribution":  "Answers always name their passages (docs/knowledge.md).",
	},
	document: table{
		"metadata": anew, "supported_usages": anew, "access_info": anew, "extracted_inner_html": anew, "folder_parent_id": anew,
		"folder_path": anew, "filename": anew, "content_type": anew, "usage_mode": anew, "prompt_injectable": anew, "url": anew,
		"dependent_agents": anew, "created_at_unix_secs": anew, "last_updated_at_unix_secs": anew, "file_metadata": anew,
		"auto_sync_info": "Pages are fetched once: parlance kb update, or kb web --every, has them fetched again.",
		"auto_remove":    "Pages are fetched once: parlance kb update, or kb web --every, has them fetched again.",
		"children":       "Folders of documents are not in exports.",
	},
	file: table{
		"id": anew, "access_info": anew, "usage_stats": anew, "metadata": anew, "dependent_agents": anew,
		"response_mocks": noTest, "auto_create_folder": anew,
	},
	tool: elevenToolNotes,
	api: table{
		"response_body_schema": "Answers are given to the model as they come.",
		"response_filter":      "Answers are given to the model whole, up to 16 KiB.",
		"content_type":         "Bodies are JSON.", "auth_resolved_params": "Values that a connection fills in have to be set by hand.",
	},
	property: table{
		"is_system_provided": anew, "is_omitted": anew, "dynamic_variable": anew, "constant_value": anew,
		"allowed_values":                  "Values that a variable lists are not checked: name them in the description.",
		"allowed_values_dynamic_variable": "Values that a variable lists are not checked: name them in the description.",
		"required_constraints":            "Write which parameters go together into the description.",
		"value_type":                      anew, "id": anew, "description": anew, "type": anew, "enum": anew, "required": anew,
	},
	assignment: table{
		"source": anew, "sanitize": "What a tool answers is shown to the model too.", "preserve_native_type": "Variables are texts.",
	},
	clientTool: joined(elevenToolNotes, table{
		"expects_response": "The model waits for the client's answer; a client with nothing to say answers at once.",
	}),
	server: joined(elevenToolNotes, table{
		"transport": anew, "request_meta": "Requests have no _meta of yours.", "disable_compression": anew,
		"tool_config_overrides": "Tools of a server are taken as the server has them.",
	}),
	system: joined(elevenToolNotes, table{
		"type": anew, "name": anew,
		"description":           "The description of a built-in tool cannot be changed: write into instructions when to use it.",
		"response_timeout_secs": anew,
		"params":                "The built-in tool has no settings.", "params.system_tool_type": anew,
		"params.only_at_conversation_start": "The language can change at any time.",
		"params.wait_timeout_secs":          "A skipped turn waits for the user as long as the session may be idle.",
		"params.use_out_of_band_dtmf":       anew, "params.suppress_turn_after_dtmf": anew,
		"params.enable_client_message": "The caller hears that the call is transferred from the agent.",
	}),
	transfer: table{
		"custom_sip_headers": "Calls are transferred by the carrier, without SIP headers of yours.", "sip_refer_play_dialtone": noSound,
		"uui":              "Calls are transferred by the carrier, without SIP headers of yours.",
		"post_dial_digits": "No keys are pressed after a transfer.",
	},
	platform: table{
		"widget": noLook, "data_collection_scopes": noAnalysis, "analysis_items": noAnalysis, "analysis_llm": noAnalysis,
		"testing": noTest, "archived": anew, "safety": anew, "trust_context": anew, "ban": anew,
		"auto_translate_transcript_to_app_language": "Transcripts are in the language of the conversation.",
		"call_limits": noLimit, "queueing_config": "Callers do not queue: a call that cannot be answered is refused.",
		"topic_discovery": noAnalysis, "sentiment_analysis": noAnalysis,
		"alerting":           "Alerts come from the metrics (docs/observability.md).",
		"guardrails.version": anew,
		"guardrails.focus": "Say in instructions what the agent talks about, or make a no-go zone of " +
			"the rest (docs/guards.md).",
		"guardrails.prompt_injection": "injection_policy looks after what tools and passages dictate: flag is " +
			"the default.",
		"guardrails.content": "There are no ready-made topics: make no-go zones of phrases, patterns " +
			"or examples (docs/guards.md).",
		"guardrails.moderation": "There are no ready-made topics: make no-go zones of phrases, patterns " +
			"or examples (docs/guards.md).",
		"workspace_overrides.webhooks.events":            "Which events an endpoint gets is a setting of the endpoint.",
		"workspace_overrides.webhooks.transcript_format": anew, "workspace_overrides.webhooks.exclude_transcript": anew,
		"workspace_overrides.webhooks.send_audio": "Sound is not sent: the recording of a session is downloaded (docs/recordings.md).",
		"workspace_overrides.conversation_initiation_client_data_webhook": "Your system gives variables when it creates the session; " +
			"for calls, the number's --lookup-url is asked.",
	},
	criterion: table{
		"use_knowledge_base": noAnalysis, "scope": noAnalysis, "llm": noAnalysis,
		"scoring_mode":       "A criterion is met, or not, or it is unknown.",
		"max_score":          "A criterion is met, or not, or it is unknown.",
		"score_instructions": "A criterion is met, or not, or it is unknown.",
	},
	datum: table{
		"is_system_provided": anew, "dynamic_variable": noAnalysis, "allowed_values": noAnalysis,
		"allowed_values_dynamic_variable": noAnalysis,
		"constant_value":                  noAnalysis, "is_omitted": anew, "name": anew, "llm": noAnalysis,
	},
	privacy: table{
		"apply_to_existing_conversations": "The agent here has none yet.",
		"conversation_history_redaction":  noRedaction, "conversation_history_redaction.enabled": anew,
		"conversation_history_redaction.excluded_data_collection_ids": noRedaction, "conversation_history_redaction.entities": anew,
	},
	overrides: table{
		"custom_llm_extra_body":                                   noOverride,
		"enable_conversation_initiation_client_data_from_webhook": "For calls, the number's --lookup-url is asked.",
		"enable_starting_workflow_node_id_from_client":            noFlow,
		"enable_procedure_ids_from_client":                        noFlow,
	},
	overridable: table{
		"asr.keywords": noOverride, "turn.soft_timeout_config": noOverride, "turn.soft_timeout_config.message": noOverride,
		"turn": noOverride, "tts.model_id": noOverride, "tts.voice_id": noOverride, "tts.supported_voices": noOverride,
		"tts.stability": noOverride, "tts.speed": noOverride, "tts.similarity_boost": noOverride,
		"tts.pronunciation_dictionary_locators": noOverride,
		"conversation":                          "A session's modality and longest duration are not the client's to choose.",
		"agent.first_message":                   noOverride, "agent.language": noOverride,
		"agent.max_conversation_duration_message": noOverride,
		"agent.prompt.prompt":                     noOverride, "agent.prompt.llm": noOverride, "agent.prompt.tool_ids": noOverride,
		"agent.prompt.tool_ids_strict": noOverride, "agent.prompt.native_mcp_server_ids": noOverride,
		"agent.prompt.knowledge_base": noOverride,
	},
	auth: table{
		"enable_auth": "Clients always need the URL of a session, which your server creates.", "require_origin_header": anew,
		"shareable_token": anew,
	},
}

// elevenToolNotes are sentences for what all kinds of tools of ElevenLabs have.
var elevenToolNotes = table{
	"disable_interruptions": "Speech does not cancel a call that has effects.",
	"interruption_mode":     "Speech does not cancel a call that has effects.", "force_pre_tool_speech": noToolSpeak,
	"pre_tool_speech": noToolSpeak, "tool_call_sound": noSound, "tool_call_sound_behavior": noSound, "tool_error_handling_mode": noErrors,
	"dynamic_variables": "Values for trying a tool are given when it is tried (parlance tools run).", "execution_mode": noAsync,
	"follow_redirects": "Redirects are not followed.", "follow_redirects_allowed_domains": "Redirects are not followed.",
	"response_mocks": noTest, "assignments": "Values are kept of the answers of HTTP tools only.",
}

// joined joins two tables.
func joined(one, other table) table {
	all := table{}
	for _, part := range []table{one, other} {
		for path, why := range part {
			all[path] = why
		}
	}
	return all
}
