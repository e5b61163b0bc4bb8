package turns

import (
	"cmp"
	"context"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/budget"
	"parlance.dev/parlance/usage"
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

// admit refuses an answer when a quota of the tenant's plan is used up.
func (r *Runner) admit(ctx context.Context) error {
	if r.S.usage == nil || r.offline {
		return nil
	}
	return r.S.usage.Admit(ctx, r.Session.TenantID, usage.Turns, usage.Tokens, usage.ToolCalls)
}

// keepBudgets has a cheaper model answer a turn when a budget is nearly used up. When one is used
// up, its message is the answer, and the session ends behind the turn: stopped. An answer out of
// band fails then. What was spent and cannot be read stops nobody; a cost that cannot be known
// stops everybody.
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
		return true, r.endByBudget(ctx, *most)
	case most.Degrades(most.Percent()):
		r.degrade(ctx, *most)
	}
	if err := r.Session.Config.CheckPriced(r.S.priced); err != nil {
		return false, err
	}
	return false, ctx.Err()
}

// endByBudget ends a conversation whose budget is used up.
func (r *Runner) endByBudget(ctx context.Context, limit budget.Use) error {
	r.countVerdict(sessions.ReceiptGuard{Guard: guardBudget, Rule: limit.Rule(), Verdict: verdictUsedUp})
	if r.begun == nil { // out of band: nobody takes a sentence for the answer
		return fault.New(fault.QuotaBudget, "The agent's budget per %s is used up.", limit.Per)
	}
	r.end.EndCall, r.end.EndReason, r.stop = true, sessions.ReasonBudget, true
	return cmp.Or(r.sayFixed(cmp.Or(limit.Message, budgetMessage)), ctx.Err())
}

// degrade has the budget's model answer, unless it cannot: the tenant's plan may not have it any
// more. Fallbacks could cost more than it, so there are none.
func (r *Runner) degrade(ctx context.Context, limit budget.Use) {
	choice := r.Session.Config.Model
	choice.Provider, choice.Name, choice.Fallbacks = limit.DegradeModel.Provider, limit.DegradeModel.Name, nil
	if _, err := r.provider(ctx, choice); err != nil {
		r.S.log.WarnContext(ctx, "the cheaper model of a budget cannot answer", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
		return
	}
	r.countVerdict(sessions.ReceiptGuard{Guard: guardBudget, Rule: limit.Rule(), Verdict: verdictDegraded})
	r.Session.Config.Model = choice
}
