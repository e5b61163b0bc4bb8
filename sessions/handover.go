package sessions

import "time"

// HandoverStatus says how far a conversation is handed over to a person.
type HandoverStatus string

// The statuses. NoHandover is the agent's ordinary conversation.
const (
	NoHandover        HandoverStatus = ""
	HandoverRequested HandoverStatus = "requested" // a person was asked to take over
	HandoverOperator  HandoverStatus = "operator"  // a person has the conversation
)

// Handover is the state of a session that is handed over to a person; see package
// sessions/handover.
type Handover struct {
	Status HandoverStatus `bun:"status"`
	// Reason and Summary are in the form in which the session stores content. Reason is empty when
	// nobody asked.
	Reason  string `bun:"reason"`
	Summary string `bun:"summary"`
	// Destination is the name of one of the agent's destinations.
	Destination string    `bun:"destination"`
	RequestedAt time.Time `bun:"requested_at,nullzero"`
	// Operator is the name of the person who has the conversation.
	Operator string    `bun:"operator"`
	TakenAt  time.Time `bun:"taken_at,nullzero"`
}

// WithOperator reports whether a person has the conversation, so that the model is not asked.
func (h Handover) WithOperator() bool { return h.Status == HandoverOperator }

// SameAs reports whether two states are the same step of the same handover.
func (h Handover) SameAs(other Handover) bool {
	return h.Status == other.Status && h.Operator == other.Operator && h.RequestedAt.Equal(other.RequestedAt) &&
		h.TakenAt.Equal(other.TakenAt)
}
