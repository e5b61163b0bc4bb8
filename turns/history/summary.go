package history

import (
	"strings"

	"parlance.dev/parlance/guards"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
)

const (
	// summaryTokens bounds a summary, summaryOutputChars what it is given of a tool's result.
	summaryTokens      = 600
	summaryOutputChars = 600
)

const summaryInstructions = "You keep the notes of a conversation between a user and an agent, " +
	"so that the agent can go on when it does not see the conversation any more. " +
	"Write what happened so far in at most 200 words, in the conversation's language: " +
	"what is known of the user, what was asked and answered, what was decided, what tools were called with which result, " +
	"what is open. Keep names, numbers, dates and ids exactly. Write the notes only. " + guards.FenceRule

// SummaryRequest asks a model for the next summary: of the last one, which may be empty, and of
// turns that followed it.
func SummaryRequest(fence guards.Fence, session sessions.Session, last string, turns []sessions.Turn) model.Request {
	var b strings.Builder
	if last != "" {
		b.WriteString("Notes so far:\n" + last + "\n\nWhat followed:\n")
	}
	var said []sessions.Message
	for _, turn := range turns {
		said = append(said, turn.Messages...)
	}
	names := map[string]string{}
	for _, m := range sessions.ArrangeMessages(said, session.ItemEdits) {
		for _, call := range m.Calls {
			names[call.ID] = call.Name
		}
		switch {
		case m.Role == sessions.RoleUser && m.Text != "":
			b.WriteString("The user said: " + m.ModelText() + "\n")
		case m.Role == sessions.RoleAssistant && m.Text != "":
			b.WriteString("The agent said: " + m.Text + "\n")
		case m.Role == sessions.RoleOperator && m.Note:
			b.WriteString("The operator " + sessions.OneLine(m.Operator) + " noted: " + m.Text + "\n")
		case m.Role == sessions.RoleOperator && m.Text != "":
			b.WriteString("The operator " + sessions.OneLine(m.Operator) + " said: " + m.Text + "\n")
		case m.Role == sessions.RoleTool:
			output := []rune(m.Text)
			b.WriteString("The tool " + names[m.CallID] + " answered: " + string(output[:min(len(output), summaryOutputChars)]) + "\n")
		}
		for _, call := range m.Calls {
			b.WriteString("The agent called " + call.Name + " with " + string(call.Arguments) + "\n")
		}
	}
	text := fence.Wrap(`kind="conversation"`, b.String())
	return model.Request{
		Model: session.Config.Model.Name, System: summaryInstructions, MaxOutputTokens: summaryTokens,
		Messages: []model.Message{{Role: model.RoleUser, Text: text + "\n\nWrite the notes now."}},
		Metadata: map[string]string{"session_id": string(session.ID), "purpose": "summary"},
	}
}
