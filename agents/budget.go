package agents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// What a budget is for.
const (
	// PerSession is one conversation.
	PerSession = "session"
	// PerUser is the conversations of one user that began in the last 24 hours.
	PerUser = "user"
	// PerAgent is all conversations in a month of the tenant's time zone.
	PerAgent = "agent"
)

// defaultDegradePercent is where a budget goes over to its cheaper model, unless it says so itself.
const defaultDegradePercent = 80

// Budget limits what conversations with the agent may use. 0 means no limit.
type Budget struct {
	Per       string `json:"per"`
	MaxTokens int64  `json:"max_tokens,omitempty"`
	// MaxCost is in the currency of the installation's prices.
	MaxCost float64 `json:"max_cost,omitempty"`
	// DegradeModel answers from DegradePercent of a limit on; empty: the agent's own does.
	DegradeModel ModelRef `json:"degrade_model,omitzero"`
	// DegradePercent 0 means 80.
	DegradePercent int `json:"degrade_percent,omitempty"`
	// Message is what the agent says when a limit is reached.
	Message string `json:"message,omitempty"`
}

// Degrades reports whether a share of a limit, in percent, is one from which the cheaper model
// answers.
func (b Budget) Degrades(percent float64) bool {
	return b.DegradeModel != ModelRef{} && percent >= float64(cmp.Or(b.DegradePercent, defaultDegradePercent))
}

// PriceFunc reports whether the calls of a model have a price. An empty provider or name means that
// of the installation.
type PriceFunc func(model ModelRef) bool

// checkBudgets refuses budgets that limit nothing or cannot be kept. Errors: Invalid
// invalid-request.
func (c Config) checkBudgets(priced PriceFunc) error {
	var fields []fault.Field
	for i, b := range c.Budgets {
		add := func(field, code, format string, args ...any) {
			fields = append(fields, fault.Field{
				Field: fmt.Sprintf("budgets[%d].%s", i, field), Code: code, Message: fmt.Sprintf(format, args...),
			})
		}
		if slices.ContainsFunc(c.Budgets[:i], func(other Budget) bool { return other.Per == b.Per }) {
			add("per", "repeated", "There is another budget per %s; give it all the limits.", b.Per)
		}
		if b.MaxTokens == 0 && b.MaxCost == 0 {
			add("max_tokens", "required", "The budget limits nothing: set max_tokens or max_cost.")
		}
		if b.DegradePercent != 0 && (b.DegradeModel == ModelRef{}) {
			add("degrade_model", "required", "Say which model answers from degrade_percent on.")
		}
		if (b.DegradeModel != ModelRef{}) && (b.DegradeModel.Provider == "" || b.DegradeModel.Name == "") {
			add("degrade_model", "required", "Give the provider and the name of the model.")
		}
		if b.Message != "" && strings.TrimSpace(b.Message) == "" {
			add("message", "blank", "Say something, or leave it out.")
		}
		if b.MaxCost == 0 {
			continue
		}
		for _, model := range c.budgetModels(b) {
			if priced == nil || !priced(model) {
				add("max_cost", "no_price", "The calls of %s have no price (PARLANCE_MODEL_PRICES_FILE), so they would not be counted. "+
					"Use max_tokens, or add the price.", model)
			}
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return fault.InvalidFields(fields...)
}

// CheckPriced refuses to answer with a model whose calls have no price, which a session may have
// chosen or the installation lost, while a budget limits costs. Errors: QuotaExceeded
// quota-exceeded-budget.
func (c Config) CheckPriced(priced PriceFunc) error {
	if !slices.ContainsFunc(c.Budgets, func(b Budget) bool { return b.MaxCost > 0 }) {
		return nil
	}
	for _, model := range c.modelRefs() {
		if priced == nil || !priced(model) {
			return fault.New(fault.QuotaBudget, "The agent has a budget of costs, and the calls of %s have no price.", model)
		}
	}
	return nil
}

// budgetModels are the models that may spend a budget.
func (c Config) budgetModels(b Budget) []ModelRef {
	if (b.DegradeModel == ModelRef{}) {
		return c.modelRefs()
	}
	return append(c.modelRefs(), b.DegradeModel)
}

// modelRefs are the agent's model, its fallbacks and those of its judges.
func (c Config) modelRefs() []ModelRef {
	models := append([]ModelRef{{Provider: c.Model.Provider, Name: c.Model.Name}}, c.Model.Fallbacks...)
	for _, guard := range c.Guards {
		if guard.Judge != nil && (guard.Judge.Model != ModelRef{}) {
			models = append(models, guard.Judge.Model)
		}
	}
	return models
}

// checkModels refuses models that may not answer or cannot, when what names them has changed: those
// that the tenant's plan does not have, judges that no language model answers for, and the cheaper
// models of budgets. Errors: Forbidden plan-model-not-enabled, Unimplemented not-implemented,
// Invalid invalid-request.
func (s *Service) checkModels(ctx context.Context, ref workspaces.Ref, config, stored Config) error {
	if err := s.checkJudge(ctx, ref, config, stored); err != nil || s.models == nil {
		return err
	}
	known := func(model ModelRef) bool {
		return slices.Contains(stored.modelRefs(), model) ||
			slices.ContainsFunc(stored.Budgets, func(b Budget) bool { return b.DegradeModel == model })
	}
	for _, model := range config.modelRefs() {
		if known(model) {
			continue
		}
		_, err := s.models(ctx, ref, Model{Provider: model.Provider, Name: model.Name})
		if fault.IsReason(err, fault.PlanModelNotEnabled) { // what is not configured yet may be later
			return err
		}
	}
	for i, b := range config.Budgets {
		if (b.DegradeModel == ModelRef{}) || known(b.DegradeModel) {
			continue
		}
		_, err := s.models(ctx, ref, Model{Provider: b.DegradeModel.Provider, Name: b.DegradeModel.Name})
		if fault.IsReason(err, fault.UpstreamFailed) {
			return fault.InvalidField(fmt.Sprintf("budgets[%d].degrade_model", i), "not_configured",
				"The provider %q is configured neither in this installation nor in the workspace.", b.DegradeModel.Provider)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// String names the model in words.
func (m ModelRef) String() string {
	switch {
	case m == ModelRef{}:
		return "the installation's model"
	case m.Name == "":
		return "the model of " + m.Provider
	}
	return m.Provider + "/" + m.Name
}
