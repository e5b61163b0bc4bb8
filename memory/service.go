package memory

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/cache"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/workspaces"
)

// embedTimeout bounds the embedding of what is written or asked for; then it goes on without a vector.
// Source: field, WeKnora.
const embedTimeout = 2 * time.Second

// Deps is what a Service works with. DB, Embedder, Workspaces and Agents are required.
type Deps struct {
	DB       *postgres.DB
	Embedder embedding.Embedder
	// Workspaces remembers what was deleted.
	Workspaces *workspaces.Service
	// Agents says which categories an agent's users have to confirm.
	Agents *agents.Service
	// MaxPerUser bounds a user's memories; 0 is DefaultMaxPerUser.
	MaxPerUser int
	// CacheBytes bounds the codes that the process keeps; 0 is 96 MiB.
	CacheBytes int
	// Log may be nil.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Service is memories and users. Safe for concurrent use.
type Service struct {
	db         *postgres.DB
	embedder   embedding.Embedder
	workspaces *workspaces.Service
	agents     *agents.Service
	most       int
	log        *slog.Logger
	now        func() time.Time
	recalled   recalled
	codes      *cache.Cache[codesKey, codes]
	// growing is held while codes in the cache are appended to.
	growing sync.Mutex
	// expected are users who will speak soon.
	expected chan expected

	mu     sync.Mutex
	agreed AgreedFunc
}

// New makes the service.
func New(d Deps) *Service {
	s := &Service{db: d.DB, embedder: d.Embedder, workspaces: d.Workspaces, agents: d.Agents, most: d.MaxPerUser, log: d.Log, now: d.Now, codes: cache.NewSized[codesKey](cmp.Or(d.CacheBytes, defaultCacheBytes), codes.bytes), expected: make(chan expected, expectedMost)}
	if s.most == 0 {
		s.most = DefaultMaxPerUser
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// moment is now as Postgres keeps it.
func (s *Service) moment() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// Outcome is what became of something that was to be remembered.
type Outcome string

// The outcomes.
const (
	// Added is new; Replaced is new, and what it contradicts is history.
	Added    Outcome = "added"
	Replaced Outcome = "replaced"
	// Renewed was there already, in these words or others.
	Renewed Outcome = "renewed"
)

// Kept is a memory after it was written.
type Kept struct {
	Item
	Outcome Outcome
	// Before is the text that was superseded.
	Before string
}

// Add remembers something: see Kept. Errors: Invalid invalid-request, Precondition memory-full.
func (s *Service) Add(ctx context.Context, ref workspaces.Ref, p AddParams) (Kept, error) {
	now := s.moment()
	p, err := p.normal(now)
	if err != nil {
		return Kept{}, err
	}
	id := p.id
	if id == "" {
		id = ID(idgen.In(ctx, idgen.Memory))
	}
	vector := s.vectorFor(ctx, p.Text)
	var kept Kept
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		user, err := lockUser(ctx, tx, ref, p.UserID, now)
		if err != nil {
			return err
		}
		kept, err = s.keep(ctx, tx, ref, &user, p, id, vector, now)
		if err != nil {
			return err
		}
		return finish(ctx, tx, ref, user, now)
	})
	if err == nil {
		s.recalled.forget(ref, p.UserID)
		return kept, nil
	}
	if made, findErr := selectItem(ctx, s.db, ref, p.UserID, id, ""); findErr == nil { // see idgen.In
		return Kept{Item: made, Outcome: Added}, nil
	}
	return Kept{}, err
}

// keep writes one memory; user is locked, and counts what it does.
func (s *Service) keep(ctx context.Context, tx bun.Tx, ref workspaces.Ref, user *userRow, p AddParams, id ID, vector *modelVector, now time.Time) (Kept, error) {
	item := Item{
		ID: id, TenantID: ref.TenantID, WorkspaceID: ref.ID, UserID: p.UserID, Kind: p.Kind, Status: Active, Text: p.Text,
		Category: p.Category, Tags: p.Tags, Confidence: p.Confidence, Meaning: meaningOf(p.Text), CreatedBy: p.CreatedBy,
		AgentID: p.AgentID, SessionID: p.SessionID, TurnID: p.TurnID, ExpiresAt: p.ExpiresAt, CreatedAt: now, UpdatedAt: now,
	}
	if p.Pending {
		item.Status = Pending
	}
	item.Slot, item.Attribute = slotOf(p.Kind, p.Text, p.Category, p.Attribute)
	if item.Kind == Statement && item.Category == "" {
		item.Category = categoryOf(item.Attribute, item.Text)
	}
	there, err := selectSlot(ctx, tx, ref, p.UserID, item.Slot)
	if err != nil {
		return Kept{}, err
	}
	kept := Kept{Item: item, Outcome: Added}
	var replaced []Item
	for _, other := range there {
		switch {
		case other.expired(now):
			if err := removeOne(ctx, tx, ref, user, other); err != nil {
				return Kept{}, err
			}
		case other.Meaning == item.Meaning && (other.Status == Active || item.Status == Pending):
			return renew(ctx, tx, ref, other, p, now)
		case item.Status == Active || other.Status == Pending:
			replaced = append(replaced, other)
		}
	}
	if user.Memories-len(replaced) >= s.most {
		return Kept{}, errFull(s.most)
	}
	for _, other := range replaced {
		kept.Outcome = Replaced
		if other.Status == Active {
			kept.Before = other.Text
		}
		if err := supersede(ctx, tx, ref, other, item.ID, now); err != nil {
			return Kept{}, err
		}
	}
	if err := insertItem(ctx, tx, item); err != nil {
		return Kept{}, err
	}
	user.Memories += 1 - len(replaced)
	if err := putVector(ctx, tx, item, vector, now); err != nil {
		return Kept{}, err
	}
	if len(replaced) > 0 {
		err = trimHistory(ctx, tx, ref, item)
	}
	return kept, err
}

func errFull(most int) *fault.Error {
	return fault.New(fault.MemoryFull, "Nothing more can be remembered of this user: there are %d memories already. Forget what is no longer needed first.", most)
}

// renew makes a memory that says the same the newest.
func renew(ctx context.Context, tx bun.Tx, ref workspaces.Ref, there Item, p AddParams, now time.Time) (Kept, error) {
	there.UpdatedAt = now
	there.Confidence = max(there.Confidence, p.Confidence)
	for _, tag := range p.Tags {
		if len(there.Tags) < MaxTags && !hasFold(there.Tags, tag) {
			there.Tags = append(there.Tags, tag)
		}
	}
	if !there.ExpiresAt.IsZero() && (p.ExpiresAt.IsZero() || p.ExpiresAt.After(there.ExpiresAt)) {
		there.ExpiresAt = p.ExpiresAt
	}
	return Kept{Item: there, Outcome: Renewed}, updateItem(ctx, tx, ref, there, "updated_at", "confidence", "tags", "expires_at")
}

func hasFold(list []string, one string) bool {
	for _, other := range list {
		if strings.EqualFold(other, one) {
			return true
		}
	}
	return false
}

// Get is a memory of the user. Errors: NotFound.
func (s *Service) Get(ctx context.Context, ref workspaces.Ref, userID string, id ID) (Item, error) {
	return selectItem(ctx, s.db, ref, userID, id, "")
}

// UpdateParams are the fields to correct; nil stays as it is.
type UpdateParams struct {
	Text, Category, Attribute *string
	Tags                      *[]string
	Confidence                *float64
	// ExpiresAt of a zero time is never.
	ExpiresAt *time.Time
}

// Update corrects a memory. Errors: NotFound, Invalid invalid-request, AlreadyExists name-taken.
func (s *Service) Update(ctx context.Context, ref workspaces.Ref, userID string, id ID, p UpdateParams) (Item, error) {
	before, err := s.Get(ctx, ref, userID, id)
	if err != nil {
		return Item{}, err
	}
	now := s.moment()
	text := before.Text
	if p.Text != nil {
		text = strings.TrimSpace(*p.Text)
	}
	vector := s.vectorFor(ctx, text)
	var item Item
	err = s.change(ctx, ref, userID, id, now, func(ctx context.Context, tx bun.Tx, _ *userRow, there Item) error {
		if there.Status == Superseded {
			return fault.InvalidField("memory_id", "superseded", "%s is history: correct the one that took its place, %s.", id, there.SupersededBy)
		}
		item = there
		set(&item.Text, p.Text)
		set(&item.Category, p.Category)
		set(&item.Attribute, p.Attribute)
		set(&item.Tags, p.Tags)
		set(&item.Confidence, p.Confidence)
		set(&item.ExpiresAt, p.ExpiresAt)
		checked := AddParams{
			UserID: userID, Kind: item.Kind, Text: item.Text, Category: item.Category, Attribute: item.Attribute, Tags: item.Tags, Confidence: item.Confidence,
		}
		if p.ExpiresAt != nil {
			checked.ExpiresAt = item.ExpiresAt
		}
		checked, err := checked.normal(now)
		if err != nil {
			return err
		}
		item.Text, item.Category, item.Tags, item.UpdatedAt = checked.Text, checked.Category, checked.Tags, now
		item.Meaning = meaningOf(item.Text)
		item.Slot, item.Attribute = slotOf(item.Kind, item.Text, checked.Category, checked.Attribute)
		if err := updateItem(ctx, tx, ref, item, "text", "category", "attribute", "tags", "confidence", "expires_at", "updated_at", "slot", "meaning"); err != nil {
			if postgres.IsUnique(err, "memories_by_slot") {
				return fault.Wrap(err, fault.NameTaken, "Another memory of this user is about the same thing already. Correct or delete that one.")
			}
			return err
		}
		if item.Text == there.Text || item.Status != Active {
			return nil
		}
		return putVector(ctx, tx, item, vector, now)
	})
	return item, err
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Approve makes a pending memory active, in place of the one that is. Errors: NotFound, Invalid invalid-request.
func (s *Service) Approve(ctx context.Context, ref workspaces.Ref, userID string, id ID) (Item, error) {
	before, err := s.Get(ctx, ref, userID, id)
	if err != nil {
		return Item{}, err
	}
	vector := s.vectorFor(ctx, before.Text)
	now := s.moment()
	var item Item
	err = s.change(ctx, ref, userID, id, now, func(ctx context.Context, tx bun.Tx, user *userRow, there Item) error {
		item = there
		if there.Status == Active {
			return nil
		}
		if there.Status == Superseded {
			return fault.InvalidField("memory_id", "superseded", "%s is history: %s took its place.", id, there.SupersededBy)
		}
		others, err := selectSlot(ctx, tx, ref, userID, there.Slot)
		if err != nil {
			return err
		}
		for _, other := range others {
			if other.Status == Active {
				if err := supersede(ctx, tx, ref, other, id, now); err != nil {
					return err
				}
				user.Memories--
			}
		}
		item.Status, item.UpdatedAt = Active, now
		if err := updateItem(ctx, tx, ref, item, "status", "updated_at"); err != nil {
			return err
		}
		return putVector(ctx, tx, item, vector, now)
	})
	return item, err
}

// Delete deletes memories of the user with what they superseded, and says which there were. One that is
// not there is passed over.
func (s *Service) Delete(ctx context.Context, ref workspaces.Ref, userID string, ids ...ID) (deleted []ID, err error) {
	if !validUser(userID) || len(ids) == 0 {
		return nil, nil
	}
	now := s.moment()
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		user, known, err := lockKnown(ctx, tx, ref, userID)
		if err != nil || !known {
			return err
		}
		if deleted, err = deleteItems(ctx, tx, ref, &user, ids); err != nil {
			return err
		}
		if len(deleted) > 0 {
			user.ForgottenAt = now
		}
		return finish(ctx, tx, ref, user, now)
	})
	s.recalled.forget(ref, userID)
	return deleted, err
}

// DeleteAll deletes all memories of the user and says how many there were, history included.
func (s *Service) DeleteAll(ctx context.Context, ref workspaces.Ref, userID string) (count int, err error) {
	if !validUser(userID) {
		return 0, nil
	}
	now := s.moment()
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		user, err := lockUser(ctx, tx, ref, userID, now)
		if err != nil {
			return err
		}
		if count, err = deleteAll(ctx, tx, ref, userID); err != nil {
			return err
		}
		user.Memories, user.ForgottenAt = 0, now
		return finish(ctx, tx, ref, user, now)
	})
	s.recalled.forget(ref, userID)
	return count, err
}

// Erase deletes everything this package knows of a user, within the caller's transaction: for requests to be
// erased. Sessions of the user that still wait for their extraction must be gone before.
func (s *Service) Erase(ctx context.Context, tx bun.Tx, ref workspaces.Ref, userID string) error {
	if _, err := deleteAll(ctx, tx, ref, userID); err != nil {
		return err
	}
	if err := deleteUser(ctx, tx, ref, userID); err != nil {
		return err
	}
	return announce(ctx, tx, ref, userID)
}

// change runs fn on a memory whose user is locked. Errors: NotFound, fn's.
func (s *Service) change(ctx context.Context, ref workspaces.Ref, userID string, id ID, now time.Time, fn func(ctx context.Context, tx bun.Tx, user *userRow, there Item) error) error {
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		user, known, err := lockKnown(ctx, tx, ref, userID)
		if err != nil {
			return err
		}
		if !known {
			return fault.NoSuch("memory", string(id))
		}
		there, err := selectItem(ctx, tx, ref, userID, id, "UPDATE")
		if err != nil {
			return err
		}
		if err := fn(ctx, tx, &user, there); err != nil {
			return err
		}
		return finish(ctx, tx, ref, user, now)
	})
	s.recalled.forget(ref, userID)
	return err
}

// ListParams narrows a list of memories.
type ListParams struct {
	Page   postgres.PageParams
	UserID string
	// Kind, Category and Query narrow it; empty: all.
	Kind     Kind
	Category string
	Query    string
	// Status empty is active and pending.
	Status Status
}

// List lists the memories of a user, newest first; a user never seen has none. Errors: Invalid invalid-request.
func (s *Service) List(ctx context.Context, ref workspaces.Ref, p ListParams) ([]Item, string, error) {
	p.Page.Order = postgres.NewestFirst
	p.Page.Filters = []string{string(ref.TenantID), string(ref.ID), p.UserID, string(p.Kind), p.Category, string(p.Status), p.Query}
	page, err := postgres.NewPage(p.Page)
	if err != nil {
		return nil, "", err
	}
	if !validUser(p.UserID) {
		return nil, "", nil
	}
	items, err := selectItems(ctx, s.db, ref, p, page, s.moment())
	if err != nil {
		return nil, "", fmt.Errorf("list memories: %w", err)
	}
	items, next := postgres.Cut(page, items, func(i Item) postgres.Key { return postgres.Key{CreatedAt: i.CreatedAt, ID: string(i.ID)} })
	return items, next, nil
}
