package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/workspaces"
)

// learntMost bounds what is told of one session. Source: events.proto, CallMemory.learnt.
const learntMost = 100

// Fact is what was found in a session when it was over, and when it was said.
type Fact struct {
	AddParams
	SaidAt time.Time
}

// ForgottenAt is when something of the user's was forgotten last: what was said before is not to be taken
// down. Zero: never.
func (s *Service) ForgottenAt(ctx context.Context, ref workspaces.Ref, userID string) (time.Time, error) {
	var users []userRow
	err := s.db.NewSelect().Model(&users).Where("u.tenant_id = ?", ref.TenantID).Where("u.workspace_id = ?", ref.ID).
		Where("u.user_id = ?", userID).Scan(ctx)
	if err != nil || len(users) == 0 {
		return time.Time{}, err
	}
	return users[0].ForgottenAt, nil
}

// LearnTx remembers facts of a session within the caller's transaction. A fact is left out when something was
// forgotten since it was said, when what is known of the same thing is newer, or when there is no room. It has
// its vector made later.
func (s *Service) LearnTx(ctx context.Context, tx bun.Tx, ref workspaces.Ref, userID string, facts []Fact, now time.Time) error {
	if len(facts) == 0 || !validUser(userID) {
		return nil
	}
	user, err := lockUser(ctx, tx, ref, userID, now)
	if err != nil {
		return err
	}
	for _, fact := range facts {
		p, err := fact.normal(now)
		if err != nil || !fact.SaidAt.After(user.ForgottenAt) {
			continue
		}
		p.UserID, p.CreatedBy = userID, ByExtraction
		slot, _ := slotOf(p.Kind, p.Text, p.Category, p.Attribute)
		there, err := selectSlot(ctx, tx, ref, userID, slot)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(there, func(item Item) bool { return item.UpdatedAt.After(fact.SaidAt) || item.Meaning == meaningOf(p.Text) }) {
			continue
		}
		if _, err := s.keep(ctx, tx, ref, &user, p, ID(idgen.New(idgen.Memory)), nil, now); err != nil && !fault.IsReason(err, fault.MemoryFull) {
			return err
		}
	}
	return finish(ctx, tx, ref, user, now)
}

// LearntTx is what a session has left in its user's memory, oldest first.
func LearntTx(ctx context.Context, tx bun.IDB, ref workspaces.Ref, userID, sessionID string) (items []Item, err error) {
	err = ofUser(tx.NewSelect().Model(&items), ref, userID).Where("m.session_id = ?", sessionID).Where("m.session_id <> ''").
		Where("m.status <> ?", Superseded).OrderExpr("m.created_at, m.id").Limit(learntMost).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what was learnt: %w", err)
	}
	return items, nil
}

// Grounded says whether a text has one of the words that somebody said, other than words that everybody says.
func Grounded(text, said string) bool {
	has := map[string]bool{}
	for _, stem := range stemsOf(said) {
		has[stem] = true
	}
	return slices.ContainsFunc(stemsOf(text), func(stem string) bool { return stem != "not" && has[stem] })
}
