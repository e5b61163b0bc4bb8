package events

import parlancev1 "parlance.dev/parlance/gen/parlance/v1"

// Nouns, which do not import the generated package, append these payloads.
type (
	// PostCallTranscriptionData is the payload of post_call_transcription.
	PostCallTranscriptionData = parlancev1.PostCallTranscription
	// CallMetadata is about the call as a whole.
	CallMetadata = parlancev1.CallMetadata
	// CallFeedback counts the user's likes and dislikes.
	CallFeedback = parlancev1.CallFeedback
	// CallAnalysis is what a model made of the call.
	CallAnalysis = parlancev1.CallAnalysis
	// CallMemory is what the session added to and deleted from the user's memory.
	CallMemory = parlancev1.CallMemory
	// LearntMemory is one memory of a session.
	LearntMemory = parlancev1.LearntMemory
	// ConversationInitiation is what the session was created with.
	ConversationInitiation = parlancev1.ConversationInitiation
	// TranscriptEntry is one utterance.
	TranscriptEntry = parlancev1.TranscriptEntry
	// EntryFeedback is what the user thought of one answer.
	EntryFeedback = parlancev1.EntryFeedback
	// TranscriptToolCall is a call that the model made.
	TranscriptToolCall = parlancev1.TranscriptToolCall
	// TranscriptToolResult is what a call answered.
	TranscriptToolResult = parlancev1.TranscriptToolResult
	// ElapsedTime is a duration.
	ElapsedTime = parlancev1.ElapsedTime
	// KBSourceIngestedData is the payload of kb.source_ingested.
	KBSourceIngestedData = parlancev1.KbSourceIngested
	// EscalationTriggeredData is the payload of escalation.triggered.
	EscalationTriggeredData = parlancev1.EscalationTriggered
	// FatigueAlertData is the payload of fatigue.alert.
	FatigueAlertData = parlancev1.FatigueAlert
	// UsageThresholdData is the payload of usage.threshold.
	UsageThresholdData = parlancev1.UsageThresholdCrossed
	// DSARReadyData is the payload of dsar.ready.
	DSARReadyData = parlancev1.DsarReady
	// TurnPersistenceFailedData is the payload of turn.persistence_failed.
	TurnPersistenceFailedData = parlancev1.TurnPersistenceFailed
	// SubscriptionChangedData is the payload of subscription.changed.
	SubscriptionChangedData = parlancev1.SubscriptionChanged
	// InvoicePaidData is the payload of invoice.paid.
	InvoicePaidData = parlancev1.InvoicePaid
	// InvoiceFailedData is the payload of invoice.failed.
	InvoiceFailedData = parlancev1.InvoiceFailed
	// WebhookDisabledData is the payload of webhook.disabled.
	WebhookDisabledData = parlancev1.WebhookDisabled
)
