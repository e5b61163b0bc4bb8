package workspaces

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/ticker"
)

const (
	// planReload is how often a process reads the plans of the database.
	planReload = time.Second
	// unknownTimeout bounds a reading that a request waits for.
	unknownTimeout = 500 * time.Millisecond
)

// planRow is a plan that an operator has defined. It takes the place of a configured plan of its
// name.
type planRow struct {
	bun.BaseModel `bun:"table:plans,alias:p"`

	Name       string          `bun:"name,pk"`
	Definition json.RawMessage `bun:"definition,type:jsonb"`
	UpdatedAt  time.Time       `bun:"updated_at"`
}

// Plans are the plans of the installation: those of the configuration, and in their place or beside
// them those of the database, as this process has read them last.
func (s *Service) Plans() Plans { return *s.plans.Load() }

// ReloadPlans reads the plans of the database. A definition that this version cannot read leaves
// its plan as it was.
func (s *Service) ReloadPlans(ctx context.Context) error {
	rows, err := selectPlans(ctx, s.db)
	if err != nil {
		return err
	}
	plans := maps.Clone(s.configured)
	var unread []error
	for _, row := range rows {
		plan, err := ParsePlan(row.Name, row.Definition)
		if err != nil {
			unread = append(unread, err)
			if before, ok := s.Plans()[row.Name]; ok {
				plans[row.Name] = before
			}
			continue
		}
		plans[row.Name] = plan
	}
	s.plans.Store(&plans)
	return errors.Join(unread...)
}

// reloadForUnknown reads the plans because of a name that is none of them, at most once a second.
func (s *Service) reloadForUnknown() {
	last, now := s.unknownAt.Load(), s.now().UnixMilli()
	if s.db == nil || now-last < planReload.Milliseconds() || !s.unknownAt.CompareAndSwap(last, now) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), unknownTimeout)
	defer cancel()
	_ = s.ReloadPlans(ctx) // WatchPlans logs why plans are not read
}

// UnknownPlans returns the names of plans that tenants are on and that do not exist: such tenants
// have what "free" allows.
func (s *Service) UnknownPlans(ctx context.Context) ([]string, error) {
	var names []string
	err := s.db.NewSelect().Model((*Tenant)(nil)).Comment(postgres.AllTenants("the plans that tenants are on")).
		ColumnExpr("DISTINCT t.plan").Where("t.plan NOT IN (?)", bun.List(s.Plans().Names())).OrderExpr("t.plan").Scan(ctx, &names)
	if err != nil {
		return nil, fmt.Errorf("look for unknown plans: %w", err)
	}
	return names, nil
}

// WatchPlans reloads the plans each second until ctx ends.
func (s *Service) WatchPlans(ctx context.Context, log *slog.Logger) {
	last := ""
	ticker.Every(ctx, planReload, func() {
		err := s.ReloadPlans(ctx)
		if err == nil || ctx.Err() != nil {
			last = ""
			return
		}
		if message := err.Error(); message != last { // once, not each second
			last = message
			log.WarnContext(ctx, "plans not read again", "error", err)
		}
	})
}

// PutPlan stores the definition of a plan, which processes read within seconds. Errors: Invalid
// invalid-request.
func (s *Service) PutPlan(ctx context.Context, name string, definition []byte) (Plan, error) {
	plan, err := ParsePlan(name, definition)
	if err != nil {
		return Plan{}, fault.InvalidField("plan", "invalid", "%v.", err)
	}
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if err := s.lockPlans(ctx, tx); err != nil {
			return err
		}
		plans := maps.Clone(s.Plans())
		plans[name] = plan
		if err := plans.checkPrices(); err != nil {
			return fault.InvalidField("plan", "invalid", "%v.", err)
		}
		row := planRow{Name: name, Definition: definition, UpdatedAt: s.timestamp()}
		_, err := tx.NewInsert().Model(&row).On("CONFLICT (name) DO UPDATE").
			Set("definition = EXCLUDED.definition").Set("updated_at = EXCLUDED.updated_at").Exec(ctx)
		if err != nil {
			return fmt.Errorf("store a plan: %w", err)
		}
		return nil
	})
	if err != nil {
		return Plan{}, err
	}
	return plan, s.ReloadPlans(ctx)
}

// DeletePlan deletes a plan of the database; a configured one of its name applies again. Errors:
// NotFound, Precondition conflict (tenants are on it, and none of its name is configured).
func (s *Service) DeletePlan(ctx context.Context, name string) error {
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if err := s.lockPlans(ctx, tx); err != nil {
			return err
		}
		if _, configured := s.configured[name]; !configured {
			tenants, err := tx.NewSelect().Model((*Tenant)(nil)).Comment(postgres.AllTenants("the operator deletes a plan")).
				Where("t.plan = ?", name).Count(ctx)
			if err != nil {
				return fmt.Errorf("count the tenants of a plan: %w", err)
			}
			if tenants > 0 {
				return fault.New(fault.Conflict, "%d tenants are on the plan %q: move them to another one first (parlance tenants set-plan).",
					tenants, name)
			}
		}
		result, err := tx.NewDelete().Model((*planRow)(nil)).Where("p.name = ?", name).Exec(ctx)
		if err != nil {
			return fmt.Errorf("delete a plan: %w", err)
		}
		if n, err := result.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return fault.NoSuch("plan in the database", name)
	})
	if err != nil {
		return err
	}
	return s.ReloadPlans(ctx)
}

// lockPlans has changes of plans happen one after the other, and reads what there is.
func (s *Service) lockPlans(ctx context.Context, tx bun.Tx) error {
	if err := postgres.LockTx(ctx, tx, "parlance.plans"); err != nil {
		return err
	}
	return s.ReloadPlans(ctx)
}

func selectPlans(ctx context.Context, db bun.IDB) ([]planRow, error) {
	var rows []planRow
	if err := db.NewSelect().Model(&rows).OrderExpr("p.name").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the plans: %w", err)
	}
	return rows, nil
}
