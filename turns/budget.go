package turns

import (
	"cmp"
	"context"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/budget"
)

const (
	// guardBudget is the guard of budgets in receipts; its rule is the limit ("user:tokens").
	guardBudget = "budget"
	// The verdicts: a cheaper model answers, and nobody does.
	verdictDegraded = "degraded"
	verdictUsedUp   = "used_up"
	// budgetMessage is said when a budget has no message of its own.
	budgetMessage = "I have to end our conversation here, because its budget is used up."
)

// keepBudgets has a cheaper model answer a turn when a budget is nearly used up. When one is used
// up, its message is the answer, and the session ends behind the turn: stopped. What was spent and
// cannot be read stops nobody.
func (r *Runner) keepBudgets(ctx context.Context) (stopped bool, err error) {
	if r.offline || len(r.Session.Config.Budgets) == 0 {
		return false, nil
	}
	reading, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	spender := budget.Spender{
		Ref: r.Session.Ref(), AgentID: r.Session.AgentID, UserID: r.Session.UserID, SessionID: string(r.Session.ID),
	}
	most, err := budget.Look(reading, r.S.db, spender, r.Session.Config.Budgets, r.S.sessions.Now())
	if err != nil && ctx.Err() == nil {
		r.S.log.WarnContext(ctx, "budgets not looked at", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
	}
	switch {
	case most == nil:
	case most.UsedUp():
		r.countVerdict(sessions.ReceiptGuard{Guard: guardBudget, Rule: most.Rule(), Verdict: verdictUsedUp})
		r.end.EndCall, r.stop = true, true
		return true, r.sayFixed(cmp.Or(most.Message, budgetMessage))
	case most.Degrades(most.Percent()):
		r.countVerdict(sessions.ReceiptGuard{Guard: guardBudget, Rule: most.Rule(), Verdict: verdictDegraded})
		r.Session.Config.Model = withModel(r.Session.Config.Model, most.DegradeModel)
	}
	return false, ctx.Err()
}

// withModel is a choice of another model. Fallbacks could cost more than it, so there are none.
func withModel(choice agents.Model, model agents.ModelRef) agents.Model {
	choice.Provider, choice.Name, choice.Fallbacks = model.Provider, model.Name, nil
	return choice
}
