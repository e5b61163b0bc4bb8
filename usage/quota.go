package usage

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

const (
	// knownFor is how long Admit goes by what it has read of a tenant's month.
	knownFor = 2 * time.Second
	// readTimeout bounds the reading: a turn does not wait for it.
	readTimeout = 500 * time.Millisecond
)

// known is a tenant's month as it was read.
type known struct {
	readAt time.Time
	plan   workspaces.Plan
	// values are empty when the month could not be read.
	values map[Meter]int64
	// ends is when the month is over.
	ends time.Time
}

// Limit returns the plan's quota of a meter; 0: none. Of kb_bytes it is that of one workspace.
func Limit(plan workspaces.Plan, meter Meter) int64 {
	if meter == KBBytes {
		return plan.KBStorageBytes
	}
	return plan.Monthly[string(meter)]
}

// Admit refuses more of meters of which the quota of the tenant's plan is used up. It goes by the
// sums, which are a few seconds old, and lets everything through while they cannot be read. Errors:
// QuotaExceeded quota-exceeded-usage.
func (s *Service) Admit(ctx context.Context, tenant workspaces.TenantID, meters ...Meter) error {
	return s.AdmitAt(ctx, tenant, s.moment(), meters...)
}

// AdmitAt is Admit for what is going to happen at a time. The months to come are not used up.
func (s *Service) AdmitAt(ctx context.Context, tenant workspaces.TenantID, at time.Time, meters ...Meter) error {
	month := s.monthOf(ctx, tenant)
	if !at.Before(month.ends) {
		return nil
	}
	for _, meter := range meters {
		limit := Limit(month.plan, meter)
		if used := month.values[meter]; limit > 0 && used >= limit {
			return s.exceeded(month.plan, meter, used, limit, month.ends)
		}
	}
	return nil
}

// AdmitSession is Admit for a new session; spoken says that it has a voice socket. Sessions are
// counted when they begin; those that may still begin are held against the quota. Errors:
// QuotaExceeded quota-exceeded-usage.
func (s *Service) AdmitSession(ctx context.Context, tenant workspaces.TenantID, spoken bool) error {
	needed := []Meter{Turns, Tokens}
	if spoken {
		needed = append(needed, VoiceMinutes, SpeechSeconds, SpeechCharacters)
	}
	if err := s.Admit(ctx, tenant, needed...); err != nil {
		return err
	}
	month := s.monthOf(ctx, tenant)
	limit, used := Limit(month.plan, Sessions), month.values[Sessions]
	if limit <= 0 {
		return nil
	}
	var pending int64
	err := s.db.NewRaw("SELECT count(*) FROM sessions AS s WHERE s.tenant_id = ? AND s.status = 'pending' AND s.token_expires_at > ?",
		tenant, s.moment()).Scan(ctx, &pending)
	if err != nil {
		return fmt.Errorf("count pending sessions: %w", err)
	}
	if used+pending >= limit {
		return s.exceeded(month.plan, Sessions, used+pending, limit, month.ends)
	}
	return nil
}

// exceeded is the error of a quota that is used up.
func (s *Service) exceeded(plan workspaces.Plan, meter Meter, used, limit int64, ends time.Time) error {
	more := s.workspaces.PlanWithMore(plan, func(p workspaces.Plan) int64 { return Limit(p, meter) })
	full := fault.New(fault.QuotaUsage, "The plan %q has %d %s a month, and %d are used. The next month begins at %s.",
		plan.Name, limit, meter, used, ends.Format(time.RFC3339))
	full.Meta = map[string]string{
		"meter": string(meter), "limit": strconv.FormatInt(limit, 10), "used": strconv.FormatInt(used, 10),
		"resets_at": ends.Format(time.RFC3339),
	}
	return workspaces.Refuse(full, plan, more)
}

// Plan returns a tenant's plan as it was up to two seconds ago; one that allows everything while it
// cannot be read.
func (s *Service) Plan(ctx context.Context, tenant workspaces.TenantID) workspaces.Plan {
	return s.monthOf(ctx, tenant).plan
}

// monthOf returns the tenant's present month.
func (s *Service) monthOf(ctx context.Context, tenant workspaces.TenantID) known {
	now := s.moment()
	if one, ok := s.known.Get(tenant); ok && now.Sub(one.readAt) < knownFor && (one.ends.IsZero() || now.Before(one.ends)) {
		return one
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	one, err := s.readMonth(ctx, tenant, now)
	if err != nil { // usage that cannot be read stops nobody
		one = known{}
	}
	one.readAt = now
	s.known.Set(tenant, one)
	return one
}

func (s *Service) readMonth(ctx context.Context, tenant workspaces.TenantID, now time.Time) (known, error) {
	plan, zone, err := s.planOf(ctx, s.db, tenant)
	if err != nil {
		return known{}, err
	}
	local := now.In(zone)
	begins := time.Date(local.Year(), local.Month(), 1, 0, 0, 0, 0, zone)
	one := known{plan: plan, ends: begins.AddDate(0, 1, 0), values: map[Meter]int64{}}
	if len(plan.Monthly) == 0 {
		return one, nil
	}
	sums, err := selectMonth(ctx, s.db, tenant, begins.Format(time.DateOnly))
	for _, sum := range sums {
		one.values[sum.Meter] = sum.Quantity
	}
	return one, err
}

// planOf returns a tenant's plan and time zone.
func (s *Service) planOf(ctx context.Context, db bun.IDB, tenant workspaces.TenantID) (workspaces.Plan, *time.Location, error) {
	var row struct {
		Plan     string `bun:"plan"`
		Timezone string `bun:"timezone"`
	}
	if err := db.NewRaw("SELECT t.plan, t.timezone FROM tenants AS t WHERE t.id = ?", tenant).Scan(ctx, &row); err != nil {
		return workspaces.Plan{}, nil, fmt.Errorf("read a tenant's plan: %w", err)
	}
	return s.workspaces.PlanNamed(row.Plan), locationOf(row.Timezone), nil
}

// zoneOf returns a tenant's time zone.
func zoneOf(ctx context.Context, db bun.IDB, tenant workspaces.TenantID) (*time.Location, error) {
	var name string
	if err := db.NewRaw("SELECT t.timezone FROM tenants AS t WHERE t.id = ?", tenant).Scan(ctx, &name); err != nil {
		return nil, fmt.Errorf("read a tenant's time zone: %w", err)
	}
	return locationOf(name), nil
}

// locationOf returns a time zone, or UTC when this machine does not know it.
func locationOf(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}
