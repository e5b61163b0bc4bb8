package numbers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/workspaces"
)

// Deps are the dependencies of a Service. Those without another word are required.
type Deps struct {
	DB         *postgres.DB
	Workspaces *workspaces.Service
	Agents     *agents.Service
	// Keys seals the secrets of look-ups.
	Keys *seal.Keyring
	// Guard checks the URLs of look-ups and makes the client that calls them.
	Guard *publicnet.Guard
	// CarrierFunc returns the carrier of a workspace. Errors: Precondition provider-not-configured.
	CarrierFunc func(ctx context.Context, ref workspaces.Ref) (carrier.Carrier, error)
	// WebhookURL is the address of this service that a carrier is to call for a number.
	WebhookURL func(carrierName string, id ID) string
	// LookUpTimeout bounds a look-up; 0 is DefaultLookUpTimeout.
	LookUpTimeout time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Log may be nil.
	Log *slog.Logger
	// Registry may be nil.
	Registry prometheus.Registerer
}

// Service manages numbers and looks callers up. Safe for concurrent use.
type Service struct {
	db         *postgres.DB
	workspaces *workspaces.Service
	agents     *agents.Service
	keys       *seal.Keyring
	guard      *publicnet.Guard
	client     *http.Client
	carrier    func(ctx context.Context, ref workspaces.Ref) (carrier.Carrier, error)
	webhookURL func(carrierName string, id ID) string
	lookups    *prometheus.CounterVec
	now        func() time.Time
	log        *slog.Logger
}

// New makes the service.
func New(d Deps) *Service {
	if d.LookUpTimeout == 0 {
		d.LookUpTimeout = DefaultLookUpTimeout
	}
	s := &Service{
		db: d.DB, workspaces: d.Workspaces, agents: d.Agents, keys: d.Keys, guard: d.Guard,
		client:  d.Guard.Client(publicnet.ClientOptions{Timeout: d.LookUpTimeout}),
		carrier: d.CarrierFunc, webhookURL: d.WebhookURL, lookups: newLookups(d.Registry), now: d.Now, log: d.Log,
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// moment is now with the precision of Postgres.
func (s *Service) moment() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// Create has an agent answer a number: it stores the number with a new secret and tells the carrier
// to call this service. When the carrier refuses or fails, nothing stays stored.
// Errors: Invalid invalid-request (the carrier refuses the number, too), webhook-url-not-https,
// webhook-url-not-public, webhook-url-unresolvable; NotFound (the agent); AlreadyExists name-taken;
// Precondition provider-not-configured; Upstream upstream-failed.
func (s *Service) Create(ctx context.Context, ref workspaces.Ref, p CreateParams) (Minted, error) {
	e164, err := parseNumber(p.PhoneNumber)
	if err != nil {
		return Minted{}, err
	}
	changes := UpdateParams{
		AgentID: &p.AgentID, Name: &p.Name, LookupURL: &p.LookupURL, DynamicVariables: &p.DynamicVariables, Enabled: new(!p.Disabled),
	}
	if err := s.check(ctx, ref, changes); err != nil {
		return Minted{}, err
	}
	calls, err := s.carrier(ctx, ref)
	if err != nil {
		return Minted{}, err
	}
	now := s.moment()
	number := Number{
		ID: ID(idgen.In(ctx, idgen.Number)), TenantID: ref.TenantID, WorkspaceID: ref.ID, PhoneNumber: e164,
		CreatedAt: now, UpdatedAt: now,
	}
	changes.apply(&number)
	minted, err := s.mint(ctx, number)
	if err != nil {
		return Minted{}, err
	}
	if minted, err = s.insert(ctx, ref, minted); err != nil || minted.Configured {
		return minted, err
	}
	return s.configure(ctx, calls, minted)
}

// insert stores a number. A request that is repeated finds its number there: see idgen.In.
func (s *Service) insert(ctx context.Context, ref workspaces.Ref, minted Minted) (Minted, error) {
	err := insertNumber(ctx, s.db, minted.Number)
	if err == nil {
		return minted, nil
	}
	if made, findErr := selectNumber(ctx, s.db, ref, minted.ID); findErr == nil {
		secret, err := s.openSecret(ctx, made)
		if err != nil {
			return Minted{}, err
		}
		urls, err := s.withURLs(ctx, ref, made)
		if err != nil {
			return Minted{}, err
		}
		return Minted{Number: urls[0], Secret: secret}, nil
	}
	if postgres.IsUnique(err, "phone_numbers_number") {
		return Minted{}, fault.OnField(fault.NameTaken, "phone_number",
			"The number is in use already, in this workspace or another one: change it there, or delete it there first.")
	}
	return Minted{}, postgres.MapError(err)
}

// undoTimeout bounds the deletion of a number that the carrier does not have.
const undoTimeout = 5 * time.Second

// configure tells the carrier to call this service for a number, or deletes the number. The number
// is stored before, so that of two requests for one number only one changes the carrier's account.
func (s *Service) configure(ctx context.Context, calls carrier.Carrier, minted Minted) (Minted, error) {
	minted.ConfigureURL = s.webhookURL(calls.Name(), minted.ID)
	if err := calls.Configure(ctx, minted.PhoneNumber, minted.ConfigureURL); err != nil {
		// Also when the caller has gone meanwhile.
		undoing, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
		defer cancel()
		if _, undoErr := deleteNumber(undoing, s.db, minted.Ref(), minted.ID); undoErr != nil {
			return Minted{}, errors.Join(carrierError(err), undoErr)
		}
		return Minted{}, carrierError(err)
	}
	changed, err := s.change(ctx, minted.Ref(), minted.ID, func(n *Number) { n.Configured = true })
	changed.ConfigureURL = minted.ConfigureURL
	return Minted{Number: changed, Secret: minted.Secret}, err
}

// Reconfigure tells a carrier that has forgotten its numbers which addresses to call for them: the
// simulated line keeps nothing from one start to the next. Workspaces with a carrier of another
// name are left out. The error is that of all numbers of which it could not be told.
func (s *Service) Reconfigure(ctx context.Context, carrierName string) error {
	list, err := listConfigured(ctx, s.db)
	if err != nil {
		return err
	}
	var failures []error // one number's error must not keep the others
	for _, n := range list {
		calls, err := s.carrier(ctx, n.Ref())
		if err == nil && calls.Name() == carrierName {
			err = calls.Configure(ctx, n.PhoneNumber, s.webhookURL(carrierName, n.ID))
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("tell the carrier of %s: %w", n.ID, err))
		}
	}
	return errors.Join(failures...)
}

// carrierError is what the caller is told of an error of a carrier.
func carrierError(err error) error {
	if refused, ok := errors.AsType[*carrier.Refused](err); ok {
		return fault.InvalidField("phone_number", "refused", "The carrier does not have the number set up: %s", refused.Message)
	}
	if _, decided := errors.AsType[*fault.Error](err); decided || errors.Is(err, context.Canceled) {
		return err
	}
	return fault.Wrap(err, fault.UpstreamFailed, "The carrier could not be told of the number. Try again.")
}

// check refuses changes that the workspace cannot have.
func (s *Service) check(ctx context.Context, ref workspaces.Ref, p UpdateParams) error {
	if err := p.check(); err != nil {
		return err
	}
	if p.AgentID != nil {
		if known, err := s.hasAgent(ctx, ref, *p.AgentID); err != nil {
			return err
		} else if !known {
			return fault.OnField(fault.ResourceNotFound, "agent_id", "There is no agent %q in this workspace.", *p.AgentID)
		}
	}
	if p.LookupURL != nil && *p.LookupURL != "" {
		return webhooks.CheckURL(ctx, s.guard, "lookup_url", *p.LookupURL)
	}
	return nil
}

// hasAgent reports whether an agent is of the workspace.
func (s *Service) hasAgent(ctx context.Context, ref workspaces.Ref, id agents.ID) (bool, error) {
	if !idgen.Valid(idgen.Agent, string(id)) {
		return false, nil
	}
	unknown, err := s.agents.Unknown(ctx, ref, []string{string(id)})
	return len(unknown) == 0, err
}

// mint gives the number a new secret.
func (s *Service) mint(ctx context.Context, n Number) (Minted, error) {
	secret, err := webhooks.NewSecret()
	if err != nil {
		return Minted{}, err
	}
	n.SealedSecret, err = s.keys.Seal(ctx, []byte(secret.Reveal()), n.binding())
	if err != nil {
		return Minted{}, err
	}
	n.SecretHint = webhooks.SecretHint(secret)
	return Minted{Number: n, Secret: secret}, nil
}

func (s *Service) openSecret(ctx context.Context, n Number) (seal.Secret, error) {
	secret, err := s.keys.Open(ctx, n.SealedSecret, n.binding())
	if err != nil {
		return "", fmt.Errorf("open the secret of %s: %w", n.ID, err)
	}
	return seal.Secret(secret), nil
}

// Get returns a number. Errors: NotFound.
func (s *Service) Get(ctx context.Context, ref workspaces.Ref, id ID) (Number, error) {
	number, err := selectNumber(ctx, s.db, ref, id)
	if err != nil {
		return Number{}, err
	}
	return s.withURL(ctx, number)
}

// Find returns a number of any tenant, for a webhook of a carrier. It has no ConfigureURL.
// Errors: NotFound.
func (s *Service) Find(ctx context.Context, id ID) (Number, error) {
	return selectAnyNumber(ctx, s.db, id)
}

// List lists the workspace's numbers, newest first. Errors: Invalid invalid-request.
func (s *Service) List(ctx context.Context, ref workspaces.Ref, params postgres.PageParams) ([]Number, string, error) {
	params.Order = postgres.NewestFirst
	params.Filters = []string{string(ref.TenantID), string(ref.ID)}
	list, next, err := listNumbers(ctx, s.db, ref, params)
	if err != nil {
		return nil, "", err
	}
	list, err = s.withURLs(ctx, ref, list...)
	return list, next, err
}

// withURL sets the ConfigureURL of one number.
func (s *Service) withURL(ctx context.Context, n Number) (Number, error) {
	list, err := s.withURLs(ctx, n.Ref(), n)
	if err != nil {
		return Number{}, err
	}
	return list[0], nil
}

// withURLs sets the ConfigureURL of numbers of a workspace, unless that has no carrier.
func (s *Service) withURLs(ctx context.Context, ref workspaces.Ref, list ...Number) ([]Number, error) {
	if len(list) == 0 {
		return list, nil
	}
	calls, err := s.carrier(ctx, ref)
	if decided, ok := errors.AsType[*fault.Error](err); ok && decided.Reason == fault.ProviderNotConfigured {
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].ConfigureURL = s.webhookURL(calls.Name(), list[i].ID)
	}
	return list, nil
}

// Update changes a number. Errors: as Create, and NotFound.
func (s *Service) Update(ctx context.Context, ref workspaces.Ref, id ID, p UpdateParams) (Number, error) {
	if err := s.check(ctx, ref, p); err != nil {
		return Number{}, err
	}
	changed, err := s.change(ctx, ref, id, p.apply)
	if err != nil {
		return Number{}, err
	}
	return s.withURL(ctx, changed)
}

// RotateSecret gives a number a new secret. The old one signs no more. Errors: NotFound.
func (s *Service) RotateSecret(ctx context.Context, ref workspaces.Ref, id ID) (Minted, error) {
	number, err := selectNumber(ctx, s.db, ref, id) // the seal is bound to its tenant and id
	if err != nil {
		return Minted{}, err
	}
	minted, err := s.mint(ctx, number)
	if err != nil {
		return Minted{}, err
	}
	changed, err := s.change(ctx, ref, id, func(n *Number) {
		n.SealedSecret, n.SecretHint = minted.SealedSecret, minted.SecretHint
	})
	if err != nil {
		return Minted{}, err
	}
	changed, err = s.withURL(ctx, changed)
	return Minted{Number: changed, Secret: minted.Secret}, err
}

// change locks a number and applies a change to it. Errors: NotFound.
func (s *Service) change(ctx context.Context, ref workspaces.Ref, id ID, apply func(*Number)) (Number, error) {
	now := s.moment()
	var number Number
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
		if number, err = lockNumber(ctx, tx, ref, id); err != nil {
			return err
		}
		apply(&number)
		number.UpdatedAt = now
		return updateNumber(ctx, tx, number)
	})
	return number, err
}

// Delete removes a number; the carrier keeps it. A repeat is not an error. Errors: NotFound.
func (s *Service) Delete(ctx context.Context, ref workspaces.Ref, id ID) error {
	now := s.moment()
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		deleted, err := deleteNumber(ctx, tx, ref, id)
		if err != nil {
			return err
		}
		if deleted {
			return s.workspaces.Bury(ctx, tx, ref.TenantID, string(id), now)
		}
		return s.workspaces.Gone(ctx, tx, ref.TenantID, noun, string(id))
	})
}
