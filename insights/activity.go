package insights

import (
	"context"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/localtime"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// ActivityParams say what is counted. Zero fields select all.
type ActivityParams struct {
	WorkspaceID workspaces.ID
	// AgentID leaves out what belongs to no agent: deliveries and sources.
	AgentID string
	// Since is 7 days before Until when it is zero, Until is now. The steps that they are in are
	// counted whole.
	Since, Until time.Time
	// Step is Hour for up to 3 days, and else Day, when it is empty.
	Step Step
	// Timezone is an IANA name; empty is the tenant's.
	Timezone string
}

// Activity is what happened in steps of time.
type Activity struct {
	Step     Step
	Timezone string
	// Currency is empty without prices.
	Currency string
	// Steps are all steps, also those in which nothing happened.
	Steps []ActivityStep
	// Total is the sum of the steps, and begins with the first.
	Total ActivityStep
}

// ActivityStep is what happened in one step.
type ActivityStep struct {
	StartsAt time.Time
	Counts
}

// Counts are numbers of what happened; docs/insights.md says what each counts.
type Counts struct {
	Sessions, FailedSessions                int64
	VoiceMinutes                            int64
	Turns, FailedTurns                      int64
	KnowledgeAnswers, AnswersWithoutPassage int64
	Tokens                                  int64
	// Cost is a decimal number; empty without prices.
	Cost                         string
	ToolCalls, FailedToolCalls   int64
	Deliveries, FailedDeliveries int64
	SourcesReady, FailedSources  int64
}

// Activity counts what happened in the tenant of the caller, or in the one workspace that its key
// may see. Errors: NotFound not-found (the workspace), Invalid invalid-request (since, until,
// timezone).
func (s *Service) Activity(ctx context.Context, caller workspaces.Principal, p ActivityParams) (Activity, error) {
	if p.WorkspaceID == "" {
		p.WorkspaceID = caller.WorkspaceID
	}
	if p.WorkspaceID != "" {
		if _, err := s.Workspaces.Resolve(ctx, caller, string(p.WorkspaceID)); err != nil {
			return Activity{}, err
		}
	}
	zone, err := s.zone(ctx, caller.TenantID, p.Timezone)
	if err != nil {
		return Activity{}, err
	}
	steps, err := spanOf(p, zone, s.now())
	if err != nil {
		return Activity{}, err
	}
	used, err := s.Usage.Steps(ctx, caller.TenantID, usage.StepsParams{
		Filter: usage.Filter{WorkspaceID: p.WorkspaceID, AgentID: p.AgentID}, Bounds: steps.bounds, Days: steps.days(),
	})
	if err != nil {
		return Activity{}, err
	}
	counted, err := s.count(ctx, countParams{
		TenantID: caller.TenantID, WorkspaceID: p.WorkspaceID, AgentID: p.AgentID, Bounds: steps.bounds,
	})
	if err != nil {
		return Activity{}, err
	}
	activity := Activity{Step: steps.step, Timezone: zone.String(), Currency: s.Currency}
	for _, at := range steps.bounds[:len(steps.bounds)-1] {
		activity.Steps = append(activity.Steps, ActivityStep{StartsAt: at})
	}
	activity.Total.StartsAt = steps.bounds[0]
	for _, row := range used {
		activity.Steps[row.Step].use(row)
		activity.Total.use(row)
	}
	for _, one := range counted {
		activity.Steps[one.Step].add(one)
		activity.Total.add(one)
	}
	for i := range activity.Steps {
		activity.Steps[i].settle(s.Currency)
	}
	activity.Total.settle(s.Currency)
	return activity, nil
}

// zone returns the zone of a name, or the tenant's.
func (s *Service) zone(ctx context.Context, tenant workspaces.TenantID, name string) (*time.Location, error) {
	if name == "" {
		return s.Usage.Zone(ctx, tenant)
	}
	zone, ok := localtime.Zone(name)
	if !ok {
		return nil, fault.InvalidField("timezone", "unknown", "Use a name of the IANA time zone database, such as Europe/Berlin or UTC.")
	}
	return zone, nil
}

// use adds what was used of a meter.
func (c *Counts) use(row usage.StepRow) {
	switch row.Meter { //nolint:exhaustive // the others are not shown
	case usage.VoiceMinutes:
		c.VoiceMinutes += row.Quantity
	case usage.Turns:
		c.Turns += row.Quantity
	case usage.InputTokens, usage.OutputTokens:
		c.Tokens += row.Quantity
		c.Cost = usage.SumCosts(c.Cost, row.Cost)
	case usage.ToolCalls:
		c.ToolCalls += row.Quantity
	case usage.Deliveries:
		c.Deliveries += row.Quantity
	}
}

// add adds what was counted.
func (c *Counts) add(one tally) {
	switch one.Kind {
	case kindSessions:
		c.Sessions += one.Count
	case kindFailedSessions:
		c.FailedSessions += one.Count
	case kindFailedTurns: // the meter has only those that were answered
		c.Turns += one.Count
		c.FailedTurns += one.Count
	case kindKnowledgeAnswers:
		c.KnowledgeAnswers += one.Count
	case kindAnswersWithoutPassage:
		c.AnswersWithoutPassage += one.Count
	case kindFailedToolCalls:
		c.FailedToolCalls += one.Count
	case kindFailedDeliveries:
		c.FailedDeliveries += one.Count
	case kindSourcesReady:
		c.SourcesReady += one.Count
	case kindFailedSources:
		c.FailedSources += one.Count
	}
}

// settle sets the cost of nothing, and leaves costs out without prices.
func (c *Counts) settle(currency string) {
	if c.Cost == "" {
		c.Cost = "0"
	}
	if currency == "" {
		c.Cost = ""
	}
}
