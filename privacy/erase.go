package privacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/workspaces"
)

// batchSize is how many sessions one transaction deletes.
const batchSize = 100

// DeleteSession deletes a session with everything of it. An open one is ended first. Deleting it
// again is no error. Errors: NotFound, Unavailable unavailable.
func (s *Service) DeleteSession(ctx context.Context, p workspaces.Principal, id sessions.ID) error {
	session, err := s.Sessions.Get(ctx, p, id)
	if fault.IsReason(err, fault.ResourceNotFound) {
		return s.Workspaces.Gone(ctx, s.DB, p.TenantID, "session", string(id))
	}
	if err != nil {
		return err
	}
	_, err = s.DeleteSessions(ctx, session.Ref(), []sessions.ID{id})
	return err
}

// DeleteSessions deletes sessions of a workspace with everything of them: it is the one way in
// which a session goes. Open ones are ended first, without being announced. What is not there is
// not counted. Errors: Unavailable unavailable while a running turn cannot be stopped yet.
func (s *Service) DeleteSessions(ctx context.Context, ref workspaces.Ref, ids []sessions.ID) (Counts, error) {
	var counts Counts
	for batch := range slices.Chunk(ids, batchSize) {
		erased, err := s.deleteBatch(ctx, ref, batch)
		counts.add(erased.Counts)
		if err != nil {
			return counts, err
		}
		if err := s.eraseLate(ctx, ref, erased); err != nil {
			return counts, err
		}
	}
	return counts, nil
}

// erased is what a transaction has erased.
type erased struct {
	Counts

	sessions []sessions.ID
	// events are the seqs of those whose bodies were emptied.
	events []int64
}

func (s *Service) deleteBatch(ctx context.Context, ref workspaces.Ref, ids []sessions.ID) (erased, error) {
	if err := s.Sessions.Discard(ctx, ref, ids); err != nil {
		return erased{}, err
	}
	// Before the sessions: while a file cannot be deleted, they say that it is there.
	recorded, err := s.Recordings.Erase(ctx, ref, ids)
	if err != nil {
		return erased{}, err
	}
	var done erased
	now := s.now()
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) (err error) {
		done = erased{Counts: Counts{Recordings: recorded}}
		if done.sessions, err = sessions.LockClosed(ctx, tx, ref, ids); err != nil || len(done.sessions) == 0 {
			return err
		}
		names := make([]string, len(done.sessions))
		for i, id := range done.sessions {
			names[i] = string(id)
		}
		if err := s.Workspaces.BuryAll(ctx, tx, ref.TenantID, names, now); err != nil {
			return err
		}
		if err := s.eraseTraces(ctx, tx, ref, &done,
			events.About{TenantID: string(ref.TenantID), WorkspaceID: string(ref.ID), SessionIDs: names},
			idempotency.About{SessionIDs: names}); err != nil {
			return err
		}
		rows, err := deleteSessions(ctx, tx, ref, done.sessions, now)
		done.add(rows)
		return err
	})
	if err != nil {
		return erased{Counts: Counts{Recordings: recorded}}, err
	}
	return done, nil
}

// eraseTraces erases webhook events, their deliveries and answers that are kept.
func (s *Service) eraseTraces(
	ctx context.Context, tx bun.Tx, ref workspaces.Ref, done *erased, about events.About, answers idempotency.About,
) (err error) {
	seqs, n, err := events.Erase(ctx, tx, about)
	if err != nil {
		return err
	}
	done.events, done.Events = seqs, n
	if done.Undelivered, err = s.Webhooks.Erase(ctx, tx, ref, seqs); err != nil {
		return err
	}
	done.Answers, err = s.Answers.Erase(ctx, tx, ref.TenantID, answers)
	return err
}

// eraseLate erases what came after the transaction: the answers of receivers that were asked then,
// and the last frames of sockets. Frames that a node writes even later expire by themselves.
func (s *Service) eraseLate(ctx context.Context, ref workspaces.Ref, done erased) error {
	if _, err := s.Webhooks.Erase(ctx, s.DB, ref, done.events); err != nil {
		return err
	}
	if err := s.ForgetFramesFunc(ctx, done.sessions...); err != nil {
		// Redis may be away: what it has of a socket expires within minutes.
		s.Log.WarnContext(ctx, "frames of erased sessions stay in Redis until they expire", "error", err)
	}
	return nil
}

// erase does an erasure and returns when nothing is left that was there when it began. It stores
// the counts of what was erased so far.
func (s *Service) erase(ctx context.Context, request *Request) error {
	ref := request.Ref()
	if err := s.CancelCallsFunc(ctx, ref, request.UserID); err != nil { // or nothing would know of the call any more
		return err
	}
	for {
		ids, err := sessions.PageOfUser(ctx, s.DB, ref, request.UserID, "", batchSize)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			break
		}
		counts, err := s.DeleteSessions(ctx, ref, ids)
		request.Counts.add(counts)
		if err := errors.Join(err, update(ctx, s.DB, *request, "counts")); err != nil {
			return err
		}
	}
	files, err := s.exportsOf(ctx, ref, request.UserID)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := s.Bucket.Delete(ctx, f.FileKey); err != nil {
			return fmt.Errorf("delete an export: %w", err)
		}
	}
	var done erased
	now := s.now()
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		done = erased{Counts: Counts{Exports: len(files)}}
		return s.eraseUser(ctx, tx, ref, request.UserID, now, &done)
	})
	if err != nil {
		return err
	}
	request.Counts.add(done.Counts)
	return s.eraseLate(ctx, ref, done)
}

// eraseUser deletes what is kept of a user besides sessions.
func (s *Service) eraseUser(
	ctx context.Context, tx bun.Tx, ref workspaces.Ref, userID string, now time.Time, done *erased,
) (err error) {
	err = tx.NewRaw("SELECT count(*) FROM memories WHERE tenant_id = ? AND workspace_id = ? AND user_id = ?",
		ref.TenantID, ref.ID, userID).Scan(ctx, &done.Memories)
	if err != nil {
		return fmt.Errorf("count memories: %w", err)
	}
	if err := s.Memory.Erase(ctx, tx, ref, userID); err != nil {
		return err
	}
	_, err = tx.NewUpdate().Model((*Request)(nil)).Set("file_key = ''").Where("p.tenant_id = ?", ref.TenantID).
		Where("p.workspace_id = ?", ref.ID).Where("p.user_id = ?", userID).Where("p.file_key <> ''").Exec(ctx)
	if err != nil {
		return fmt.Errorf("take the files out of their requests: %w", err)
	}
	for _, table := range ofUsers {
		n, err := deleteRows(ctx, tx, "DELETE FROM ? WHERE tenant_id = ? AND workspace_id = ? AND user_id = ?",
			bun.Ident(table), ref.TenantID, ref.ID, userID)
		if err != nil {
			return err
		}
		if table == "callback_schedules" {
			done.Callbacks = n
		}
	}
	planned, err := callbacks.EraseUserTx(ctx, tx, ref, userID, now)
	if err != nil {
		return err
	}
	done.Callbacks += planned
	about := events.About{TenantID: string(ref.TenantID), WorkspaceID: string(ref.ID), UserID: userID}
	return s.eraseTraces(ctx, tx, ref, done, about, idempotency.About{UserID: userID})
}

// exportsOf reads the requests of a user that have a file.
func (s *Service) exportsOf(ctx context.Context, ref workspaces.Ref, userID string) ([]Request, error) {
	var requests []Request
	err := s.DB.NewSelect().Model(&requests).Where("p.tenant_id = ?", ref.TenantID).Where("p.workspace_id = ?", ref.ID).
		Where("p.user_id = ?", userID).Where("p.file_key <> ''").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read a user's exports: %w", err)
	}
	return requests, nil
}

// forgetUser takes the user's id out of all other requests about the user. Those that wait are
// failed: there is nothing to export.
func forgetUser(ctx context.Context, tx bun.Tx, request Request) error {
	_, err := tx.NewUpdate().Model((*Request)(nil)).Set("user_id = ''").
		Set("status = CASE WHEN p.finished_at IS NULL THEN 'failed' ELSE p.status END").
		Set("error = CASE WHEN p.finished_at IS NULL OR p.file_key <> '' THEN ? ELSE p.error END",
			"The user was erased, and what was exported with it.").
		Set("finished_at = coalesce(p.finished_at, ?)", request.FinishedAt).
		Where("p.tenant_id = ?", request.TenantID).Where("p.workspace_id = ?", request.WorkspaceID).
		Where("p.user_id = ?", request.UserID).Where("p.id <> ?", request.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget the user of privacy requests: %w", err)
	}
	return nil
}
