package sessions

import (
	"errors"
	"time"
)

const (
	// leaseLife is how long a node may be silent before its turn counts as lost: that long a client
	// waits for its answer when a server is killed.
	LeaseLife = 12 * time.Second
	// writeTimeout bounds a transaction that must happen although its caller has gone.
	WriteTimeout = 10 * time.Second
)

// Why a turn was stopped.
var (
	ErrLeaseLost = errors.New("the turn was taken for lost")
)
