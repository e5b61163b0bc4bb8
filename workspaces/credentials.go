package workspaces

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
)

// CredentialID names a provider credential (cred_…).
type CredentialID string

// CredentialKind is what a credential is for.
type CredentialKind string

// The kinds.
const (
	CredentialModel     CredentialKind = "model"
	CredentialSTT       CredentialKind = "stt"
	CredentialTTS       CredentialKind = "tts"
	CredentialTelephony CredentialKind = "telephony"
)

// Credential is the key of a workspace at an outside party.
type Credential struct {
	bun.BaseModel `bun:"table:provider_credentials,alias:c"`

	ID          CredentialID   `bun:"id,pk"`
	TenantID    TenantID       `bun:"tenant_id"`
	WorkspaceID ID             `bun:"workspace_id"`
	Kind        CredentialKind `bun:"kind"`
	Provider    string         `bun:"provider"`
	Name        string         `bun:"name"`
	// BaseURL is the server. Empty means that of the provider.
	BaseURL string `bun:"base_url"`
	// AccountID is the account SID of Twilio.
	AccountID string `bun:"account_id"`
	// DefaultModel is used for agents that name no model. Empty means the default of the provider.
	DefaultModel string `bun:"default_model"`
	// SealedKey is sealed for (tenant, credential, api_key).
	SealedKey  []byte    `bun:"api_key"`
	APIKeyHint string    `bun:"api_key_hint"`
	CreatedAt  time.Time `bun:"created_at"`
	UpdatedAt  time.Time `bun:"updated_at"`
}

// binding binds the sealed key to its row.
func (c Credential) binding() seal.Binding {
	return seal.Binding{TenantID: string(c.TenantID), Record: string(c.ID), Field: "api_key"}
}

// CredentialTest is the result of a call with a credential.
type CredentialTest struct {
	OK bool
	// Detail describes the result in a sentence, without the key.
	Detail string
	// Model is the model that answered, as the provider names it.
	Model string
	Took  time.Duration
}

// CredentialTester makes one small call with a credential.
type CredentialTester interface {
	TestCredential(ctx context.Context, c Credential, apiKey seal.Secret) (CredentialTest, error)
}

// CredentialDeps is what Credentials works with. All but Now are required.
type CredentialDeps struct {
	DB         *postgres.DB
	Workspaces *Service
	Keys       *seal.Keyring
	Guard      *publicnet.Guard
	// Now is the clock. nil means time.Now.
	Now func() time.Time
}

// Credentials manages the keys of workspaces at outside parties. Safe for concurrent use.
type Credentials struct {
	db         *postgres.DB
	workspaces *Service
	keys       *seal.Keyring
	guard      *publicnet.Guard
	now        func() time.Time
}

// NewCredentials makes the service.
func NewCredentials(d CredentialDeps) *Credentials {
	c := &Credentials{db: d.DB, workspaces: d.Workspaces, keys: d.Keys, guard: d.Guard, now: d.Now}
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

func (s *Credentials) timestamp() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// CreateCredentialParams is a new credential. Kind, Provider and APIKey are required.
type CreateCredentialParams struct {
	Kind         CredentialKind
	Provider     string
	Name         string
	BaseURL      string
	AccountID    string
	DefaultModel string
	APIKey       seal.Secret
}

// Create stores a credential. Errors: AlreadyExists name-taken, Invalid invalid-request.
func (s *Credentials) Create(ctx context.Context, ref Ref, p CreateCredentialParams) (Credential, error) {
	now := s.timestamp()
	c := Credential{
		ID: CredentialID(idgen.New(idgen.Credential)), TenantID: ref.TenantID, WorkspaceID: ref.ID, Kind: p.Kind, Provider: p.Provider,
		Name: p.Name, BaseURL: p.BaseURL, AccountID: p.AccountID, DefaultModel: p.DefaultModel, CreatedAt: now, UpdatedAt: now,
	}
	if err := s.check(c); err != nil {
		return Credential{}, err
	}
	if err := s.sealKey(ctx, &c, p.APIKey); err != nil {
		return Credential{}, err
	}
	err := insert(ctx, s.db, &c)
	if postgres.IsUnique(err, "provider_credentials_one") {
		return Credential{}, fault.OnField(fault.NameTaken, "provider",
			"The workspace has a %s credential for %s: change that one, or delete it first.", p.Kind, p.Provider)
	}
	return c, err
}

// Open decrypts the key of a credential, which may be deleted.
func (s *Credentials) Open(ctx context.Context, c Credential) (seal.Secret, error) {
	key, err := s.keys.Open(ctx, c.SealedKey, c.binding())
	if err != nil {
		return "", fmt.Errorf("open the key of %s: %w", c.ID, err)
	}
	return seal.Secret(key), nil
}

// Get returns one credential. Errors: NotFound.
func (s *Credentials) Get(ctx context.Context, ref Ref, id CredentialID) (Credential, error) {
	return selectCredential(ctx, s.db, ref, id, noLock)
}

// List lists the workspace's credentials, oldest first. Errors: Invalid invalid-request.
func (s *Credentials) List(ctx context.Context, ref Ref, params postgres.PageParams) ([]Credential, string, error) {
	params.Filters = []string{string(ref.TenantID), string(ref.ID)}
	return listCredentials(ctx, s.db, ref, params)
}

// UpdateCredentialParams changes the fields that are not nil. A BaseURL on another server needs an
// APIKey.
type UpdateCredentialParams struct {
	Name         *string
	BaseURL      *string
	AccountID    *string
	DefaultModel *string
	APIKey       *seal.Secret
}

// apply changes the fields that are not nil, except the key.
func (p UpdateCredentialParams) apply(c *Credential) {
	changes := map[*string]*string{
		&c.Name: p.Name, &c.BaseURL: p.BaseURL, &c.AccountID: p.AccountID, &c.DefaultModel: p.DefaultModel,
	}
	for field, value := range changes {
		if value != nil {
			*field = *value
		}
	}
}

// recipient is where the key is sent.
func (c Credential) recipient() Recipient {
	return Recipient{URL: c.BaseURL, URLField: "base_url", Sealed: c.SealedKey, SecretField: "api_key"}
}

// Update changes a credential. Errors: NotFound, Invalid invalid-request.
func (s *Credentials) Update(ctx context.Context, ref Ref, id CredentialID, p UpdateCredentialParams) (Credential, error) {
	c, err := selectCredential(ctx, s.db, ref, id, noLock)
	if err != nil {
		return Credential{}, err
	}
	fresh := c
	if p.APIKey != nil { // before the transaction: sealing may read the database
		if err := s.sealKey(ctx, &fresh, *p.APIKey); err != nil {
			return Credential{}, err
		}
	}
	now := s.timestamp()
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
		if c, err = selectCredential(ctx, tx, ref, id, lockForUpdate); err != nil {
			return err
		}
		stored := c.recipient()
		p.apply(&c)
		if p.APIKey != nil {
			c.SealedKey, c.APIKeyHint = fresh.SealedKey, fresh.APIKeyHint
		}
		c.UpdatedAt = now
		if err := c.recipient().CheckMove(stored); err != nil {
			return err
		}
		if err := s.check(c); err != nil {
			return err
		}
		return updateCredential(ctx, tx, c)
	})
	return c, err
}

// Delete deletes a credential. Repeating it is not an error. Errors: NotFound.
func (s *Credentials) Delete(ctx context.Context, ref Ref, id CredentialID) error {
	now := s.timestamp()
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		deleted, err := deleteCredential(ctx, tx, ref, id)
		if err != nil {
			return err
		}
		if deleted {
			return s.workspaces.Bury(ctx, tx, ref.TenantID, string(id), now)
		}
		return s.workspaces.Gone(ctx, tx, ref.TenantID, "provider credential", string(id))
	})
}

// Test makes one small call with a credential. Errors: NotFound.
func (s *Credentials) Test(ctx context.Context, ref Ref, id CredentialID, tester CredentialTester) (CredentialTest, error) {
	c, err := selectCredential(ctx, s.db, ref, id, noLock)
	if err != nil {
		return CredentialTest{}, err
	}
	key, err := s.Open(ctx, c)
	if err != nil {
		return CredentialTest{}, err
	}
	return tester.TestCredential(ctx, c, key)
}

// Opened is a credential with its key.
type Opened struct {
	Credential
	APIKey seal.Secret
}

// HasModels is a statement for [postgres.DB.Pipeline]. It sets has to whether the workspace has
// model credentials.
func (s *Credentials) HasModels(ref Ref, has *bool) postgres.Step {
	return postgres.Step{
		SQL:  "SELECT EXISTS (SELECT FROM provider_credentials AS c WHERE c.tenant_id = $1 AND c.workspace_id = $2 AND c.kind = $3)",
		Args: []any{string(ref.TenantID), string(ref.ID), string(CredentialModel)},
		Row:  func(scan func(into ...any) error) error { return scan(has) },
	}
}

// OfKind returns the credentials of the workspace for a kind with their keys, by provider. It reads
// Postgres each time, so that a change takes effect at once on every node.
func (s *Credentials) OfKind(ctx context.Context, ref Ref, kind CredentialKind) (map[string]Opened, error) {
	found, err := selectOfKind(ctx, s.db, ref, kind)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	opened := make(map[string]Opened, len(found))
	for _, c := range found {
		key, err := s.Open(ctx, c)
		if err != nil {
			return nil, err
		}
		opened[c.Provider] = Opened{Credential: c, APIKey: key}
	}
	return opened, nil
}
