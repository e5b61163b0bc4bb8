package turns

import (
	"errors"
	"slices"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
)

// ErrNoTool is the cause of Failed when a ToolChoice names a tool that is not offered.
var ErrNoTool = errors.New("no tool of that name is offered")

// ToolChoice says whether an answer may or must call tools: ToolsAuto, ToolsNone, ToolsRequired, or
// the name of the tool to call. Empty keeps the current choice. The name of a tool that is not
// offered is refused; if the tool is gone when the answer begins, the choice is ToolsAuto. It
// applies to the first request of an answer: after results the model is free.
type ToolChoice string

// The choices that are not the name of a tool.
const (
	ToolsAuto     ToolChoice = ":auto"
	ToolsNone     ToolChoice = ":none"
	ToolsRequired ToolChoice = ":required"
)

// UnlimitedTokens is a MaxOutputTokens that sets no bound of the client.
const UnlimitedTokens = -1

// Options are what a socket asks of an answer.
type Options struct {
	Instructions    *string
	ClientTools     []model.Tool
	ToolChoice      ToolChoice
	MaxOutputTokens int
	// Input are the messages that the model sees in place of the conversation; nil: it sees the
	// conversation.
	Input []sessions.Message
	// Spoken says that the answer will be spoken: its messages are recorded as speech.
	Spoken bool
	// Heard is the speech that is answered; nil: it was written.
	Heard *Heard
}

// newMessage is an empty message of the agent.
func (o Options) newMessage() sessions.Message {
	said := sessions.Message{Role: sessions.RoleAssistant, ItemID: idgen.New(idgen.Item)}
	if o.Spoken {
		said.Audio = &sessions.Audio{Transcribed: true}
	}
	return said
}

// KnownTools are the tools of a client that can be offered.
func KnownTools(wanted []model.Tool) []model.Tool {
	var known []model.Tool
	for _, tool := range wanted[:min(len(wanted), MaxClientTools)] {
		if tool.Name != "" && sessions.IsStorable(tool.Name) {
			known = append(known, tool)
		}
	}
	return known
}

// AgentOf is the session's agent as the session runs it.
func AgentOf(session sessions.Session) agents.Agent {
	return agents.Agent{
		ID: session.AgentID, TenantID: session.TenantID, WorkspaceID: session.WorkspaceID,
		Version: session.ConfigVersion(), Config: session.Config,
	}
}

// ToolNotOffered refuses a choice of a tool that is not offered.
func ToolNotOffered(choice ToolChoice) *fault.Error {
	return fault.Wrap(ErrNoTool, fault.InvalidRequest, "tool_choice names %q, and no tool of that name is offered.", string(choice))
}

// lowerBound is the smaller of two bounds. A bound of 0 or less is none.
func lowerBound(a, b int) int {
	switch {
	case a <= 0:
		return max(0, b)
	case b <= 0:
		return a
	}
	return min(a, b)
}

// apply applies the options to a request. first says that it is the answer's first.
func (o Options) apply(req *model.Request, first bool) {
	req.MaxOutputTokens = lowerBound(req.MaxOutputTokens, o.MaxOutputTokens)
	switch o.ToolChoice {
	case "", ToolsAuto:
	case ToolsNone:
		req.Tools = nil
	case ToolsRequired:
		if first && len(req.Tools) > 0 {
			req.ToolChoice = model.ChooseRequired
		}
	default:
		named := string(o.ToolChoice)
		if first && slices.ContainsFunc(req.Tools, func(t model.Tool) bool { return t.Name == named }) {
			req.ToolChoice = model.ToolChoice(named)
		}
	}
}
