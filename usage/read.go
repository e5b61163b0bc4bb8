package usage

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

const (
	// maxDays bounds the days of one reading, maxRows its rows.
	maxDays = 366
	maxRows = 10_000
)

// Filter narrows usage; empty fields match all.
type Filter struct {
	WorkspaceID workspaces.ID
	AgentID     string
}

// Sum is what was used of a meter in a month.
type Sum struct {
	Meter    Meter  `bun:"meter"`
	Quantity int64  `bun:"quantity"`
	Cost     string `bun:"cost"`
	// Limit is the plan's quota; 0: none. Of kb_bytes it is that of one workspace, and Fullest is how
	// much the fullest workspace stores.
	Limit   int64 `bun:"-"`
	Fullest int64 `bun:"-"`
	// AtEnd is what is used at the end of the month at its present pace, ReachedOn the day on which
	// the limit is then reached, 2006-01-02; empty when it is not reached.
	AtEnd     int64  `bun:"-"`
	ReachedOn string `bun:"-"`
}

// Percent is the sum's part of its limit, of kb_bytes that of the fullest workspace; 0 without a
// limit.
func (s Sum) Percent() float64 {
	used := s.Quantity
	if s.Meter == KBBytes {
		used = s.Fullest
	}
	if s.Limit == 0 {
		return 0
	}
	return math.Round(float64(used)/float64(s.Limit)*10_000) / 100
}

// Month is a month of a tenant's usage.
type Month struct {
	// Month is 2006-01, Begins and Ends are its bounds in the tenant's time zone.
	Month        string
	Begins, Ends time.Time
	Timezone     string
	Plan         workspaces.Plan
	// Sums are those of all meters, in the order of Meters.
	Sums []Sum
}

// Cost is what calls of models have cost.
func (m Month) Cost() string {
	for _, sum := range m.Sums {
		if sum.Meter == Tokens {
			return sum.Cost
		}
	}
	return "0"
}

// Month returns what a tenant has used in a month, 2006-01; empty is the present one. Limits are
// those of the whole tenant, and are left out under a filter. Errors: Invalid invalid-request.
func (s *Service) Month(ctx context.Context, tenant workspaces.TenantID, month string, f Filter) (Month, error) {
	plan, zone, err := s.planOf(ctx, s.db, tenant)
	if err != nil {
		return Month{}, err
	}
	now := s.moment().In(zone)
	begins := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, zone)
	if month != "" {
		if begins, err = time.ParseInLocation("2006-01", month, zone); err != nil || !sensible(begins) {
			return Month{}, fault.InvalidField("month", "format", "month is a year and a month, such as 2026-11.")
		}
	}
	m := Month{Month: begins.Format("2006-01"), Begins: begins.UTC(), Ends: begins.AddDate(0, 1, 0).UTC(), Timezone: zone.String(), Plan: plan}
	first := begins.Format(time.DateOnly)
	var sums []Sum
	if f == (Filter{}) {
		sums, err = selectMonth(ctx, s.db, tenant, first)
	} else {
		sums, err = selectMonthOf(ctx, s.db, tenant, first, f)
	}
	if err != nil {
		return Month{}, err
	}
	stored, err := selectStored(ctx, s.db, tenant, m.Ends.In(zone).Format(time.DateOnly), f)
	if err != nil {
		return Month{}, err
	}
	for _, meter := range Meters {
		sum := Sum{Meter: meter, Cost: "0"}
		if at := slices.IndexFunc(sums, func(one Sum) bool { return one.Meter == meter }); at >= 0 {
			sum = sums[at]
		}
		if meter == KBBytes {
			sum.Quantity, sum.Fullest = stored.Total, stored.Fullest
		}
		if f.AgentID == "" && (f.WorkspaceID == "" || meter == KBBytes) {
			sum.Limit = Limit(plan, meter)
		}
		forecast := Forecast{Value: sum.Quantity, Limit: sum.Limit, Month: first}
		if sum.AtEnd = sum.Quantity; meter != KBBytes {
			sum.AtEnd = forecast.AtEnd(now)
			if now.Before(m.Ends) {
				sum.ReachedOn = forecast.ReachedOn(now)
			}
		}
		m.Sums = append(m.Sums, sum)
	}
	return m, nil
}

// Group is what rows of days are told apart by.
type Group string

// The groups.
const (
	ByDay       Group = "day"
	ByMonth     Group = "month"
	ByWorkspace Group = "workspace"
	ByAgent     Group = "agent"
	ByModel     Group = "model"
)

// groupColumns are the columns of groups; of what is not grouped the empty text.
var groupColumns = []struct {
	group Group
	sql   string
}{
	{ByDay, "d.day::text"},
	{ByMonth, "to_char(d.day, 'YYYY-MM')"},
	{ByWorkspace, "d.workspace_id"},
	{ByAgent, "d.agent_id"},
	{ByModel, "d.model"},
}

// Row is what was used of a meter by a group of days, workspaces, agents and models.
type Row struct {
	// Day is 2006-01-02, Month 2006-01. Fields that are not grouped by are empty.
	Day         string `bun:"day"`
	Month       string `bun:"month"`
	WorkspaceID string `bun:"workspace"`
	AgentID     string `bun:"agent"`
	Model       string `bun:"model"`
	Meter       Meter  `bun:"meter"`
	// Quantity of kb_bytes is what was added less what was removed.
	Quantity int64  `bun:"quantity"`
	Cost     string `bun:"cost"`
}

// DaysParams says which days are read. Both ends are included.
type DaysParams struct {
	// From and To are 2006-01-02; empty is 29 days ago, and today.
	From, To string
	Filter   Filter
	Meter    Meter
	// GroupBy are different groups; empty is ByDay.
	GroupBy []Group
}

// Days returns usage by day or another group, in the order of the groups. Errors: Invalid
// invalid-request (also for more rows than one answer has).
func (s *Service) Days(ctx context.Context, tenant workspaces.TenantID, p DaysParams) ([]Row, error) {
	zone, err := zoneOf(ctx, s.db, tenant)
	if err != nil {
		return nil, err
	}
	if err := p.check(s.moment().In(zone)); err != nil {
		return nil, err
	}
	columns, groups := []string{}, []string{}
	for _, c := range groupColumns {
		if slices.Contains(p.GroupBy, c.group) {
			columns, groups = append(columns, c.sql+" AS "+string(c.group)), append(groups, c.sql)
		} else {
			columns = append(columns, "'' AS "+string(c.group))
		}
	}
	groups = append(groups, "d.meter")
	q := s.db.NewSelect().TableExpr("usage_days AS d").ColumnExpr(strings.Join(columns, ", ")).
		ColumnExpr("d.meter, sum(d.quantity) AS quantity, trim_scale(sum(d.cost))::text AS cost").
		Where("d.tenant_id = ?", tenant).Where("d.day >= ?", p.From).Where("d.day <= ?", p.To).Apply(p.Filter.apply)
	if p.Meter != "" {
		q = q.Where("d.meter = ?", p.Meter)
	}
	var rows []Row
	err = q.GroupExpr(strings.Join(groups, ", ")).OrderExpr(strings.Join(groups, ", ")).Limit(maxRows+1).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read usage by day: %w", err)
	}
	if len(rows) > maxRows {
		return nil, fault.InvalidField("group_by", "too_many",
			"There are more than %d rows; ask for fewer days, one agent, or one meter.", maxRows)
	}
	return rows, nil
}

// check refuses what cannot be read, and fills in the defaults. now is in the tenant's time zone.
func (p *DaysParams) check(now time.Time) error {
	if p.To == "" {
		p.To = now.Format(time.DateOnly)
	}
	to, err := time.Parse(time.DateOnly, p.To)
	if err != nil || !sensible(to) {
		return fault.InvalidField("to", "format", "to is a day, such as 2026-11-27.")
	}
	if p.From == "" {
		p.From = to.AddDate(0, 0, -29).Format(time.DateOnly)
	}
	from, err := time.Parse(time.DateOnly, p.From)
	if err != nil {
		return fault.InvalidField("from", "format", "from is a day, such as 2026-11-01.")
	}
	if days := int(to.Sub(from).Hours()/24) + 1; days < 1 || days > maxDays {
		return fault.InvalidField("from", "range", "from must lie before to, at most %d days.", maxDays)
	}
	if p.Meter != "" && (!p.Meter.Known() || p.Meter == Tokens) {
		return fault.InvalidField("meter", "unknown", "Meters by day are %s.",
			meterNames(slices.DeleteFunc(slices.Clone(Meters), func(m Meter) bool { return m == Tokens })))
	}
	if len(p.GroupBy) == 0 {
		p.GroupBy = []Group{ByDay}
	}
	for _, group := range p.GroupBy {
		if !slices.ContainsFunc(groupColumns, func(c struct {
			group Group
			sql   string
		},
		) bool {
			return c.group == group
		}) {
			return fault.InvalidField("group_by", "unknown", "group_by is day, month, workspace, agent or model.")
		}
	}
	return nil
}

// sensible reports whether a time can be computed with and stored.
func sensible(at time.Time) bool { return at.Year() >= 1970 && at.Year() < 9000 }

func meterNames(meters []Meter) string {
	names := make([]string, len(meters))
	for i, m := range meters {
		names[i] = string(m)
	}
	return strings.Join(names, ", ")
}

func (f Filter) apply(q *bun.SelectQuery) *bun.SelectQuery {
	if f.WorkspaceID != "" {
		q = q.Where("d.workspace_id = ?", f.WorkspaceID)
	}
	if f.AgentID != "" {
		q = q.Where("d.agent_id = ?", f.AgentID)
	}
	return q
}

// selectMonth reads a tenant's sums of a month, whose first day is given.
func selectMonth(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, first string) ([]Sum, error) {
	var sums []Sum
	err := db.NewSelect().TableExpr("usage_months AS m").ColumnExpr("m.meter, m.quantity, trim_scale(m.cost)::text AS cost").
		Where("m.tenant_id = ?", tenant).Where("m.month = ?", first).Scan(ctx, &sums)
	if err != nil {
		return nil, fmt.Errorf("read a month's usage: %w", err)
	}
	return sums, nil
}

// selectMonthOf is selectMonth of a workspace or an agent.
func selectMonthOf(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, first string, f Filter) ([]Sum, error) {
	var sums []Sum
	err := db.NewSelect().TableExpr("usage_days AS d").
		Join("CROSS JOIN LATERAL unnest(CASE WHEN d.meter IN ('input_tokens', 'output_tokens') THEN ARRAY[d.meter, 'tokens'] "+
			"ELSE ARRAY[d.meter] END) AS named (meter)").
		ColumnExpr("named.meter, sum(d.quantity) AS quantity, trim_scale(sum(d.cost))::text AS cost").
		Where("d.tenant_id = ?", tenant).Where("d.day >= ?::date", first).Where("d.day < ?::date + interval '1 month'", first).
		Apply(f.apply).GroupExpr("named.meter").Scan(ctx, &sums)
	if err != nil {
		return nil, fmt.Errorf("read a month's usage: %w", err)
	}
	return sums, nil
}

// stored is how many bytes sources store.
type stored struct {
	Total   int64 `bun:"total"`
	Fullest int64 `bun:"fullest"`
}

// selectStored reads how many bytes were stored when a day began.
func selectStored(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, before string, f Filter) (stored, error) {
	own := db.NewSelect().TableExpr("usage_days AS d").ColumnExpr("sum(d.quantity) AS bytes").
		Join("JOIN workspaces AS w ON w.tenant_id = d.tenant_id AND w.id = d.workspace_id"). // those that were deleted store nothing
		Where("d.tenant_id = ?", tenant).Where("d.meter = ?", KBBytes).Where("d.day < ?", before).Apply(f.apply).GroupExpr("d.workspace_id")
	var found stored
	err := db.NewSelect().TableExpr("(?) AS w", own).
		ColumnExpr("coalesce(sum(w.bytes), 0)::bigint AS total, coalesce(max(w.bytes), 0)::bigint AS fullest").Scan(ctx, &found)
	if err != nil {
		return stored{}, fmt.Errorf("read stored bytes: %w", err)
	}
	return found, nil
}
