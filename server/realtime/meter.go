package realtime

import (
	"time"

	"parlance.dev/parlance/server/realtime/wire"
)

// Rates bound what one socket may send. A bucket is full at first and fills at its rate. What comes
// while it is empty is refused, and counts: a client that goes on is cut off when it owes a whole bucket.
type Rates struct {
	// FramesPerSecond is 200, of all kinds; FrameBurst 1,000.
	FramesPerSecond, FrameBurst float64
	// BytesPerSecond is 1 MiB; ByteBurst 16 MiB, the audio that a socket may hold in base64.
	BytesPerSecond, ByteBurst float64
}

// Source: our own. The most that clients send of themselves are audio frames of 10 ms, 100 a second
// of 64 KiB together.
const (
	defaultFramesPerSecond = 200
	defaultFrameBurst      = 1000
	defaultBytesPerSecond  = 1 << 20
	defaultByteBurst       = 16 << 20
)

func (r Rates) withDefaults() Rates {
	return Rates{
		FramesPerSecond: or(r.FramesPerSecond, defaultFramesPerSecond), FrameBurst: or(r.FrameBurst, defaultFrameBurst),
		BytesPerSecond: or(r.BytesPerSecond, defaultBytesPerSecond), ByteBurst: or(r.ByteBurst, defaultByteBurst),
	}
}

// meter counts what a socket sends; it belongs to its reader.
type meter struct {
	rates         *Rates
	now           func() time.Time
	frames, bytes float64 // what is left in the buckets; below 0 it is owed
	at            time.Time
}

func newMeter(rates *Rates, now func() time.Time) *meter {
	return &meter{rates: rates, now: now, frames: rates.FrameBurst, bytes: rates.ByteBurst, at: now()}
}

// Take implements wire.Meter.
func (m *meter) Take(bytes int) wire.Verdict {
	now := m.now()
	passed := max(0, now.Sub(m.at).Seconds())
	m.at = now
	m.frames = min(m.rates.FrameBurst, m.frames+passed*m.rates.FramesPerSecond) - 1
	m.bytes = min(m.rates.ByteBurst, m.bytes+passed*m.rates.BytesPerSecond) - float64(bytes)
	switch {
	case m.frames < -m.rates.FrameBurst, m.bytes < -m.rates.ByteBurst:
		return wire.Flooded
	case m.frames < 0, m.bytes < 0:
		return wire.Refused
	}
	return wire.Allowed
}
