package turns

import (
	"context"
	"errors"
	"sync"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
)

const leaseRenewal = 3 * time.Second

// Why a turn was stopped.
var (
	ErrEnding  = errors.New("the session is being ended")
	ErrStopped = errors.New("the answer was cancelled")
	// ErrInterrupted is ErrStopped because the user has spoken meanwhile.
	ErrInterrupted = errors.New("the answer was interrupted")
	// ErrNodeStopping is the cause of Life's end. The turn is left to be resumed elsewhere.
	ErrNodeStopping = errors.New("the node is being stopped")
)

// Lease is the right to run a turn. It exists while the turn waits for it too, so that the end of
// the session reaches both.
type Lease struct {
	session sessions.ID
	cancel  context.CancelCauseFunc
	stop    chan struct{}
	renewed sync.WaitGroup
	// losses are the turn's.
	losses int
	// followed says that somebody follows the turn by its row and is to be told of changes.
	followed bool
	// approvals are the turn's calls that wait for approval; nil: none can.
	approvals *Approvals
}

// StoppingError says that this node is being stopped. Errors: Unavailable unavailable.
func StoppingError(advice string) error {
	return fault.New(fault.ServiceUnavailable, "This server is being stopped. %s", advice)
}
