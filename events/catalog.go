package events

import (
	"slices"

	"google.golang.org/protobuf/proto"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// Type names an event, e.g. "kb.source_ingested".
type Type string

// The public events. Source: interface, Events.
const (
	PostCallTranscription Type = "post_call_transcription"
	EscalationTriggered   Type = "escalation.triggered"
	DSARReady             Type = "dsar.ready"
	FatigueAlert          Type = "fatigue.alert"
	UsageThreshold        Type = "usage.threshold"
	SubscriptionChanged   Type = "subscription.changed"
	InvoicePaid           Type = "invoice.paid"
	InvoiceFailed         Type = "invoice.failed"
	KBSourceIngested      Type = "kb.source_ingested"
	TurnPersistenceFailed Type = "turn.persistence_failed"
	WebhookDisabled       Type = "webhook.disabled"
)

// The internal events: each becomes a task for its subject, or wakes a dispatcher.
const (
	// SourceQueued: a source (subject) waits for ingestion.
	SourceQueued Type = "_source.queued"
	// BlobOrphaned: the blob with this key (subject) may have lost its last source.
	BlobOrphaned Type = "_blob.orphaned"
	// AnalysisWanted: a session (subject) that is over waits to be analysed.
	AnalysisWanted Type = "_session.analysis_wanted"
	// PrivacyRequested: a request for an export or an erasure (subject) waits for a worker.
	PrivacyRequested Type = "_privacy.requested"
	// HandoverRequested: a person was asked to take a session (subject) over.
	HandoverRequested Type = "_session.handover_requested"
)

// public maps each public event to its payload message.
var public = map[Type]proto.Message{
	PostCallTranscription: (*parlancev1.PostCallTranscription)(nil),
	EscalationTriggered:   (*parlancev1.EscalationTriggered)(nil),
	DSARReady:             (*parlancev1.DsarReady)(nil),
	FatigueAlert:          (*parlancev1.FatigueAlert)(nil),
	UsageThreshold:        (*parlancev1.UsageThresholdCrossed)(nil),
	SubscriptionChanged:   (*parlancev1.SubscriptionChanged)(nil),
	InvoicePaid:           (*parlancev1.InvoicePaid)(nil),
	InvoiceFailed:         (*parlancev1.InvoiceFailed)(nil),
	KBSourceIngested:      (*parlancev1.KbSourceIngested)(nil),
	TurnPersistenceFailed: (*parlancev1.TurnPersistenceFailed)(nil),
	WebhookDisabled:       (*parlancev1.WebhookDisabled)(nil),
}

// Public says whether endpoints can subscribe to the event.
func (t Type) Public() bool {
	_, ok := public[t]
	return ok
}

// TenantWide says whether the event is about a tenant rather than one of its workspaces; it
// goes to all of them. Source: decisions, Webhooks.
func (t Type) TenantWide() bool {
	return t == UsageThreshold || t == SubscriptionChanged || t == InvoicePaid || t == InvoiceFailed
}

// PublicTypes lists the public events in alphabetical order.
func PublicTypes() []Type {
	types := make([]Type, 0, len(public))
	for t := range public {
		types = append(types, t)
	}
	slices.Sort(types)
	return types
}

// NewPayload returns an empty payload message of a public event; nil for other types.
func NewPayload(t Type) proto.Message {
	message, ok := public[t]
	if !ok {
		return nil
	}
	return message.ProtoReflect().New().Interface()
}
