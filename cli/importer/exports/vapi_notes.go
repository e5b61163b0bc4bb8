package exports

// Sentences that several members of exports share.
const (
	noMessages   = "What is said while a tool runs is voice.waiting of the agent, the same for all tools."
	noPlan       = "No delays are set: words, silences and a model decide, as turn_detection of the agent's voice says (docs/voice.md)."
	noHooks      = "There are no hooks: webhooks tell of what happened, and the prompt says what to do."
	noTranscribe = "The transcriber is asked as its provider is by default."
	noSpeech     = "Speech is made as the voice's provider makes it."
	otherVoice   = "The installation names a second synthesizer: PARLANCE_TTS_FALLBACK_* (docs/models.md)."
	otherEar     = "The installation names a second transcriber: PARLANCE_STT_FALLBACK_* (docs/models.md)."
	noPrompts    = "Analyses have prompts of their own: write criteria, and describe each value."
	noNested     = "Lists and objects are not read out: make a value of each of their members."
	noLimits     = "Values have a type and a description: write it into the description."
	noArtifacts  = "Recordings and transcripts are read over the API (docs/recordings.md, docs/sessions.md)."
	noServer     = "Requests come from the installation's own addresses."
)

// vapiNotes are sentences for members of Vapi's exports without counterpart.
var vapiNotes = struct {
	ids, assistant, model, voice, transcriber, analysis, summary, schema, property, artifacts, compliance, server, backoff, tool, function,
	builtIn, extraction, metadata, destination, transferPlan, knowledge, squad, member, file table
}{
	ids: table{
		"id": anew, "orgId": anew, "createdAt": anew, "updatedAt": anew, "latestVersion": anew, "isServerUrlSecretSet": anew,
		"parentId": anew,
	},
	assistant: table{ //nolint:gosec // sentences about secrets
		"clientMessages":  "Which events a client gets, it says when it connects (docs/realtime.md).",
		"serverMessages":  "Which events an endpoint gets is a setting of the endpoint (docs/webhooks.md).",
		"serverUrlSecret": "Webhooks are signed with a secret of their own.", "serverUrl": noServer,
		"backgroundSound": noSound, "modelOutputInMessagesEnabled": anew,
		"transportConfigurations": "Telephone calls are set up by the installation (docs/telephony.md).",
		"observabilityPlan":       "Traces and metrics are the installation's (docs/observability.md).",
		"credentials":             "Secrets are not brought over: credentials belong to the workspace (docs/models.md), headers to tools.",
		"credentialIds":           "Secrets are not brought over: credentials belong to the workspace (docs/models.md), headers to tools.",
		"hooks":                   noHooks, "endCallMessage": "The model says goodbye in its own words: write them into instructions.",
		"endCallPhrases":         "The model ends a conversation by the tool end_call, not by phrases.",
		"endCallFunctionEnabled": anew, "dialKeypadFunctionEnabled": anew,
		"metadata":                      "Agents have no metadata: keep it beside the agent's id.",
		"backgroundSpeechDenoisingPlan": "Noise is told from speech by a neural network, without settings (docs/voice.md).",
		"startSpeakingPlan":             noPlan,
		"stopSpeakingPlan":              "Words that interrupt and words that do not are built in, for each language (docs/voice.md).",
		"monitorPlan":                   "Operators can always follow a session, and take it over by POST /v1/sessions/{session_id}/take-over.",
		"keypadInputPlan":               "Keys are collected until #, or for 1.5 s after the last one.",
		"voicemailDetection":            "Answering machines are told by the carrier, in calls that the agent makes.",
		"silenceTimeoutSeconds":         anew, "responseDelaySeconds": noPlan, "llmRequestDelaySeconds": noPlan,
		"numWordsToInterruptAssistant": noPlan,
	},
	model: table{
		"knowledgeBase": "Knowledge is searched here, and not at an endpoint of yours: add its documents with " +
			"parlance kb add.",
		"knowledgeBaseId": "Knowledge is searched here, and not at an endpoint of yours: add its documents with " +
			"parlance kb add.",
		"toolStrictCompatibilityMode": anew, "promptCacheRetention": anew, "promptCacheKey": anew, "reasoningEffort": noReason,
		"thinking":                  noReason,
		"emotionRecognitionEnabled": "Emotions are not recognised.", "numFastTurns": "All turns are answered by the same model.",
		"url": noModel, "headers": noModel, "timeoutSeconds": noModel, "metadataSendMode": noModel, "wordLevelConfidenceEnabled": noModel,
		"inferenceConfig": noModel, "fallbackModels": noModel,
	},
	voice: table{
		"cachingEnabled": anew, "chunkPlan": noSpeech, "fallbackPlan": otherVoice,
		"style": noSpeech, "useSpeakerBoost": noSpeech, "optimizeStreamingLatency": noSpeech, "enableSsmlParsing": noSpeech,
		"autoMode":                        noSpeech,
		"pronunciationDictionaryLocators": "There are no dictionaries of pronunciation.", "fillerInjectionEnabled": noSpeech,
		"speed":                   noSpeech,
		"pronunciationDictionary": "There are no dictionaries of pronunciation.", "version": noSpeech, "experimentalControls": noSpeech,
		"generationConfig": noSpeech, "language": noSpeech, "pronunciationDictId": "There are no dictionaries of pronunciation.",
		"inputMinCharacters": noSpeech, "inputPunctuationBoundaries": noSpeech, "emotion": noSpeech, "temperature": noSpeech,
	},
	transcriber: table{
		"smartFormat": noTranscribe, "mipOptOut": noTranscribe, "numerals": noTranscribe, "profanityFilter": noTranscribe,
		"redaction":           noTranscribe,
		"confidenceThreshold": noTranscribe, "eotThreshold": noGuess, "eotTimeoutMs": noGuess, "endpointing": noGuess,
		"fallbackPlan": otherEar, "languages": "The agent hears the language of its user, and changes with it.",
		"codeSwitchingEnabled": anew, "enableUniversalStreamingApi": noTranscribe, "wordBoost": noTranscribe, "formatTurns": noTranscribe,
	},
	analysis: table{
		"minMessagesThreshold": "Sessions in which the user said something are analysed.", "structuredDataMultiPlan": noPrompts,
		"outcomeIds":    noPrompts,
		"summaryPrompt": noPrompts, "structuredDataPrompt": noPrompts, "successEvaluationPrompt": noPrompts,
		"successEvaluationRubric": "A criterion is met, or not, or it is unknown.",
	},
	summary: table{
		"enabled": anew, "messages": noPrompts, "timeoutSeconds": "An analysis may take as long as its model may.",
		"rubric": "A criterion is met, or not, or it is unknown.",
	},
	schema: table{
		"type": anew, "required": "A value that was not said is null.", "description": anew, "title": anew, "items": anew,
	},
	property: table{
		"format": noLimits, "pattern": noLimits, "minimum": noLimits, "maximum": noLimits, "minLength": noLimits, "maxLength": noLimits,
		"default": noLimits, "examples": noLimits, "title": anew, "items": noNested, "properties": noNested, "required": noNested,
	},
	artifacts: table{
		"recordingFormat": "Recordings are WAV files (docs/recordings.md).", "recordingUseCustomStorageEnabled": noArtifacts,
		"videoRecordingEnabled": "There is no video.", "fullMessageHistoryEnabled": anew, "pcapEnabled": noArtifacts,
		"pcapS3PathPrefix":            noArtifacts,
		"pcapUseCustomStorageEnabled": noArtifacts, "loggingEnabled": noArtifacts, "loggingUseCustomStorageEnabled": noArtifacts,
		"transcriptPlan": noArtifacts, "recordingPath": noArtifacts, "loggingPath": noArtifacts,
		"structuredOutputIds": "Structured outputs are not in exports: write their values into analysis.data.",
		"structuredOutputs":   "Write the values into analysis.data.",
		"scorecardIds":        "Scorecards are not in exports: write criteria.", "scorecards": "Write them as criteria.",
	},
	compliance: table{
		"pciEnabled":           "Numbers of cards are redacted with privacy.redact.",
		"securityFilterPlan":   "No-go zones look at what users say (docs/guards.md).",
		"recordingConsentPlan": "voice.recording.notice is said before anything else.",
	},
	server: table{ //nolint:gosec // sentences about secrets
		"staticIpAddressesEnabled": noServer, "encryptedPaths": "Arguments are sent as they are: use https.", "credentialId": noServer,
		"timeoutSeconds": "Endpoints have 15 seconds to answer a webhook.",
		"headers":        "Headers of a webhook are given when it is registered.",
		"backoffPlan":    "Webhooks are always sent again until they are accepted.",
		"secret":         "Webhooks are signed with a secret of their own.",
	},
	backoff: table{
		"type": "Attempts follow after 250 ms and 1 s.", "baseDelaySeconds": "Attempts follow after 250 ms and 1 s.",
		"excludedStatusCodes": "retry.statuses names the statuses after which a call is tried again.",
	},
	tool: table{
		"messages": noMessages, "async": noAsync,
		"rejectionPlan":  "No conditions refuse calls. requires_user_intent is near: a call is made only when the user asked for it.",
		"encryptedPaths": "Arguments are sent as they are: use https.", "toolMessages": noMessages, "sipInfoDtmfEnabled": anew,
		"backoffPlan": anew, "server": anew, "metadata": anew, "knowledgeBases": anew, "destinations": anew,
	},
	function: table{"strict": anew},
	builtIn: table{
		"name":        anew,
		"description": "The description of a built-in tool cannot be changed: write into instructions when to use it.",
		"parameters":  anew, "strict": anew,
	},
	extraction: table{"schema": "Values are kept by their place in the answer, not by a schema."},
	metadata:   table{"protocol": anew},
	destination: table{
		"message": "The model says in its own words that it transfers.", "numberE164CheckEnabled": anew,
		"description": "A destination has a name, and nothing beside it: write into instructions when to transfer to it.",
		"extension":   "No keys are pressed after a transfer.",
		"callerId":    "The caller's or the agent's number is shown, as the carrier does it.",
	},
	transferPlan: table{
		"message": "The model says in its own words that it transfers.", "summaryPlan": "With mode warm the person hears a summary first.",
		"timeout": "handover.ring_seconds is how long it rings.", "sipVerb": anew, "holdAudioUrl": noSound,
		"transferCompleteAudioUrl": noSound,
		"twiml":                    "Calls are transferred by the carrier.",
		"fallbackPlan":             "The caller comes back to the agent when nobody answers.",
	},
	knowledge: table{
		"name": anew, "provider": anew, "model": anew,
		"description": "Passages are in the prompt of each turn; the model does not search.",
	},
	squad: table{
		"id": anew, "orgId": anew, "createdAt": anew, "updatedAt": anew, "name": "Squads: agents do not hand conversations to each other.",
		"membersOverrides": "Squads: agents do not hand conversations to each other.",
	},
	member: table{
		"assistantDestinations": "Squads: agents do not hand conversations to each other. Choose the agent when the session is created.",
		"assistantOverrides":    "Give overrides when the session is created.", "assistantVersion": anew,
	},
	file: table{
		"orgId": anew, "createdAt": anew, "updatedAt": anew, "status": anew, "name": anew, "originalName": anew, "bytes": anew,
		"purpose":  anew,
		"mimetype": anew, "key": anew, "path": anew, "bucket": anew, "url": anew, "parsedTextUrl": anew, "parsedTextBytes": anew,
		"metadata": anew,
		"object":   anew,
	},
}
