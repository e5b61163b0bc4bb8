package live

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// sayGreeting says the first_message of a session whose first socket held it back. Once anything
// was said there is none, so the second Greet and those after a reconnect do nothing.
func (e *engine) sayGreeting(live *Live) {
	var greeting *sessions.Turn
	ctx, cancel := context.WithTimeout(live.origin.Context(context.WithoutCancel(e.s.live)), sessions.WriteTimeout)
	defer cancel()
	now := e.s.sessions.Now()
	err := e.s.sessions.Locked(ctx, e.session.TenantID, e.id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		if greeting = nil; row.Closed() || row.TurnCount > 0 {
			return nil
		}
		row.Config, row.Language = e.session.Config, e.session.Language
		if greeting = sessions.NewGreeting(row, now); greeting == nil {
			return nil
		}
		if err := sessions.InsertTurn(ctx, tx, *greeting); err != nil {
			return err
		}
		row.TurnCount++
		return sessions.Update(ctx, tx, *row, "turn_count")
	})
	switch {
	case err != nil:
		e.s.log.WarnContext(ctx, "greeting not said", "session_id", e.id, "error", err)
	case greeting != nil:
		e.greet(live, *greeting)
		e.others(live, sessions.ItemsOf(*greeting))
	}
}

// addVariables takes a client's variables where the agent's client_overrides lets it, and returns
// why the others are refused. What is bound to the token, or was set since, stays as it is.
func (e *engine) addVariables(wanted map[string]string) []fault.Field {
	var refused []fault.Field
	add := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if code, words := e.refuseVariable(name, wanted[name]); code != "" {
			refused = append(refused, fault.Field{Field: agents.KeyClientVariables + "." + name, Code: code, Message: words})
		} else {
			add[name] = wanted[name]
		}
	}
	if len(add) == 0 {
		return refused
	}
	ctx, cancel := context.WithTimeout(e.s.live, sessions.WriteTimeout)
	defer cancel()
	err := e.s.sessions.Locked(ctx, e.session.TenantID, e.id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		kept := maps.Clone(add)
		maps.DeleteFunc(kept, func(name, _ string) bool { _, there := row.AssignedVariables[name]; return there })
		turns.MergeAssigned(row, kept)
		e.session.AssignedVariables = row.AssignedVariables
		return sessions.Update(ctx, tx, *row, "assigned_variables")
	})
	if err != nil {
		e.s.log.WarnContext(ctx, "client's variables not stored", "session_id", e.id, "error", err)
		return append(refused, fault.Field{Field: agents.KeyClientVariables, Code: "unavailable", Message: "The variables could not be stored. Connect again."})
	}
	for _, name := range slices.Sorted(maps.Keys(add)) {
		if _, kept := e.session.AssignedVariables[name]; !kept {
			refused = append(refused, fault.Field{Field: agents.KeyClientVariables + "." + name, Code: "max_pairs", Message: "The session has as many variables as it can have."})
		}
	}
	return refused
}

// refuseVariable says why a client may not set a variable; the code is empty when it may. Whether
// it sent the value that is set already makes no difference: that would let it guess values.
func (e *engine) refuseVariable(name, value string) (code, words string) {
	_, bound := e.session.DynamicVariables[name]
	_, assigned := e.session.AssignedVariables[name]
	switch {
	case !sessions.VariableName.MatchString(name):
		return "pattern", "A name has letters, digits and underscores, at most 128, and does not begin with a digit."
	case strings.HasPrefix(name, "system__"), strings.HasPrefix(name, "secret__"):
		return "reserved", "Names that begin with system__ or secret__ cannot be set by a client. Set secret__ variables when the session is created."
	case len(value) > sessions.MaxVariableBytes || !sessions.IsStorable(value):
		return "max_len", "A variable is text of at most 4 KiB without the character U+0000."
	case bound, assigned:
		return "bound", "The session has this variable already, and a client cannot change it. Set it when the session is created."
	case !slices.Contains(e.session.Config.ClientOverrides, agents.KeyClientVariables):
		return "override-not-allowed", "Variables are set when the session is created. A client may add some when the agent's client_overrides has dynamic_variables."
	}
	return "", ""
}
