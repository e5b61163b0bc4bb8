package agents

import (
	"cmp"

	"parlance.dev/parlance/platform/pii"
	"parlance.dev/parlance/workspaces"
)

// Privacy says what is stored of an agent's conversations.
type Privacy struct {
	// Redact are kinds of package pii that are replaced before anything is stored.
	Redact []string `json:"redact,omitempty"`
	// Retention is in place of the workspace's. What the latest version says applies to all sessions.
	Retention workspaces.Retention `json:"retention,omitzero"`
}

// IsZero reports whether conversations are stored as they are said, and kept as the workspace says.
func (p Privacy) IsZero() bool { return len(p.Redact) == 0 && p.Retention == workspaces.Retention{} }

// Redactor returns what replaces personal data in what is stored of a conversation. spoken is the
// language of the conversation, for an agent that has none.
func (c Config) Redactor(spoken string) pii.Redactor {
	if len(c.Privacy.Redact) == 0 {
		return pii.Redactor{}
	}
	kinds := make([]pii.Kind, len(c.Privacy.Redact))
	for i, kind := range c.Privacy.Redact {
		kinds[i] = pii.Kind(kind)
	}
	return pii.New(kinds, cmp.Or(c.Language, spoken))
}
