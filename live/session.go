package live

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/langtag"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// configure applies the changes that the agent allows, and sends what is in force.
func (e *engine) configure(live *Live, c Configure) {
	before := e.session.Config.Language
	restore(&e.session.Config, live.session.Config, c.Restore)
	refused := sessions.ClientOverrides(&e.session.Config, c.Overrides)
	refused = append(refused, e.addVariables(c.Variables)...)
	if before != e.session.Config.Language {
		e.session.Language = e.session.Config.Language
		e.saveColumn("language")
	}
	if c.ClientTools != nil {
		var taken []fault.Field
		live.clientTools, taken = e.acceptClientTools(c.ClientTools)
		refused = append(refused, taken...)
	}
	choice := cmp.Or(c.ToolChoice, live.toolChoice)
	if (c.ToolChoice != "" || c.ClientTools != nil) && !e.offers(choice, live.clientTools) {
		refused = append(refused, fault.Field{
			Field: FieldToolChoice, Code: "unknown", Message: turns.ToolNotOffered(choice).Message + " It is auto now.",
		})
		choice = turns.ToolsAuto
	}
	live.toolChoice, live.maxOutputTokens = choice, cmp.Or(c.MaxOutputTokens, live.maxOutputTokens)
	live.push(Configured{
		CommandID: c.CommandID, Session: e.session, ClientTools: live.clientTools,
		ToolChoice: live.toolChoice, MaxOutputTokens: live.maxOutputTokens, Refused: refused,
	})
}

// restore resets keys of config to what the session began with.
func restore(config *agents.Config, began agents.Config, keys []string) {
	for _, key := range keys {
		switch key {
		case "model":
			config.Model.Name = began.Model.Name
		case "voice":
			config.Voice.TTS = began.Voice.TTS
		}
	}
}

// addVariables stores a client's variables where the agent's client_overrides allows it, and
// returns why others are refused. Variables that the session has are not changed.
func (e *engine) addVariables(variables map[string]string) []fault.Field {
	var refused []fault.Field
	add := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if code, words := e.refuseVariable(name, variables[name]); code != "" {
			refused = append(refused, fault.Field{Field: agents.KeyClientVariables + "." + name, Code: code, Message: words})
		} else {
			add[name] = variables[name]
		}
	}
	for name, value := range add { // prompts have it
		if guard, err := e.s.turns.ZoneOf(e.s.life, e.session, value); err != nil || guard != nil {
			delete(add, name)
			refused = append(refused, fault.Field{
				Field: agents.KeyClientVariables + "." + name, Code: "no_go", Message: "The value is in a no-go zone of the agent.",
			})
		}
	}
	if len(add) == 0 {
		return refused
	}
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	err := e.s.sessions.Locked(ctx, e.session.TenantID, e.id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		stored, err := e.s.sessions.StoredVariables(ctx, *row, add)
		if err != nil {
			return err
		}
		kept := maps.Clone(stored)
		maps.DeleteFunc(kept, func(name, _ string) bool { _, there := row.AssignedVariables[name]; return there })
		turns.MergeAssigned(row, kept)
		e.session.AssignedVariables = row.AssignedVariables
		return sessions.Update(ctx, tx, *row, "assigned_variables")
	})
	if err != nil {
		e.s.log.WarnContext(ctx, "client's variables not stored", "session_id", e.id, "error", err)
		return append(refused, fault.Field{
			Field: agents.KeyClientVariables, Code: "unavailable",
			Message: "The variables could not be stored. Connect again.",
		})
	}
	for _, name := range slices.Sorted(maps.Keys(add)) {
		if _, kept := e.session.AssignedVariables[name]; !kept {
			refused = append(refused, fault.Field{
				Field: agents.KeyClientVariables + "." + name, Code: "max_pairs",
				Message: "The session has as many variables as it can have.",
			})
		}
	}
	return refused
}

// refuseVariable returns why a client may not set a variable; the code is empty when it may. A
// value equal to the present one is refused too, because acceptance would let clients guess values.
func (e *engine) refuseVariable(name, value string) (code, words string) {
	_, bound := e.session.DynamicVariables[name]
	_, assigned := e.session.AssignedVariables[name]
	switch {
	case !sessions.VariableName.MatchString(name):
		return "pattern", "A name has letters, digits and underscores, at most 128, and does not begin with a digit."
	case strings.HasPrefix(name, "system__"), strings.HasPrefix(name, "secret__"):
		return "reserved",
			"Names that begin with system__ or secret__ cannot be set by a client. Set secret__ variables when the session is created."
	case len(value) > sessions.MaxVariableBytes || !sessions.IsStorable(value):
		return "max_len", "A variable is text of at most 4 KiB without the character U+0000."
	case bound, assigned:
		return "bound", "The session has this variable already, and a client cannot change it. Set it when the session is created."
	case !slices.Contains(e.session.Config.ClientOverrides, agents.KeyClientVariables):
		return "override-not-allowed",
			"Variables are set when the session is created. A client may add some when the agent's client_overrides has dynamic_variables."
	}
	return "", ""
}

// saveColumn stores a column of the session. A failure is only logged.
func (e *engine) saveColumn(column string) {
	if e.s.turns.Offline() {
		return
	}
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	if err := sessions.Update(ctx, e.s.db, e.session, column); err != nil {
		e.s.log.WarnContext(ctx, "session not updated", "session_id", e.id, "column", column, "error", err)
	}
}

// switchLanguage goes on in another language.
func (e *engine) switchLanguage(tag string) {
	canonical, ok := langtag.Canonical(tag)
	if !ok || canonical == e.session.Language {
		return
	}
	e.session.Language = canonical
	e.saveColumn("language")
}

// activityPause is the least time between two writes of the last activity.
const activityPause = 5 * time.Second

// recordActivity restarts the idle time-out, with at most one write in activityPause.
func (e *engine) recordActivity() {
	now := e.s.sessions.Now()
	if now.Sub(e.session.LastActivityAt) < activityPause {
		return
	}
	e.session.LastActivityAt = now
	e.saveColumn("last_activity_at")
}

// createGreeting stores and sends the first_message of a session whose first socket held it back.
// It does nothing once the session has a turn.
func (e *engine) createGreeting(live *Live) {
	var greeting *sessions.Turn
	ctx, cancel := context.WithTimeout(live.origin.Context(context.WithoutCancel(e.s.life)), sessions.WriteTimeout)
	defer cancel()
	now := e.s.sessions.Now()
	err := e.s.sessions.Locked(ctx, e.session.TenantID, e.id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		if greeting = nil; row.Closed() || row.TurnCount > 0 {
			return nil
		}
		row.Config, row.Language = e.session.Config, e.session.Language
		var err error
		if greeting, err = e.s.sessions.GreetTx(ctx, tx, row, now, live.speaks.Load()); err != nil || greeting == nil {
			return err
		}
		return sessions.Update(ctx, tx, *row, "turn_count")
	})
	switch {
	case err != nil:
		e.s.log.WarnContext(ctx, "greeting not stored", "session_id", e.id, "error", err)
	case greeting != nil:
		e.sendGreeting(live, *greeting)
		e.sendItemsToOthers(live, sessions.ItemsOf(*greeting))
	}
}

// saveFeedback stores a client's feedback.
func (e *engine) saveFeedback(live *Live, c Feedback) {
	ctx := live.origin.Context(context.WithoutCancel(e.s.life))
	if err := e.s.saveFeedback(ctx, e.session, c); err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: postgres.Decide(err)})
	}
}

// saveFeedback stores a client's feedback, also when its session has ended. Errors: Invalid
// invalid-request (the score, or there is no such answer), Unavailable.
func (s *Service) saveFeedback(ctx context.Context, session sessions.Session, c Feedback) error {
	if c.Score != sessions.NoScore && c.Score != sessions.Like && c.Score != sessions.Dislike {
		return fault.InvalidField("score", "in", "A score is like or dislike, or none.")
	}
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	return s.turns.ReachSession(ctx, session.ID, func(ctx context.Context) error {
		return s.sessions.Locked(ctx, session.TenantID, session.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
			if err := sessions.SetFeedback(ctx, tx, *row, c.Feedback); err != nil {
				return err
			}
			return sessions.CountFeedback(ctx, tx, row)
		})
	})
}
