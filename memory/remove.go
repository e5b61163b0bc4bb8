package memory

import (
	"context"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Remove is Delete of one memory for an operator; repeating it is not an error. Errors: NotFound for what the user
// never had.
func (s *Service) Remove(ctx context.Context, ref workspaces.Ref, userID string, id ID) error {
	now := s.timestamp()
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		user, known, err := lockKnown(ctx, tx, ref, userID)
		if err != nil {
			return err
		}
		var deleted []ID
		if known {
			if deleted, err = deleteItems(ctx, tx, ref, &user, []ID{id}); err != nil {
				return err
			}
		}
		if len(deleted) == 0 {
			return s.workspaces.Gone(ctx, tx, ref.TenantID, "memory", buriedAs(userID, id))
		}
		if err := s.workspaces.Bury(ctx, tx, ref.TenantID, buriedAs(userID, id), now); err != nil {
			return err
		}
		user.ForgottenAt = now
		return finish(ctx, tx, ref, user, now)
	})
	s.recalled.forget(ref, userID)
	if fault.IsReason(err, fault.ResourceNotFound) {
		return fault.NoSuch("memory", string(id))
	}
	return err
}

// buriedAs is the tombstone of a user's memory: of nobody else's path, and without telling who it was.
func buriedAs(userID string, id ID) string { return string(id) + " " + digest(string(id)+"\n"+userID) }
