package sessions

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/platform/pii"
	"parlance.dev/parlance/platform/seal"
)

// Content is what is said in a session: texts, arguments and answers of tools, variables. Its agent
// decides in which form it is stored (agents.Privacy):
//
//	as it was said          as it was said
//	redact                  without personal data, see redaction.go
//	zero_retention          "[withheld]", with the content sealed beside it until it is deleted; with
//	                        redact as well, without personal data
//
// A sealed message keeps its role, ids, times and outcomes. Who reads turns from Postgres sees
// "[withheld]"; who needs the content, for the running conversation and for the event of its end,
// opens it with OpenTurns. Package privacy deletes what is sealed.

// KeepsNothing reports whether the session's content is stored sealed only, and deleted.
func (s Session) KeepsNothing() bool { return s.Config.Privacy.ZeroRetention }

// ContentBinding binds sealed content to its session.
func ContentBinding(session Session) seal.Binding {
	return seal.Binding{TenantID: string(session.TenantID), Record: string(session.ID), Field: "content"}
}

// said is the content of a message.
type said struct {
	Text string `json:"text,omitempty"`
	// Arguments are those of the calls, in order.
	Arguments []json.RawMessage `json:"arguments,omitempty"`
	// Names are those of calls that a client put in.
	Names []string `json:"names,omitempty"`
	// ErrorMessage and Reason are the result's.
	ErrorMessage string `json:"error_message,omitempty"`
	Reason       string `json:"reason,omitempty"`
}

// contentOf returns the content of a message.
func contentOf(m Message) said {
	content := said{Text: m.Text}
	for _, call := range m.Calls {
		content.Arguments = append(content.Arguments, call.Arguments)
		if m.Inserted {
			content.Names = append(content.Names, call.Name)
		}
	}
	if m.Result != nil {
		content.ErrorMessage = m.Result.ErrorMessage
		if m.Result.Approval != nil {
			content.Reason = m.Result.Approval.Reason
		}
	}
	return content
}

// isEmpty reports whether there is nothing to seal.
func (c said) isEmpty() bool {
	return c.Text == "" && len(c.Arguments) == 0 && c.ErrorMessage == "" && c.Reason == ""
}

// restore returns the message with its content.
func (c said) restore(m Message) Message {
	m.Text, m.Calls, m.Sealed = c.Text, slices.Clone(m.Calls), nil
	for i := range min(len(m.Calls), len(c.Arguments)) {
		m.Calls[i].Arguments = c.Arguments[i]
		if i < len(c.Names) {
			m.Calls[i].Name = c.Names[i]
		}
	}
	if m.Result == nil {
		return m
	}
	result := *m.Result
	result.ErrorMessage = c.ErrorMessage
	if result.Approval != nil {
		approval := *result.Approval
		approval.Reason = c.Reason
		result.Approval = &approval
	}
	m.Result = &result
	return m
}

// StoredMessages returns messages in the form in which the session stores them.
func (s *Service) StoredMessages(ctx context.Context, session Session, messages []Message) ([]Message, error) {
	stored := RedactedMessages(session.Redactor(), messages)
	if !session.KeepsNothing() {
		return stored, nil
	}
	for i, m := range messages {
		content := contentOf(m.Redacted(session.ContentRedactor()))
		if m.Sealed != nil || content.isEmpty() {
			stored[i].Sealed = m.Sealed
			continue
		}
		for j := range content.Names {
			stored[i].Calls[j].Name = pii.Withheld
		}
		encoded, err := json.Marshal(content)
		if err != nil {
			return nil, fmt.Errorf("encoding a message's content: %w", err)
		}
		if stored[i].Sealed, err = s.seal.Seal(ctx, encoded, ContentBinding(session)); err != nil {
			return nil, fmt.Errorf("sealing a message's content: %w", err)
		}
	}
	return stored, nil
}

// StoredTurn returns a turn in the form in which the session stores it.
func (s *Service) StoredTurn(ctx context.Context, session Session, turn Turn) (Turn, error) {
	stored := turn.Redacted(session.Redactor())
	var err error
	stored.Messages, err = s.StoredMessages(ctx, session, turn.Messages)
	return stored, err
}

// OpenTurns returns turns that were read from Postgres with the content that is sealed in them.
// Content that was deleted stays withheld. Of the session its tenant and id are used.
func (s *Service) OpenTurns(ctx context.Context, session Session, turns []Turn) ([]Turn, error) {
	opened := turns
	for i, turn := range turns {
		if !turn.isSealed() {
			continue
		}
		messages := slices.Clone(turn.Messages)
		for j, m := range messages {
			if m.Sealed == nil {
				continue
			}
			content, err := s.openMessage(ctx, session, m)
			if err != nil {
				return nil, err
			}
			messages[j] = content.restore(m)
		}
		turn.Messages, turn.UserText = messages, UserText(messages)
		if turn.Status != TurnInProgress {
			turn.AgentText = AgentText(messages)
		}
		if &opened[0] == &turns[0] {
			opened = slices.Clone(turns)
		}
		opened[i] = turn
	}
	return opened, nil
}

// isSealed reports whether there is sealed content in the turn.
func (t Turn) isSealed() bool {
	return slices.ContainsFunc(t.Messages, func(m Message) bool { return m.Sealed != nil })
}

// OpenTurn is OpenTurns for one turn.
func (s *Service) OpenTurn(ctx context.Context, session Session, turn Turn) (Turn, error) {
	opened, err := s.OpenTurns(ctx, session, []Turn{turn})
	if err != nil {
		return Turn{}, err
	}
	return opened[0], nil
}

func (s *Service) openMessage(ctx context.Context, session Session, m Message) (content said, err error) {
	encoded, err := s.seal.Open(ctx, m.Sealed, ContentBinding(session))
	if err != nil {
		return said{}, fmt.Errorf("opening a message's content: %w", err)
	}
	if err := json.Unmarshal(encoded, &content); err != nil {
		return said{}, fmt.Errorf("decoding a message's content: %w", err)
	}
	return content, nil
}

// StoredText returns a text in the form in which a session that keeps nothing stores it.
func (s *Service) StoredText(ctx context.Context, session Session, text string) (string, error) {
	sealed, err := s.seal.Seal(ctx, []byte(text), ContentBinding(session))
	if err != nil {
		return "", fmt.Errorf("sealing a text: %w", err)
	}
	return sealedPrefix + base64.RawStdEncoding.EncodeToString(sealed), nil
}

// OpenText is the reverse of StoredText. A text that is not sealed stays as it is.
func (s *Service) OpenText(ctx context.Context, session Session, text string) (string, error) {
	encoded, is := strings.CutPrefix(text, sealedPrefix)
	sealed, err := base64.RawStdEncoding.DecodeString(encoded)
	if !is || err != nil {
		return text, nil //nolint:nilerr // it only looks like a sealed one
	}
	plain, err := s.seal.Open(ctx, sealed, ContentBinding(session))
	if err != nil {
		return "", fmt.Errorf("opening a text: %w", err)
	}
	return string(plain), nil
}

// sealedPrefix precedes a sealed text, in base64.
const sealedPrefix = "sealed:"

// StoredVariables returns variables in the form in which the session stores them.
func (s *Service) StoredVariables(ctx context.Context, session Session, values map[string]string) (map[string]string, error) {
	if !session.KeepsNothing() || len(values) == 0 {
		return values, nil
	}
	stored := make(map[string]string, len(values))
	for name, value := range values {
		text, err := s.StoredText(ctx, session, value)
		if err != nil {
			return nil, err
		}
		stored[name] = text
	}
	return stored, nil
}

// OpenVariables returns variables that were read from Postgres with their values. Of a session that
// seals them, values that were set since are as they were set.
func (s *Service) OpenVariables(ctx context.Context, session Session, values map[string]string) (map[string]string, error) {
	if !session.KeepsNothing() || len(values) == 0 {
		return values, nil
	}
	opened := maps.Clone(values)
	for name, value := range values {
		text, err := s.OpenText(ctx, session, value)
		if err != nil {
			return nil, err
		}
		opened[name] = text
	}
	return opened, nil
}

// PublicVariables returns the session's variables and those that the service sets, without secrets.
// The caller's and the called number exist on telephone calls only.
func (s *Service) PublicVariables(ctx context.Context, session Session) (map[string]string, error) {
	values := map[string]string{}
	for _, own := range []map[string]string{session.DynamicVariables, session.AssignedVariables} {
		opened, err := s.OpenVariables(ctx, session, own)
		if err != nil {
			return nil, err
		}
		maps.Copy(values, opened)
	}
	maps.Copy(values, map[string]string{
		"system__session_id":      string(session.ID),
		"system__conversation_id": string(session.ID),
		"system__agent_id":        string(session.AgentID),
		"system__user_id":         session.UserID,
		"system__time_utc":        s.Now().Format(time.RFC3339),
		"system__timezone":        "UTC",
		"system__language":        session.Language,
	})
	return values, nil
}

// ShownVariables returns variables of the session as callers see them: without values when those
// are not kept.
func (s Session) ShownVariables(values map[string]string) map[string]string {
	if !s.KeepsNothing() {
		return values
	}
	shown := make(map[string]string, len(values))
	for name := range values {
		shown[name] = pii.Withheld
	}
	return shown
}
