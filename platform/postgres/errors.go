package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"parlance.dev/parlance/fault"
)

// SQLSTATEs we act on. Source: PostgreSQL manual, appendix A.
const (
	invalidParameter     = "22023"
	uniqueViolation      = "23505"
	foreignKeyViolation  = "23503"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	undefinedTable       = "42P01"

	insufficientPrivilege = "42501"
	protocolViolation     = "08P01"
	// readOnlyTransaction is the answer of a server that was the primary and has become a standby.
	readOnlyTransaction = "25006"

	// cachedPlanChanged is the code of feature_not_supported. A prepared statement that would return
	// other columns than before has it, too.
	cachedPlanChanged = "0A000"
	noSuchStatement   = "26000"
)

// unavailableStates are the classes and codes of a server that cannot serve now: connection
// exceptions, insufficient resources, shutting down, starting up.
var unavailableStates = []string{"08", "53", "57P01", "57P02", "57P03", readOnlyTransaction}

// NoRows says whether err means that a one-row read found nothing.
func NoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// OrNoSuch returns the error of a one-row read: not-found for the noun and id when it found
// nothing, and others as MapError leaves them.
func OrNoSuch(err error, noun, id string) error {
	if NoRows(err) {
		return fault.NoSuch(noun, id)
	}
	return MapError(err)
}

// IsUnique says whether err is a violation of the named unique constraint or index; an empty name
// means any.
func IsUnique(err error, constraint string) bool { return violates(err, uniqueViolation, constraint) }

// IsForeignKey says whether err is a violation of the named foreign key; an empty name means any.
func IsForeignKey(err error, constraint string) bool {
	return violates(err, foreignKeyViolation, constraint)
}

// MapError turns what any statement may meet into a decision: a collision with another transaction
// is Aborted conflict, a database that is away, or cannot be connected to in time, is Unavailable
// unavailable. Decisions, cancellation, other deadlines and everything else come back as they are:
// which constraint means which reason only the caller knows (IsUnique). InTx has done it already.
func MapError(err error) error {
	switch {
	case err == nil, isDecision(err), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded) && !isConnecting(err):
		return err
	case isCollision(err):
		return fault.Wrap(err, fault.Conflict, "The request collided with another one. Send it again.")
	case isUnavailable(err):
		return fault.Wrap(err, fault.ServiceUnavailable, "The database is not available right now. Try again in a moment.")
	}
	return err
}

// IsInvalidParameter says whether Postgres refused the value of a parameter, such as a time zone
// that it does not know.
func IsInvalidParameter(err error) bool { return violates(err, invalidParameter, "") }

// IsAway says whether err means that the database cannot serve now: it cannot be reached, broke the
// connection, starts or stops, only reads, or is out of room. It is what MapError calls
// unavailable; a constraint, a collision, a deadline and a cancellation are not.
func IsAway(err error) bool { return err != nil && isUnavailable(err) }

// Decide returns the decision about an error, with those of statements mapped (see MapError). It is
// what callers and clients are shown.
func Decide(err error) *fault.Error { return fault.From(MapError(err)) }

func violates(err error, state, constraint string) bool {
	violation, ok := errors.AsType[*pgconn.PgError](err)
	return ok && violation.Code == state && (constraint == "" || violation.ConstraintName == constraint)
}

func isDecision(err error) bool {
	_, ok := errors.AsType[*fault.Error](err)
	return ok
}

// isCollision says whether the whole transaction may succeed when it is run again.
func isCollision(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (answer.Code == serializationFailure || answer.Code == deadlockDetected)
}

// isConnecting says whether a connection could not be made; its own time-out is a deadline too.
func isConnecting(err error) bool {
	_, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok
}

func isUnavailable(err error) bool {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		for _, state := range unavailableStates {
			if strings.HasPrefix(answer.Code, state) {
				return true
			}
		}
		return false
	}
	if isConnecting(err) {
		return true
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	if pgconn.SafeToRetry(err) { // a connection that broke before: "conn closed"
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF)
}
