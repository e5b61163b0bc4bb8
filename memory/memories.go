package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Outcome is the result of adding a memory.
type Outcome string

// The outcomes.
const (
	// Added: it is new.
	Added Outcome = "added"
	// Replaced: it is new, and superseded another one.
	Replaced Outcome = "replaced"
	// Renewed: there was one with the same meaning already.
	Renewed Outcome = "renewed"
)

// Kept is a memory after it was written.
type Kept struct {
	Item
	Outcome Outcome
	// Before is the text of the superseded memory.
	Before string
}

// Add adds a memory. Errors: Invalid invalid-request, Precondition memory-full.
func (s *Service) Add(ctx context.Context, ref workspaces.Ref, p AddParams) (Kept, error) {
	now := s.timestamp()
	p, err := p.normalize(now)
	if err != nil {
		return Kept{}, err
	}
	id := p.id
	if id == "" {
		id = ID(idgen.In(ctx, idgen.Memory))
	}
	vector := s.embedDocument(ctx, p.Text)
	var kept Kept
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		user, err := lockUser(ctx, tx, ref, p.UserID, now)
		if err != nil {
			return err
		}
		kept, err = s.addTx(ctx, tx, ref, &user, p, id, vector, now)
		if err != nil {
			return err
		}
		return finish(ctx, tx, ref, user, now)
	})
	if err == nil {
		s.recalled.forget(ref, p.UserID)
		return kept, nil
	}
	if made, findErr := selectItem(ctx, s.db, ref, p.UserID, id, noLock); findErr == nil { // a repeated request: see idgen.In
		return Kept{Item: made, Outcome: Added}, nil
	}
	return Kept{}, err
}

// addTx adds a memory. The row of the user is locked, and its count is updated.
func (s *Service) addTx(
	ctx context.Context, tx bun.Tx, ref workspaces.Ref, user *userRow, p AddParams, id ID, vector *modelVector, now time.Time,
) (Kept, error) {
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
			if _, err := deleteItems(ctx, tx, ref, user, []ID{other.ID}); err != nil {
				return Kept{}, err
			}
		case other.Meaning == item.Meaning && (other.Status == Active || item.Status == Pending):
			return renew(ctx, tx, ref, other, p, now)
		case item.Status == Active || other.Status == Pending:
			replaced = append(replaced, other)
		}
	}
	if user.Memories-len(replaced) >= s.maxPerUser {
		return Kept{}, errFull(s.maxPerUser)
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

func errFull(limit int) *fault.Error {
	return fault.New(fault.MemoryFull, "Nothing more can be remembered of this user: there are %d memories already. "+
		"Forget what is no longer needed first.", limit)
}

// renew updates an existing memory with the same meaning.
func renew(ctx context.Context, tx bun.Tx, ref workspaces.Ref, there Item, p AddParams, now time.Time) (Kept, error) {
	there.UpdatedAt = now
	there.Confidence = max(there.Confidence, p.Confidence)
	for _, tag := range p.Tags {
		same := func(other string) bool { return strings.EqualFold(other, tag) }
		if len(there.Tags) < MaxTags && !slices.ContainsFunc(there.Tags, same) {
			there.Tags = append(there.Tags, tag)
		}
	}
	if !there.ExpiresAt.IsZero() && (p.ExpiresAt.IsZero() || p.ExpiresAt.After(there.ExpiresAt)) {
		there.ExpiresAt = p.ExpiresAt
	}
	err := updateItem(ctx, tx, ref, there, "updated_at", "confidence", "tags", "expires_at")
	return Kept{Item: there, Outcome: Renewed}, err
}

// Get returns a memory of a user. Errors: NotFound.
func (s *Service) Get(ctx context.Context, ref workspaces.Ref, userID string, id ID) (Item, error) {
	return selectItem(ctx, s.db, ref, userID, id, noLock)
}

// UpdateParams are the fields to change. nil keeps a field.
type UpdateParams struct {
	Text, Category, Attribute *string
	Tags                      *[]string
	Confidence                *float64
	// ExpiresAt zero means never.
	ExpiresAt *time.Time
}

// Update corrects a memory. Errors: NotFound, Invalid invalid-request, AlreadyExists name-taken.
func (s *Service) Update(ctx context.Context, ref workspaces.Ref, userID string, id ID, p UpdateParams) (Item, error) {
	before, err := s.Get(ctx, ref, userID, id)
	if err != nil {
		return Item{}, err
	}
	now := s.timestamp()
	text := before.Text
	if p.Text != nil {
		text = strings.TrimSpace(*p.Text)
	}
	vector := s.embedDocument(ctx, text)
	var item Item
	err = s.change(ctx, ref, userID, id, now, func(ctx context.Context, tx bun.Tx, _ *userRow, there Item) error {
		if there.Status == Superseded {
			return fault.InvalidField("memory_id", "superseded",
				"%s is history: correct the one that took its place, %s.", id, there.SupersededBy)
		}
		item = there
		set(&item.Text, p.Text)
		set(&item.Category, p.Category)
		set(&item.Attribute, p.Attribute)
		set(&item.Tags, p.Tags)
		set(&item.Confidence, p.Confidence)
		set(&item.ExpiresAt, p.ExpiresAt)
		checked := AddParams{
			UserID: userID, Kind: item.Kind, Text: item.Text, Category: item.Category, Attribute: item.Attribute,
			Tags: item.Tags, Confidence: item.Confidence,
		}
		if p.ExpiresAt != nil {
			checked.ExpiresAt = item.ExpiresAt
		}
		checked, err := checked.normalize(now)
		if err != nil {
			return err
		}
		item.Text, item.Category, item.Tags, item.UpdatedAt = checked.Text, checked.Category, checked.Tags, now
		item.Meaning = meaningOf(item.Text)
		item.Slot, item.Attribute = slotOf(item.Kind, item.Text, checked.Category, checked.Attribute)
		err = updateItem(ctx, tx, ref, item,
			"text", "category", "attribute", "tags", "confidence", "expires_at", "updated_at", "slot", "meaning")
		if postgres.IsUnique(err, "memories_by_slot") {
			return fault.Wrap(err, fault.NameTaken,
				"Another memory of this user is about the same thing already. Correct or delete that one.")
		}
		if err != nil {
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

// Approve makes a pending memory active. It supersedes the active one of the slot. Errors:
// NotFound, Invalid invalid-request.
func (s *Service) Approve(ctx context.Context, ref workspaces.Ref, userID string, id ID) (Item, error) {
	before, err := s.Get(ctx, ref, userID, id)
	if err != nil {
		return Item{}, err
	}
	vector := s.embedDocument(ctx, before.Text)
	now := s.timestamp()
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

// Delete deletes memories of a user with those that they superseded. It ignores ids that do not
// exist, and returns the ids of what it deleted.
func (s *Service) Delete(ctx context.Context, ref workspaces.Ref, userID string, ids ...ID) (deleted []ID, err error) {
	if !validUser(userID) || len(ids) == 0 {
		return nil, nil
	}
	now := s.timestamp()
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		user, known, err := lockExisting(ctx, tx, ref, userID)
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

// DeleteAll deletes all memories of a user, and returns their number, superseded ones included.
func (s *Service) DeleteAll(ctx context.Context, ref workspaces.Ref, userID string) (count int, err error) {
	if !validUser(userID) {
		return 0, nil
	}
	now := s.timestamp()
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

// Erase deletes everything about a user in the transaction of the caller, for requests to be
// erased. The caller first deletes sessions of the user that memories are still to be extracted
// from.
func (s *Service) Erase(ctx context.Context, tx bun.Tx, ref workspaces.Ref, userID string) error {
	if _, err := deleteAll(ctx, tx, ref, userID); err != nil {
		return err
	}
	if err := deleteUser(ctx, tx, ref, userID); err != nil {
		return err
	}
	return notify(ctx, tx, ref, userID)
}

// changeFunc changes a memory whose user is locked.
type changeFunc func(ctx context.Context, tx bun.Tx, user *userRow, there Item) error

// change runs fn on a memory. Errors: NotFound, those of fn.
func (s *Service) change(ctx context.Context, ref workspaces.Ref, userID string, id ID, now time.Time, fn changeFunc) error {
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		user, known, err := lockExisting(ctx, tx, ref, userID)
		if err != nil {
			return err
		}
		if !known {
			return fault.NoSuch("memory", string(id))
		}
		there, err := selectItem(ctx, tx, ref, userID, id, lockForUpdate)
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

// List lists the memories of a user, newest first. An unknown user has none. Errors: Invalid
// invalid-request.
func (s *Service) List(ctx context.Context, ref workspaces.Ref, p ListParams) ([]Item, string, error) {
	p.Page.Order = postgres.NewestFirst
	p.Page.Filters = []string{
		string(ref.TenantID), string(ref.ID), p.UserID, string(p.Kind), p.Category, string(p.Status), p.Query,
	}
	page, err := postgres.NewPage(p.Page)
	if err != nil {
		return nil, "", err
	}
	if !validUser(p.UserID) {
		return nil, "", nil
	}
	items, err := selectItems(ctx, s.db, ref, p, page, s.timestamp())
	if err != nil {
		return nil, "", fmt.Errorf("list memories: %w", err)
	}
	items, next := postgres.Cut(page, items, func(i Item) postgres.Key {
		return postgres.Key{CreatedAt: i.CreatedAt, ID: string(i.ID)}
	})
	return items, next, nil
}

// allIDs returns the ids of the memories of a user, newest first, at most maxAnswerIDs.
func (s *Service) allIDs(ctx context.Context, ref workspaces.Ref, userID string) (ids []ID, err error) {
	err = ofUser(s.db.NewSelect().Model((*Item)(nil)).Column("id"), ref, userID).
		OrderExpr("m.created_at DESC").Limit(maxAnswerIDs).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("list ids of memories: %w", err)
	}
	return ids, nil
}

// maxAnswerIDs bounds the ids in the answer of a tool.
const maxAnswerIDs = 200
