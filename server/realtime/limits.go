package realtime

import (
	"cmp"
	"time"
)

// Defaults of Limits. Source: decisions, Sessions (the ping); the others are our own.
const (
	defaultPingInterval      = 20 * time.Second
	defaultPongTimeout       = 10 * time.Second
	defaultWriteTimeout      = 10 * time.Second
	defaultReadTimeout       = 30 * time.Second
	defaultStartTimeout      = 5 * time.Second
	defaultDrainTimeout      = 2 * time.Second
	defaultMaxMessageBytes   = 1 << 20
	defaultMaxUnwrittenBytes = 16 << 20 // five events repeat an answer of 1 MiB, which escapes may double
)

// Limits bound a socket. Zero fields have defaults.
type Limits struct {
	// PingInterval is 20 s. A pong must come within PongTimeout, 10 s.
	PingInterval time.Duration
	PongTimeout  time.Duration
	// WriteTimeout is how long one write, of 64 KiB or a single larger frame, may take; 10 s.
	WriteTimeout time.Duration
	// ReadTimeout is how long a message of the client may take from its first byte to its last; 30
	// s.
	ReadTimeout time.Duration
	// StartTimeout is how long the carrier of a telephone call may take to say which call it is; 5 s.
	StartTimeout time.Duration
	// DrainTimeout is how long a client may take to play the last sound of a call after the time in
	// which it should have: the delay of the line; 2 s.
	DrainTimeout time.Duration
	// MaxMessageBytes bounds a message of the client; 1 MiB.
	MaxMessageBytes int
	// MaxUnwrittenBytes bounds what waits to be written; 16 MiB.
	MaxUnwrittenBytes int
	Rates             Rates
	// MaxSockets bounds the open sockets of this server, MaxSocketsPerTenant those of one tenant;
	// 0: no bound.
	MaxSockets, MaxSocketsPerTenant int
}

func (l Limits) withDefaults() Limits {
	l.PingInterval = cmp.Or(l.PingInterval, defaultPingInterval)
	l.PongTimeout = cmp.Or(l.PongTimeout, defaultPongTimeout)
	l.WriteTimeout = cmp.Or(l.WriteTimeout, defaultWriteTimeout)
	l.ReadTimeout = cmp.Or(l.ReadTimeout, defaultReadTimeout)
	l.StartTimeout = cmp.Or(l.StartTimeout, defaultStartTimeout)
	l.DrainTimeout = cmp.Or(l.DrainTimeout, defaultDrainTimeout)
	l.MaxMessageBytes = cmp.Or(l.MaxMessageBytes, defaultMaxMessageBytes)
	l.MaxUnwrittenBytes = cmp.Or(l.MaxUnwrittenBytes, defaultMaxUnwrittenBytes)
	l.Rates = l.Rates.withDefaults()
	return l
}
