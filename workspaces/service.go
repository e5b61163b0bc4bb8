package workspaces

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
)

// Deps is what a Service works with.
type Deps struct {
	DB    *postgres.DB
	Plans Plans
	// MaxWorkspaces and MaxKeys are how many workspaces, and how many keys that have not expired, a
	// tenant may have. 0 means 1,000.
	MaxWorkspaces, MaxKeys int
	// Now is the clock, in UTC. nil means time.Now.
	Now func() time.Time
	// Random makes secrets. nil means crypto/rand.
	Random io.Reader
}

// Service manages tenants, workspaces and keys. Safe for concurrent use.
type Service struct {
	db *postgres.DB
	// configured are the plans of the configuration; plans are all, see Plans.
	configured Plans
	plans      atomic.Pointer[Plans]
	// unknownAt is when plans were read because of an unknown name, in milliseconds since 1970.
	unknownAt atomic.Int64

	now    func() time.Time
	random io.Reader

	maxWorkspaces, maxKeys int
	// onCustomer is set before the service is used; see OnCustomer.
	onCustomer CustomerFunc
	// onDelete is set before the service is used; see OnDelete.
	onDelete func(ctx context.Context, ref Ref) error
}

// New makes the service.
func New(d Deps) *Service {
	s := &Service{
		db: d.DB, configured: d.Plans, now: d.Now, random: d.Random,
		maxWorkspaces: cmp.Or(d.MaxWorkspaces, defaultPerTenant), maxKeys: cmp.Or(d.MaxKeys, defaultPerTenant),
	}
	if s.configured == nil {
		s.configured = DefaultPlans()
	}
	s.plans.Store(&s.configured)
	if s.now == nil {
		s.now = time.Now
	}
	if s.random == nil {
		s.random = rand.Reader
	}
	return s
}

// timestamp is the time as Postgres keeps it.
func (s *Service) timestamp() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// Created is a tenant made by CreateTenant with its first workspace and key.
type Created struct {
	Tenant    Tenant
	Workspace Workspace
	Key       MintedKey
}

// CreateTenant makes a tenant on a plan, with a first workspace ("default") and an admin key.
// Errors: Invalid invalid-request (an empty name, an unknown plan).
func (s *Service) CreateTenant(ctx context.Context, name, plan string) (Created, error) {
	if strings.TrimSpace(name) == "" {
		return Created{}, errNoName()
	}
	if err := s.checkPlan(plan); err != nil {
		return Created{}, err
	}
	now := s.timestamp()
	tenant := Tenant{ID: TenantID(idgen.New(idgen.Tenant)), Name: name, Plan: plan, Timezone: utc, CreatedAt: now, UpdatedAt: now}
	workspace := Workspace{ID: ID(idgen.New(idgen.Workspace)), TenantID: tenant.ID, Name: "default", CreatedAt: now, UpdatedAt: now}
	key := s.mint(Key{ID: KeyID(idgen.New(idgen.Key)), TenantID: tenant.ID, Name: "first key", Scope: ScopeAdmin.String(), CreatedAt: now})
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if err := insert(ctx, tx, &tenant); err != nil {
			return err
		}
		if err := insert(ctx, tx, &workspace); err != nil {
			return err
		}
		return insert(ctx, tx, &key.Key)
	})
	return Created{Tenant: tenant, Workspace: workspace, Key: key}, err
}

// checkPlan refuses a plan that is not configured.
func (s *Service) checkPlan(plan string) error {
	plans := s.Plans()
	if _, ok := plans[plan]; !ok {
		return fault.InvalidField("plan", "unknown", "Use one of the plans %s.", strings.Join(plans.Names(), ", "))
	}
	return nil
}

// SetPlan moves a tenant to another plan, as a person asks for it: the plan then stays until a
// subscription of the tenant asks for another one. Errors: NotFound, Invalid.
func (s *Service) SetPlan(ctx context.Context, id TenantID, plan string) (Tenant, error) {
	if err := s.checkPlan(plan); err != nil {
		return Tenant{}, err
	}
	return updateTenantPlan(ctx, s.db, id, plan, s.timestamp())
}

// Tenant returns a tenant. Errors: NotFound.
func (s *Service) Tenant(ctx context.Context, id TenantID) (Tenant, error) {
	return selectTenant(ctx, s.db, id)
}

// Tenants lists all tenants of the installation, oldest first, for the command line only.
func (s *Service) Tenants(ctx context.Context, params postgres.PageParams) ([]Tenant, string, error) {
	return listTenants(ctx, s.db, params)
}

// DeleteTenant deletes a tenant with everything in it, for the command line only. Errors: NotFound.
func (s *Service) DeleteTenant(ctx context.Context, id TenantID) error {
	return deleteTenant(ctx, s.db, id)
}

// Plan returns what the tenant may use. A plan that is not configured any more allows what "free"
// allows, or nothing without a plan "free". Errors: NotFound.
func (s *Service) Plan(ctx context.Context, id TenantID) (Plan, error) {
	tenant, err := selectTenant(ctx, s.db, id)
	if err != nil {
		return Plan{}, err
	}
	return s.PlanNamed(tenant.Plan), nil
}

// PlanStep is Plan as a statement for [postgres.DB.Pipeline], which sets into. into is unchanged
// when there is no such tenant.
func (s *Service) PlanStep(id TenantID, into *Plan) postgres.Step {
	return postgres.Step{
		SQL:  "SELECT t.plan FROM tenants AS t WHERE t.id = $1",
		Args: []any{string(id)},
		Row: func(scan func(into ...any) error) error {
			var name string
			err := scan(&name)
			*into = s.PlanNamed(name)
			return err
		},
	}
}

// PlanNamed is the plan of a name, or the fallback that Plan describes.
func (s *Service) PlanNamed(name string) Plan {
	if plan, ok := s.Plans()[name]; ok {
		return plan
	}
	s.reloadForUnknown() // it may just have been made
	plans := s.Plans()
	if plan, ok := plans[name]; ok {
		return plan
	}
	return plans["free"]
}

// PlanWithMore returns the name of the plan that has the least above what a plan has of something;
// of returns how much a plan has, 0 for no limit. It is empty when no plan has more. Private plans,
// and those that store less, are left out.
func (s *Service) PlanWithMore(than Plan, of func(Plan) int64) string {
	least, found := of(than), ""
	if least == 0 {
		return ""
	}
	var most int64
	plans := s.Plans()
	for _, name := range plans.Names() {
		if plans[name].Private || plans[name].KBStorageBytes < than.KBStorageBytes {
			continue
		}
		has := of(plans[name])
		better := has > least || has == 0
		if better && (found == "" || most == 0 && has > 0 || has > 0 && has < most) {
			found, most = name, has
		}
	}
	return found
}

// PlanWith is PlanWithMore for something that a plan has or has not: the smallest one that has it.
func (s *Service) PlanWith(has func(Plan) bool) string {
	return s.PlanWithMore(Plan{}, func(p Plan) int64 {
		if p.Name == "" || !has(p) {
			return 1
		}
		return 1 + p.KBStorageBytes
	})
}

// Refuse adds to the refusal of a plan which one has more: in words, and as plan and
// plan_with_more. more is empty when none has.
func Refuse(refusal *fault.Error, plan Plan, more string) *fault.Error {
	if refusal.Meta == nil {
		refusal.Meta = map[string]string{}
	}
	refusal.Meta["plan"], refusal.Meta["plan_with_more"] = plan.Name, more
	if more != "" {
		refusal.Message += fmt.Sprintf(" The plan %q has more.", more)
	}
	return refusal
}

// Resolve makes a Ref of the workspace id of a path. Errors: NotFound for an unknown id, an id of
// another tenant, and one that the key may not use.
func (s *Service) Resolve(ctx context.Context, p Principal, id string) (Ref, error) {
	ref := Ref{TenantID: p.TenantID, ID: ID(id)}
	if !idgen.Valid(idgen.Workspace, id) || !p.MayTouch(ref) {
		return Ref{}, fault.NoSuch("workspace", id)
	}
	if _, err := selectWorkspace(ctx, s.db, ref); err != nil {
		return Ref{}, err
	}
	return ref, nil
}

// Workspace returns a workspace. Errors: NotFound.
func (s *Service) Workspace(ctx context.Context, ref Ref) (Workspace, error) {
	return selectWorkspace(ctx, s.db, ref)
}

// CreateWorkspace makes an empty workspace in the tenant of the caller. Errors: Forbidden
// auth-scope for a key restricted to one workspace, Precondition workspaces-full.
func (s *Service) CreateWorkspace(ctx context.Context, p Principal, name string) (Workspace, error) {
	if err := p.RequireWholeTenant(); err != nil {
		return Workspace{}, err
	}
	now := s.timestamp()
	workspace := Workspace{ID: ID(idgen.In(ctx, idgen.Workspace)), TenantID: p.TenantID, Name: name, CreatedAt: now, UpdatedAt: now}
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if err := s.admitWorkspaceTx(ctx, tx, p.TenantID); err != nil {
			return err
		}
		return insert(ctx, tx, &workspace)
	})
	if err != nil {
		if made, findErr := s.Workspace(ctx, Ref{TenantID: p.TenantID, ID: workspace.ID}); findErr == nil { // a repeated request: see idgen.In
			return made, nil
		}
	}
	return workspace, err
}

// ListWorkspaces lists the workspaces that the caller may use, oldest first.
func (s *Service) ListWorkspaces(ctx context.Context, p Principal, params postgres.PageParams) ([]Workspace, string, error) {
	params.Filters = []string{string(p.TenantID), string(p.WorkspaceID)}
	return listWorkspaces(ctx, s.db, p, params)
}

// errNoName is the error for an empty name.
func errNoName() error { return fault.InvalidField("name", "required", "name cannot be empty.") }

// WorkspaceChange has the new values of a workspace; nil keeps the present one.
type WorkspaceChange struct {
	Name      *string
	Retention *Retention
}

// UpdateWorkspace changes a workspace. Errors: NotFound, Invalid invalid-request (an empty name).
func (s *Service) UpdateWorkspace(ctx context.Context, ref Ref, change WorkspaceChange) (Workspace, error) {
	if change.Name != nil && strings.TrimSpace(*change.Name) == "" {
		return Workspace{}, errNoName()
	}
	if change == (WorkspaceChange{}) {
		return s.Workspace(ctx, ref)
	}
	return updateWorkspace(ctx, s.db, ref, change, s.timestamp())
}

// DeleteWorkspace deletes a workspace with everything in it. Repeating it is not an error. Errors:
// NotFound, Forbidden auth-scope for a key restricted to one workspace.
func (s *Service) DeleteWorkspace(ctx context.Context, p Principal, id string) error {
	if err := p.RequireWholeTenant(); err != nil {
		return err
	}
	if s.onDelete != nil {
		if err := s.onDelete(ctx, Ref{TenantID: p.TenantID, ID: ID(id)}); err != nil {
			return err
		}
	}
	now := s.timestamp()
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		deleted, err := deleteWorkspace(ctx, tx, Ref{TenantID: p.TenantID, ID: ID(id)})
		if err != nil {
			return err
		}
		if deleted {
			return s.Bury(ctx, tx, p.TenantID, id, now)
		}
		return s.Gone(ctx, tx, p.TenantID, "workspace", id)
	})
}

// OnDelete has fn called before a workspace is deleted; its error keeps the workspace. fn is also
// called for a workspace that is not there. Call it before the service is used.
func (s *Service) OnDelete(fn func(ctx context.Context, ref Ref) error) { s.onDelete = fn }

// Bury records that id was deleted, in the transaction that deletes it.
func (s *Service) Bury(ctx context.Context, tx bun.IDB, tenant TenantID, id string, now time.Time) error {
	return s.BuryAll(ctx, tx, tenant, []string{id}, now)
}

// BuryAll is Bury for several ids.
func (s *Service) BuryAll(ctx context.Context, tx bun.IDB, tenant TenantID, ids []string, now time.Time) error {
	return insertTombstones(ctx, tx, tenant, ids, now)
}

// Gone is the result of a deletion that found no row: nil when something with this id was deleted
// before, so that deletions can be repeated. noun names it in the error. Errors: NotFound for an id
// that never existed.
func (s *Service) Gone(ctx context.Context, db bun.IDB, tenant TenantID, noun, id string) error {
	buried, err := selectTombstone(ctx, db, tenant, id)
	if err != nil || buried {
		return err
	}
	return fault.NoSuch(noun, id)
}

// hashSecret is the stored form of the secret of a key. A plain hash suffices, because the secret
// has 256 random bits.
func hashSecret(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
