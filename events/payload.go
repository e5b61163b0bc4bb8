package events

import parlancev1 "parlance.dev/parlance/gen/parlance/v1"

// The payload messages of the events that nouns append. Nouns do not import the generated package.
type (
	PostCallTranscriptionData = parlancev1.PostCallTranscription
	KBSourceIngestedData      = parlancev1.KbSourceIngested
	TurnPersistenceFailedData = parlancev1.TurnPersistenceFailed
	WebhookDisabledData       = parlancev1.WebhookDisabled
)
