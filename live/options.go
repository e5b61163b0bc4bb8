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
	"parlance.dev/parlance/turns/extratools"
)

// optionsOf returns the options of a Respond, and those of its socket where the Respond has none.
func (e *engine) optionsOf(request answerRequest) turns.Options {
	live, c := request.live, request.command
	o := turns.Options{
		ClientTools: live.clientTools, Input: request.input,
		ToolChoice: cmp.Or(c.ToolChoice, live.toolChoice), MaxOutputTokens: cmp.Or(c.MaxOutputTokens, live.maxOutputTokens),
		Spoken: c.Spoken, Heard: c.Heard,
	}
	if c.ClientTools != nil {
		o.ClientTools = turns.KnownTools(c.ClientTools)
	}
	if c.Instructions != nil && sessions.ClientMay(e.session.Config, "instructions") {
		o.Instructions = c.Instructions
	}
	if o.Instructions == nil && e.session.Config.Instructions != live.session.Config.Instructions {
		o.Instructions = &e.session.Config.Instructions // a client has set them, which guards look at
	}
	return o
}

// offers reports whether an answer can follow the tool choice with the client's own tools and the
// agent's. It returns true when the agent's tools cannot be read.
func (e *engine) offers(choice turns.ToolChoice, own []model.Tool) bool {
	if clientOffers(choice, own) {
		return true
	}
	registry, known := e.agentTools()
	entry, found := registry.Find(string(choice)) // an enabled one comes first
	if !found {
		added, err := extratools.Of(e.session, registry)
		entry, found = added.Find(string(choice))
		known = known && err == nil
	}
	return !known || found && entry.Enabled
}

// clientOffers reports whether an answer can follow the tool choice with the client's own tools
// only.
func clientOffers(choice turns.ToolChoice, own []model.Tool) bool {
	switch choice {
	case "", turns.ToolsAuto, turns.ToolsNone, turns.ToolsRequired:
		return true
	}
	return slices.ContainsFunc(own, func(t model.Tool) bool { return t.Name == string(choice) })
}

// agentTools returns the agent's tools; false when they cannot be read.
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

// acceptClientTools returns the client's tools that can be offered. A tool named like one of the
// agent's is refused.
func (e *engine) acceptClientTools(own []model.Tool) (offered []model.Tool, refused []fault.Field) {
	if len(own) == 0 {
		return nil, nil
	}
	registry, _ := e.agentTools()
	for _, tool := range turns.KnownTools(own) {
		if _, taken := registry.Find(tool.Name); taken {
			refused = append(refused, fault.Field{
				Field: turns.FieldTools, Code: "taken",
				Message: fmt.Sprintf("The agent has a tool %q of its own: yours was left out.", tool.Name),
			})
			continue
		}
		offered = append(offered, tool)
	}
	return offered, refused
}
