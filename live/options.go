package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
)

// optionsOf are those of a Respond over those of its socket.
func (e *engine) optionsOf(wanted answerRequest) turns.Options {
	live, c := wanted.live, wanted.command
	o := turns.Options{
		ClientTools: live.clientTools, Input: wanted.input,
		ToolChoice: cmp.Or(c.ToolChoice, live.toolChoice), MaxOutputTokens: cmp.Or(c.MaxOutputTokens, live.maxOutputTokens),
	}
	if c.ClientTools != nil {
		o.ClientTools = turns.KnownTools(c.ClientTools)
	}
	if c.Instructions != nil && sessions.ClientMay(e.session.Config, "instructions") {
		o.Instructions = c.Instructions
	}
	return o
}

// offers says whether the tool that a choice names can be called: one of the client's, or of the
// agent's. What cannot be found out now is taken for yes.
func (e *engine) offers(choice turns.ToolChoice, own []model.Tool) bool {
	if clientOffers(choice, own) {
		return true
	}
	registry, known := e.agentTools()
	entry, found := registry.Find(string(choice)) // an enabled one comes first
	return !known || found && entry.Enabled
}

// clientOffers reports whether an answer with no tools but the client's can obey the choice.
func clientOffers(choice turns.ToolChoice, own []model.Tool) bool {
	switch choice {
	case "", turns.ToolsAuto, turns.ToolsNone, turns.ToolsRequired:
		return true
	}
	return slices.ContainsFunc(own, func(t model.Tool) bool { return t.Name == string(choice) })
}

// ownTools are the agent's; false: that cannot be found out now.
func (e *engine) agentTools() (tools.Registry, bool) {
	if e.s.tools == nil {
		return tools.Registry{}, true
	}
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	var registry tools.Registry
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) error {
		values, err := e.s.turns.Variables(ctx, e.session)
		if err == nil {
			registry, err = e.s.tools.ComposeSession(ctx, e.session.Ref(), turns.AgentOf(e.session), string(e.id), values, nil)
		}
		return err
	})
	return registry, err == nil
}

// offerable are the tools of a client that are offered: an agent's own of the same name comes
// first.
func (e *engine) acceptClientTools(wanted []model.Tool) (offered []model.Tool, refused []fault.Field) {
	if len(wanted) == 0 {
		return nil, nil
	}
	registry, _ := e.agentTools()
	for _, tool := range turns.KnownTools(wanted) {
		if _, taken := registry.Find(tool.Name); taken {
			refused = append(refused, fault.Field{Field: turns.FieldTools, Code: "taken", Message: fmt.Sprintf("The agent has a tool %q of its own: yours was left out.", tool.Name)})
			continue
		}
		offered = append(offered, tool)
	}
	return offered, refused
}
