package idgen

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// Seed makes the ids of one request the same each time it is done. It stands for an
// Idempotency-Key in use: a request whose node died after its work and before its answer is done
// again, and must find what it made instead of making another.
type Seed struct {
	// At is when the key was first used; ids sort by it.
	At time.Time
	// Secret cannot be guessed by other callers.
	Secret []byte
}

type seedKey struct{}

// WithSeed returns a context for the work of a request under an Idempotency-Key.
func WithSeed(ctx context.Context, s Seed) context.Context {
	return context.WithValue(ctx, seedKey{}, s)
}

// In makes the id of the one thing of its kind that the request of ctx creates: New's, or the
// seed's when there is one. Whoever inserts it must be ready to find it there.
func In(ctx context.Context, prefix Prefix) string { return idFor(ctx, prefix, string(prefix)) }

// InFor is In for a request that creates several things of a kind, which have different names.
func InFor(ctx context.Context, prefix Prefix, name string) string {
	return idFor(ctx, prefix, string(prefix)+"\x00"+name)
}

func idFor(ctx context.Context, prefix Prefix, purpose string) string {
	seed, ok := ctx.Value(seedKey{}).(Seed)
	if !ok {
		return New(prefix)
	}
	return string(prefix) + encode(seed.bytes(purpose))
}

// UUIDIn is In for custom tools.
func UUIDIn(ctx context.Context) string {
	seed, ok := ctx.Value(seedKey{}).(Seed)
	if !ok {
		return UUID()
	}
	id := uuid.UUID(seed.bytes("uuid"))
	id[6] = id[6]&0x0f | 0x70 // version 7
	id[8] = id[8]&0x3f | 0x80 // RFC 9562's variant
	return id.String()
}

// bytes are 48 bits of milliseconds and 80 of a hash.
func (s Seed) bytes(purpose string) [16]byte {
	var id [16]byte
	sum := sha256.Sum256(append([]byte(purpose+"\x00"), s.Secret...))
	binary.BigEndian.PutUint64(id[:8], uint64(max(0, s.At.UnixMilli()))<<16)
	copy(id[6:], sum[:])
	return id
}
