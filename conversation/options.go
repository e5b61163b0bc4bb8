package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/tools"
)

// ErrNoTool is the cause of Failed when a ToolChoice names a tool that is not offered.
var ErrNoTool = errors.New("no tool of that name is offered")

// ToolChoice says whether an answer may or must call tools: ToolsAuto, ToolsNone, ToolsRequired, or the name of
// the one to call. Empty keeps what is in force. A name that is not offered is refused; one that is not offered any
// more when the answer begins is ToolsAuto. It holds for the first word of an answer: what comes after the results is free.
type ToolChoice string

// The choices that are no tool's name.
const (
	ToolsAuto     ToolChoice = ":auto"
	ToolsNone     ToolChoice = ":none"
	ToolsRequired ToolChoice = ":required"
)

// UnlimitedTokens is a MaxOutputTokens that leaves the answer's length to the agent and the model.
const UnlimitedTokens = -1

// InputItem is an item that an answer is given in place of the conversation.
type InputItem struct {
	// Reference, when set, is an item of the conversation; the rest is empty then.
	Reference string
	Item
}

// plain says that nothing but an answer is asked for.
func (r Respond) plain() bool {
	return r.Instructions == nil && r.ClientTools == nil && r.ToolChoice == "" && r.MaxOutputTokens == 0 && r.Input == nil && !r.OutOfBand
}

// mayBeDouble says that nobody looks for this very answer: another one does as well.
func (r Respond) mayBeDouble() bool { return r.plain() && !r.Awaited }

// options are what a socket asks of an answer.
type options struct {
	instructions    *string
	clientTools     []model.Tool
	toolChoice      ToolChoice
	maxOutputTokens int
	// input is what the model sees in place of the conversation; nil: the conversation.
	input []Message
}

// optionsOf are those of a Respond over those of its socket.
func (e *engine) optionsOf(wanted respond) options {
	live, c := wanted.live, wanted.command
	o := options{
		clientTools: live.clientTools, input: wanted.input,
		toolChoice: cmp.Or(c.ToolChoice, live.toolChoice), maxOutputTokens: cmp.Or(c.MaxOutputTokens, live.maxOutputTokens),
	}
	if c.ClientTools != nil {
		o.clientTools = knownTools(c.ClientTools)
	}
	if c.Instructions != nil && ClientMay(e.session.Config, "instructions") {
		o.instructions = c.Instructions
	}
	return o
}

// knownTools are the tools of a client that can be offered.
func knownTools(wanted []model.Tool) []model.Tool {
	var known []model.Tool
	for _, tool := range wanted[:min(len(wanted), maxClientTools)] {
		if tool.Name != "" && storable(tool.Name) {
			known = append(known, tool)
		}
	}
	return known
}

// offers says whether the tool that a choice names can be called: one of the client's, or of the agent's. What cannot be
// found out now is taken for yes.
func (e *engine) offers(choice ToolChoice, own []model.Tool, aside bool) bool {
	switch choice {
	case "", ToolsAuto, ToolsNone, ToolsRequired:
		return true
	}
	name := string(choice)
	if slices.ContainsFunc(own, func(t model.Tool) bool { return t.Name == name }) {
		return true
	}
	if aside {
		return false
	}
	registry, known := e.ownTools()
	entry, there := registry.Find(name) // one that is on, if any is
	return !known || there && entry.Enabled
}

// ownTools are the agent's; false: that cannot be found out now.
func (e *engine) ownTools() (tools.Registry, bool) {
	if e.s.tools == nil {
		return tools.Registry{}, true
	}
	ctx, cancel := context.WithTimeout(e.s.live, writeTimeout)
	defer cancel()
	var registry tools.Registry
	err := e.s.attached(ctx, e.id, func(ctx context.Context) error {
		values, err := e.s.variables(ctx, e.session)
		if err == nil {
			registry, err = e.s.tools.ComposeSession(ctx, e.session.Ref(), agentOf(e.session), string(e.id), values, nil)
		}
		return err
	})
	return registry, err == nil
}

// offerable are the tools of a client that are offered: an agent's own of the same name comes first.
func (e *engine) offerable(wanted []model.Tool) (offered []model.Tool, refused []fault.Field) {
	if len(wanted) == 0 {
		return nil, nil
	}
	registry, _ := e.ownTools()
	for _, tool := range knownTools(wanted) {
		if _, taken := registry.Find(tool.Name); taken {
			refused = append(refused, fault.Field{Field: FieldTools, Code: "taken", Message: fmt.Sprintf("The agent has a tool %q of its own: yours was left out.", tool.Name)})
			continue
		}
		offered = append(offered, tool)
	}
	return offered, refused
}

// agentOf is the session's agent as the session runs it.
func agentOf(session Session) agents.Agent {
	return agents.Agent{
		ID: session.AgentID, TenantID: session.TenantID, WorkspaceID: session.WorkspaceID,
		Version: session.AgentVersion, Config: session.Config,
	}
}

func errNoTool(choice ToolChoice) *fault.Error {
	return fault.Wrap(ErrNoTool, fault.InvalidRequest, "tool_choice names %q, and no tool of that name is offered.", string(choice))
}

// lowerBound is the smaller of two bounds, each 0 or less when there is none.
func lowerBound(a, b int) int {
	switch {
	case a <= 0:
		return max(0, b)
	case b <= 0:
		return a
	}
	return min(a, b)
}

// apply puts the options into a request. first says that the answer begins with it.
func (o options) apply(req *model.Request, first bool) {
	req.MaxOutputTokens = lowerBound(req.MaxOutputTokens, o.maxOutputTokens)
	switch o.toolChoice {
	case "", ToolsAuto:
	case ToolsNone:
		req.Tools = nil
	case ToolsRequired:
		if first && len(req.Tools) > 0 {
			req.ToolChoice = model.ChooseRequired
		}
	default:
		named := string(o.toolChoice)
		if first && slices.ContainsFunc(req.Tools, func(t model.Tool) bool { return t.Name == named }) {
			req.ToolChoice = model.ToolChoice(named)
		}
	}
}

func (r *runner) goOn() string {
	if r.input != nil && len(r.input) == 0 {
		return asInstructed
	}
	return goOn
}

// visible is what the model sees of the conversation, and of the turn.
func (r *runner) visible() []Message {
	if r.input != nil {
		return slices.Concat(r.input, r.turn.Messages[r.given:])
	}
	return arrange(slices.Concat(r.earlier, r.turn.Messages), r.session.ItemEdits)
}
