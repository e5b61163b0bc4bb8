package memory

import (
	"context"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Remove deletes one memory for an operator. Repeating it is not an error. Errors: NotFound for a
// memory that the user never had.
func (s *Service) Remove(ctx context.Context, ref workspaces.Ref, userID string, id ID) error {
	now := s.timestamp()
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		user, known, err := lockExisting(ctx, tx, ref, userID)
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
			return s.workspaces.Gone(ctx, tx, ref.TenantID, "memory", tombstone(userID, id))
		}
		if err := s.workspaces.Bury(ctx, tx, ref.TenantID, tombstone(userID, id), now); err != nil {
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

// tombstone identifies a deleted memory of a user, without showing the user id.
func tombstone(userID string, id ID) string { return string(id) + " " + digest(string(id)+"\n"+userID) }
