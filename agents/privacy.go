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
	// ZeroRetention says that what is said is stored sealed until it is delivered, and then deleted.
	ZeroRetention bool `json:"zero_retention,omitempty"`
	// Retention is in place of the workspace's. What the latest version says applies to all sessions.
	Retention workspaces.Retention `json:"retention,omitzero"`
}

// IsZero reports whether conversations are stored as they are said, and kept as the workspace says.
func (p Privacy) IsZero() bool {
	return len(p.Redact) == 0 && !p.ZeroRetention && p.Retention == workspaces.Retention{}
}

// checkZeroRetention refuses what needs content that is not kept.
func (c Config) checkZeroRetention(add func(field, code, message string)) {
	if !c.Privacy.ZeroRetention {
		return
	}
	if c.Memory.Enabled {
		add("memory.enabled", "zero_retention", "An agent with privacy.zero_retention keeps nothing of its users. Turn one of the two off.")
	}
	if c.Analysis.Enabled {
		add("analysis.enabled", "zero_retention",
			"The conversations of an agent with privacy.zero_retention are not kept for an analysis. Turn one of the two off.")
	}
}

// Redactor returns what replaces personal data in what is stored of a conversation, or leaves
// nothing of what is said when that is not stored. spoken is the
// language of the conversation, for an agent that has none.
func (c Config) Redactor(spoken string) pii.Redactor {
	if c.Privacy.ZeroRetention {
		return pii.WithholdAll()
	}
	return c.ContentRedactor(spoken)
}

// ContentRedactor is Redactor for content that is stored sealed until it is delivered.
func (c Config) ContentRedactor(spoken string) pii.Redactor {
	if len(c.Privacy.Redact) == 0 {
		return pii.Redactor{}
	}
	kinds := make([]pii.Kind, len(c.Privacy.Redact))
	for i, kind := range c.Privacy.Redact {
		kinds[i] = pii.Kind(kind)
	}
	return pii.New(kinds, cmp.Or(c.Language, spoken))
}
