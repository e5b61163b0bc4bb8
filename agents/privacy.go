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

// checkRecording refuses to keep the sound of what is not stored as text.
func (c Config) checkRecording(add func(field, code, message string)) {
	switch {
	case !c.Voice.Recording.Enabled:
	case c.Privacy.ZeroRetention:
		add("voice.recording.enabled", "zero_retention",
			"An agent with privacy.zero_retention keeps nothing of its users. Turn one of the two off.")
	case len(c.Privacy.Redact) > 0:
		add("voice.recording.enabled", "redact",
			"A recording has what privacy.redact keeps out of the transcript. Turn one of the two off.")
	}
}

// Records reports whether the sound of voice sessions is kept.
func (c Config) Records() bool {
	return c.Voice.Recording.Enabled && !c.Privacy.ZeroRetention && len(c.Privacy.Redact) == 0
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
