package realtime

import (
	"cmp"
	"time"

	"parlance.dev/parlance/server/realtime/websocket"
)

// Rates bound what one socket may send, as two token buckets that are full at first. A frame that
// finds a bucket empty is refused and still counts. The socket is closed when a bucket owes as much
// as it holds.
type Rates struct {
	// FramesPerSecond is 200, for frames of all kinds; FrameBurst is 1,000.
	FramesPerSecond, FrameBurst float64
	// BytesPerSecond is 1 MiB; ByteBurst is 16 MiB, the audio that a socket may hold, in Base64.
	BytesPerSecond, ByteBurst float64
}

// Source: our own. The busiest clients send audio in frames of 10 ms: 100 frames a second, 64 KiB
// together.
const (
	defaultFramesPerSecond = 200
	defaultFrameBurst      = 1000
	defaultBytesPerSecond  = 1 << 20
	defaultByteBurst       = 16 << 20
)

func (r Rates) withDefaults() Rates {
	return Rates{
		FramesPerSecond: cmp.Or(r.FramesPerSecond, defaultFramesPerSecond),
		FrameBurst:      cmp.Or(r.FrameBurst, defaultFrameBurst),
		BytesPerSecond:  cmp.Or(r.BytesPerSecond, defaultBytesPerSecond),
		ByteBurst:       cmp.Or(r.ByteBurst, defaultByteBurst),
	}
}

// rateLimit counts what one socket sends. It belongs to the socket's reader.
type rateLimit struct {
	rates *Rates
	now   func() time.Time
	// frames and bytes are what the buckets hold; below 0 is owed.
	frames, bytes float64
	updatedAt     time.Time
}

func newRateLimit(rates *Rates, now func() time.Time) *rateLimit {
	return &rateLimit{
		rates: rates, now: now, frames: rates.FrameBurst, bytes: rates.ByteBurst, updatedAt: now(),
	}
}

// take counts a frame.
func (l *rateLimit) take(payloadBytes int) websocket.Verdict {
	now := l.now()
	seconds := max(0, now.Sub(l.updatedAt).Seconds())
	l.updatedAt = now
	l.frames = min(l.rates.FrameBurst, l.frames+seconds*l.rates.FramesPerSecond) - 1
	l.bytes = min(l.rates.ByteBurst, l.bytes+seconds*l.rates.BytesPerSecond) - float64(payloadBytes)
	switch {
	case l.frames < -l.rates.FrameBurst, l.bytes < -l.rates.ByteBurst:
		return websocket.Flooded
	case l.frames < 0, l.bytes < 0:
		return websocket.Refused
	}
	return websocket.Allowed
}
