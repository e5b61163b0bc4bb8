package sessions

import (
	"slices"

	"parlance.dev/parlance/platform/pii"
)

// Redactor returns what replaces personal data in what is stored of the session.
func (s Session) Redactor() pii.Redactor { return s.Config.Redactor(s.Language) }

// ContentRedactor returns what replaces personal data in content, also in what is sealed.
func (s Session) ContentRedactor() pii.Redactor { return s.Config.ContentRedactor(s.Language) }

// Redacted returns the message without personal data. Answers of tools may be JSON, and stay JSON.
func (m Message) Redacted(r pii.Redactor) Message {
	if m.Role == RoleTool {
		m.Text = r.Document(m.Text)
	} else {
		m.Text = r.Text(m.Text)
	}
	m.Calls = slices.Clone(m.Calls)
	for i := range m.Calls {
		m.Calls[i].Arguments = r.JSON(m.Calls[i].Arguments)
	}
	if m.Result == nil {
		return m
	}
	result := *m.Result
	result.ErrorMessage = r.Text(result.ErrorMessage)
	if result.Approval != nil {
		approval := *result.Approval
		approval.Reason = r.Text(approval.Reason)
		result.Approval = &approval
	}
	m.Result = &result
	return m
}

// RedactedMessages returns the messages without personal data.
func RedactedMessages(r pii.Redactor, messages []Message) []Message {
	if !r.Redacts() {
		return messages
	}
	clean := make([]Message, len(messages))
	for i, m := range messages {
		clean[i] = m.Redacted(r)
	}
	return clean
}

// Redacted returns the turn without personal data.
func (t Turn) Redacted(r pii.Redactor) Turn {
	if !r.Redacts() {
		return t
	}
	t.UserText, t.AgentText, t.ErrorMessage = r.Text(t.UserText), r.Text(t.AgentText), r.Text(t.ErrorMessage)
	t.Messages = RedactedMessages(r, t.Messages)
	return t
}
