package cache

import (
	"math"

	"github.com/maypok86/otter/v2"
)

// entryOverheadBytes is about what an entry takes beside its value: its key, its node, its place in
// the map.
const entryOverheadBytes = 200

// Cache maps keys to values and evicts entries when it is full. It is safe for concurrent use. Make
// one with New or NewSized.
type Cache[K comparable, V any] struct{ entries *otter.Cache[K, V] }

// New returns a cache of at most maxEntries entries, which must be positive.
func New[K comparable, V any](maxEntries int) *Cache[K, V] {
	return newCache(&otter.Options[K, V]{MaximumSize: maxEntries})
}

// NewSized returns a cache whose values take at most maxBytes together, which must be positive.
// bytesOf is called once for each value that is set, and must not call the cache. A value larger
// than maxBytes is not kept.
func NewSized[K comparable, V any](maxBytes int, bytesOf func(V) int) *Cache[K, V] {
	return newCache(&otter.Options[K, V]{
		MaximumWeight: uint64(max(maxBytes, 1)),
		Weigher: func(_ K, value V) uint32 {
			return uint32(min(bytesOf(value)+entryOverheadBytes, math.MaxUint32))
		},
	})
}

func newCache[K comparable, V any](options *otter.Options[K, V]) *Cache[K, V] {
	// Eviction runs on the goroutine that calls the cache: it takes microseconds, and what a cache
	// holds then does not depend on when a goroutine is scheduled.
	options.Executor = func(evict func()) { evict() }
	return &Cache[K, V]{otter.Must(options)}
}

// Get returns the value at key and whether there is one. Nobody may change the value.
func (c *Cache[K, V]) Get(key K) (V, bool) { return c.entries.GetIfPresent(key) }

// Set puts value at key in the place of what is there. The cache may evict any entry for it, or not
// keep it. A key that is cut from a long text must be cloned (strings.Clone): it would keep the
// text in memory.
func (c *Cache[K, V]) Set(key K, value V) { c.entries.Set(key, value) }

// HasRoom says whether so many bytes fit beside what a cache made with NewSized holds.
func (c *Cache[K, V]) HasRoom(bytes int) bool {
	return c.entries.WeightedSize()+uint64(bytes) <= c.entries.GetMaximum()
}

// Delete removes the value at key, if there is one.
func (c *Cache[K, V]) Delete(key K) { c.entries.Invalidate(key) }

// Clear removes all values.
func (c *Cache[K, V]) Clear() { c.entries.InvalidateAll() }
