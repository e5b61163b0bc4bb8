package events

import parlancev1 "parlance.dev/parlance/gen/parlance/v1"

// The payload messages of the public events under names that nouns may use: the generated
// package itself is met at the edges only.
type (
	PostCallTranscriptionData = parlancev1.PostCallTranscription
	EscalationTriggeredData   = parlancev1.EscalationTriggered
	DSARReadyData             = parlancev1.DsarReady
	FatigueAlertData          = parlancev1.FatigueAlert
	UsageThresholdData        = parlancev1.UsageThresholdCrossed
	SubscriptionChangedData   = parlancev1.SubscriptionChanged
	InvoicePaidData           = parlancev1.InvoicePaid
	InvoiceFailedData         = parlancev1.InvoiceFailed
	KBSourceIngestedData      = parlancev1.KbSourceIngested
	TurnPersistenceFailedData = parlancev1.TurnPersistenceFailed
	WebhookDisabledData       = parlancev1.WebhookDisabled
)
