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

// maxLearnt bounds the memories that are listed for one session. Source: events.proto,
// CallMemory.learnt.
const maxLearnt = 100

// Fact is a memory that was extracted from a session, and the time when the user said it.
type Fact struct {
	AddParams
	SaidAt time.Time
}

// ForgottenAt is when something of a user was forgotten last. What was said before must not be
// remembered. Zero means never.
func (s *Service) ForgottenAt(ctx context.Context, ref workspaces.Ref, userID string) (time.Time, error) {
	var users []userRow
	err := s.db.NewSelect().Model(&users).Where("u.tenant_id = ?", ref.TenantID).Where("u.workspace_id = ?", ref.ID).
		Where("u.user_id = ?", userID).Scan(ctx)
	if err != nil || len(users) == 0 {
		return time.Time{}, err
	}
	return users[0].ForgottenAt, nil
}

// LearnTx adds facts of a session in the transaction of the caller. It leaves out a fact when
// something was forgotten since it was said, when a newer memory is about the same thing, or when
// the user has too many memories. Sweep embeds the facts.
func (s *Service) LearnTx(ctx context.Context, tx bun.Tx, ref workspaces.Ref, userID string, facts []Fact, now time.Time) error {
	if len(facts) == 0 || !validUser(userID) {
		return nil
	}
	user, err := lockUser(ctx, tx, ref, userID, now)
	if err != nil {
		return err
	}
	for _, fact := range facts {
		p, err := fact.normalize(now)
		if err != nil || !fact.SaidAt.After(user.ForgottenAt) {
			continue
		}
		p.UserID, p.CreatedBy = userID, ByExtraction
		slot, _ := slotOf(p.Kind, p.Text, p.Category, p.Attribute)
		there, err := selectSlot(ctx, tx, ref, userID, slot)
		if err != nil {
			return err
		}
		newer := func(item Item) bool { return item.UpdatedAt.After(fact.SaidAt) || item.Meaning == meaningOf(p.Text) }
		if slices.ContainsFunc(there, newer) {
			continue
		}
		_, err = s.addTx(ctx, tx, ref, &user, p, ID(idgen.New(idgen.Memory)), nil, now)
		if err != nil && !fault.IsReason(err, fault.MemoryFull) {
			return err
		}
	}
	return finish(ctx, tx, ref, user, now)
}

// LearntTx returns the memories that came from a session, oldest first.
func LearntTx(ctx context.Context, tx bun.IDB, ref workspaces.Ref, userID, sessionID string) (items []Item, err error) {
	err = ofUser(tx.NewSelect().Model(&items), ref, userID).Where("m.session_id = ?", sessionID).Where("m.session_id <> ''").
		Where("m.status <> ?", Superseded).OrderExpr("m.created_at, m.id").Limit(maxLearnt).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read memories of a session: %w", err)
	}
	return items, nil
}

// Grounded says whether a text has one of the words that the user said, other than words without
// meaning.
func Grounded(text, said string) bool {
	has := map[string]bool{}
	for _, stem := range stemsOf(said) {
		has[stem] = true
	}
	return slices.ContainsFunc(stemsOf(text), func(stem string) bool { return stem != "not" && has[stem] })
}
