package events

import parlancev1 "parlance.dev/parlance/gen/parlance/v1"

// Nouns, which do not import the generated package, append these payloads.
type (
	// PostCallTranscriptionData is the payload of post_call_transcription.
	PostCallTranscriptionData = parlancev1.PostCallTranscription
	// KBSourceIngestedData is the payload of kb.source_ingested.
	KBSourceIngestedData = parlancev1.KbSourceIngested
	// TurnPersistenceFailedData is the payload of turn.persistence_failed.
	TurnPersistenceFailedData = parlancev1.TurnPersistenceFailed
	// WebhookDisabledData is the payload of webhook.disabled.
	WebhookDisabledData = parlancev1.WebhookDisabled
)
