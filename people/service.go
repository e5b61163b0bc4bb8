package people

import (
	"context"
	"crypto/rand"
	"io"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/oidc"
	"parlance.dev/parlance/workspaces"
)

// Deps is what a Service works with. DB, Workspaces and Keys are required.
type Deps struct {
	DB         *postgres.DB
	Workspaces *workspaces.Service
	// Keys seal what a browser carries while somebody is at the issuer's page.
	Keys *seal.Keyring
	// Issuer is nil when nobody can sign in.
	Issuer *oidc.Issuer
	// Tenant is the id or name of the tenant that people belong to; empty: the only one.
	Tenant string
	Roles  Roles
	// MaxLife is how long somebody stays signed in, and MaxIdle how long without a request. 0: 12 h
	// and 2 h.
	MaxLife, MaxIdle time.Duration
	// Now is the clock; nil is time.Now. Random makes secrets; nil is crypto/rand.
	Now    func() time.Time
	Random io.Reader
}

const (
	defaultLife = 12 * time.Hour
	defaultIdle = 2 * time.Hour
	// maxSeenGrain is how old last_seen_at may be, so that it is written once a minute and not for
	// each request. seenParts is how often it is written in MaxIdle at least: nobody who makes
	// requests is signed out much earlier than MaxIdle after the last one.
	maxSeenGrain = time.Minute
	seenParts    = 20
)

// Service manages people and their sign-ins. Safe for concurrent use.
type Service struct{ Deps }

// New makes the service.
func New(d Deps) *Service {
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Random == nil {
		d.Random = rand.Reader
	}
	if d.MaxLife <= 0 {
		d.MaxLife = defaultLife
	}
	if d.MaxIdle <= 0 {
		d.MaxIdle = defaultIdle
	}
	return &Service{d}
}

// timestamp is the time as Postgres keeps it.
func (s *Service) timestamp() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// seenAfter is the time after which a sign-in must have been used to be alive at now.
func (s *Service) seenAfter(now time.Time) time.Time { return now.Add(-s.MaxIdle) }

// seenGrain is how old last_seen_at may be.
func (s *Service) seenGrain() time.Duration { return min(maxSeenGrain, s.MaxIdle/seenParts) }

// Enabled reports whether people can sign in.
func (s *Service) Enabled() bool { return s.Issuer != nil }

// errSignedOut is the error for a token that nobody is signed in with.
func errSignedOut() error {
	return fault.New(fault.AuthMissing, "You are not signed in, or not any more: sign in again.")
}

// Authenticate finds the principal of the token of a cookie. It reads the person each time, so that
// a change of their role counts at once. Errors: Unauthenticated auth-missing for anything that
// nobody is signed in with.
func (s *Service) Authenticate(ctx context.Context, token string) (workspaces.Principal, error) {
	if !s.Enabled() || !isToken(token) {
		return workspaces.Principal{}, errSignedOut()
	}
	now := s.timestamp()
	found, err := selectSignedIn(ctx, s.DB, hashToken(token), now, s.seenAfter(now))
	if postgres.NoRows(err) || err == nil && (found.Disabled || found.Issuer != s.Issuer.URL()) {
		return workspaces.Principal{}, errSignedOut()
	}
	if err != nil {
		return workspaces.Principal{}, err
	}
	if now.Sub(found.LastSeenAt) >= s.seenGrain() {
		if err := touchSignIn(ctx, s.DB, found.TenantID, hashToken(token), now); err != nil {
			return workspaces.Principal{}, err
		}
	}
	return workspaces.Principal{
		TenantID: found.TenantID, PersonID: found.ID, PersonName: found.Name, Role: found.Role(), Scope: found.Role().Scope(), Plan: found.Plan,
	}, nil
}

// SignOut ends a sign-in. Repeating it is not an error.
func (s *Service) SignOut(ctx context.Context, p workspaces.Principal, token string) error {
	return deleteSignIn(ctx, s.DB, p.TenantID, hashToken(token))
}

// List lists the people of the caller's tenant, the last to have signed in first. Errors: Forbidden
// auth-scope.
func (s *Service) List(ctx context.Context, p workspaces.Principal, params postgres.PageParams) ([]Person, string, error) {
	if err := p.RequireWholeTenant(); err != nil {
		return nil, "", err
	}
	params.Order = postgres.NewestFirst
	params.Filters = []string{string(p.TenantID)}
	now := s.timestamp()
	return listPeople(ctx, s.DB, p.TenantID, params, now, s.seenAfter(now))
}

// Get returns a person. Errors: NotFound.
func (s *Service) Get(ctx context.Context, p workspaces.Principal, id ID) (Person, error) {
	if !idgen.Valid(idgen.Person, string(id)) {
		return Person{}, fault.NoSuch("person", string(id))
	}
	now := s.timestamp()
	return selectPerson(ctx, s.DB, p.TenantID, id, now, s.seenAfter(now))
}

// Change changes what is not nil.
type Change struct {
	// AssignedRole empty goes back to the role that the groups give.
	AssignedRole *workspaces.Role
	// Disabled true also ends all sign-ins.
	Disabled *bool
}

// Update changes a person. Errors: NotFound, Precondition person-is-last-owner when a person asks
// for a change after which nobody is an owner.
func (s *Service) Update(ctx context.Context, p workspaces.Principal, id ID, change Change) (Person, error) {
	err := postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		person, err := lockPerson(ctx, tx, p.TenantID, id)
		if err != nil {
			return err
		}
		was := person.isOwner()
		if change.AssignedRole != nil {
			person.AssignedRole = *change.AssignedRole
		}
		if change.Disabled != nil {
			person.Disabled = *change.Disabled
		}
		if was && !person.isOwner() {
			if err := s.checkOwnersTx(ctx, tx, p, id); err != nil {
				return err
			}
		}
		if person.Disabled {
			if err := deleteSignIns(ctx, tx, p.TenantID, id); err != nil {
				return err
			}
		}
		return updatePerson(ctx, tx, person, "assigned_role", "disabled")
	})
	if err != nil {
		return Person{}, err
	}
	return s.Get(ctx, p, id)
}

// Delete signs a person out and forgets them. Repeating it is not an error. Errors: as Update.
func (s *Service) Delete(ctx context.Context, p workspaces.Principal, id ID) error {
	now := s.timestamp()
	return postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		person, err := lockPerson(ctx, tx, p.TenantID, id)
		if fault.ReasonOf(err) == fault.ResourceNotFound {
			return s.Workspaces.Gone(ctx, tx, p.TenantID, "person", string(id))
		}
		if err != nil {
			return err
		}
		if person.isOwner() {
			if err := s.checkOwnersTx(ctx, tx, p, id); err != nil {
				return err
			}
		}
		if err := deletePerson(ctx, tx, p.TenantID, id); err != nil {
			return err
		}
		return s.Workspaces.Bury(ctx, tx, p.TenantID, string(id), now)
	})
}

// checkOwnersTx refuses a person who would leave the tenant without an owner, which nobody could
// undo from the console. A key is another way in, so its owner may. The caller holds the lock of
// lockPerson.
func (s *Service) checkOwnersTx(ctx context.Context, tx bun.Tx, p workspaces.Principal, without ID) error {
	if p.PersonID == "" {
		return nil
	}
	others, err := hasOtherOwner(ctx, tx, p.TenantID, without)
	if err != nil || others {
		return err
	}
	return fault.New(fault.PersonIsLastOwner, "%s is the last owner. Give somebody else the role owner first.", without)
}
