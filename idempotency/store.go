package idempotency

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
)

// place is the primary key of a row.
type place struct {
	TenantID string
	CallerID string
	KeyHash  []byte
}

// row is a key in use.
type row struct {
	place
	Fingerprint []byte
	ClaimID     string
	LeaseUntil  time.Time
	// Answer is sealed; nil while the request runs.
	Answer    []byte
	CreatedAt time.Time
	ExpiresAt time.Time
	// SessionID and UserHash are whom the request is about; empty: nobody.
	SessionID string
	UserHash  []byte
}

// claimKey claims a key that is new or has expired, or whose lease has expired, then only for the
// same request. It returns no row if another request holds the key.
const claimKey = `
	INSERT INTO idempotency_keys AS held (
	    tenant_id, caller_id, key_hash, fingerprint, claim_id, lease_until, created_at, expires_at, session_id, user_hash
	)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (tenant_id, caller_id, key_hash) DO UPDATE
	SET fingerprint = EXCLUDED.fingerprint,
	    claim_id = EXCLUDED.claim_id,
	    lease_until = EXCLUDED.lease_until,
	    answer = NULL,
	    created_at = CASE WHEN held.expires_at <= EXCLUDED.created_at THEN EXCLUDED.created_at ELSE held.created_at END,
	    expires_at = EXCLUDED.expires_at,
	    session_id = EXCLUDED.session_id,
	    user_hash = EXCLUDED.user_hash
	WHERE held.expires_at <= EXCLUDED.created_at
	   OR held.lease_until <= EXCLUDED.created_at AND held.fingerprint = EXCLUDED.fingerprint
	RETURNING created_at`

// claim returns since when the key has been used for its request.
func claim(ctx context.Context, db bun.IDB, r row) (since time.Time, err error) {
	err = db.NewRaw(claimKey, r.TenantID, r.CallerID, r.KeyHash, r.Fingerprint, r.ClaimID, r.LeaseUntil,
		r.CreatedAt, r.ExpiresAt, r.SessionID, r.UserHash).Scan(ctx, &since)
	return since, err
}

func find(ctx context.Context, db bun.IDB, at place) (row, error) {
	var found struct { // Bun would take a lone []byte for a list of rows
		Fingerprint, Answer []byte
		CreatedAt           time.Time
	}
	err := db.NewRaw(`
		SELECT fingerprint, answer, created_at
		FROM idempotency_keys
		WHERE tenant_id = ? AND caller_id = ? AND key_hash = ?`,
		at.TenantID, at.CallerID, at.KeyHash).Scan(ctx, &found)
	return row{place: at, Fingerprint: found.Fingerprint, Answer: found.Answer, CreatedAt: found.CreatedAt}, err
}

// keep stores the answer, and the session that the request made, if it made one.
func keep(ctx context.Context, db bun.IDB, at place, claimID string, sealed []byte, sessionID string) error {
	return change(ctx, db, at, claimID,
		"UPDATE idempotency_keys SET answer = ?, lease_until = NULL, session_id = coalesce(nullif(?, ''), session_id)", sealed, sessionID)
}

func release(ctx context.Context, db bun.IDB, at place, claimID string) error {
	return change(ctx, db, at, claimID, "DELETE FROM idempotency_keys")
}

// setLease makes the lease end at until and keeps the row.
func setLease(ctx context.Context, db bun.IDB, at place, claimID string, until time.Time) error {
	return change(ctx, db, at, claimID, "UPDATE idempotency_keys SET lease_until = ?", until)
}

// change changes the row of a claim that has no answer yet. A claim that was taken over changes
// nothing.
func change(ctx context.Context, db bun.IDB, at place, claimID, statement string, args ...any) error {
	_, err := db.NewRaw(statement+`
		WHERE tenant_id = ? AND caller_id = ? AND key_hash = ? AND claim_id = ? AND answer IS NULL`,
		append(args, at.TenantID, at.CallerID, at.KeyHash, claimID)...).Exec(ctx)
	if err != nil {
		return fmt.Errorf("change the key's row: %w", err)
	}
	return nil
}

// deleteExpired deletes up to limit rows and returns their number.
func deleteExpired(ctx context.Context, db bun.IDB, now time.Time, limit int) (int, error) {
	done, err := db.NewRaw(postgres.RawForAllTenants("the sweep of expired answers", `
		DELETE FROM idempotency_keys
		WHERE ctid IN (
		    SELECT ctid
		    FROM idempotency_keys
		    WHERE expires_at <= ?
		    ORDER BY expires_at
		    LIMIT ?
		    FOR UPDATE SKIP LOCKED
		)`), now, limit).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("delete expired keys: %w", err)
	}
	n, err := done.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("delete expired keys: %w", err)
	}
	return int(n), nil
}
