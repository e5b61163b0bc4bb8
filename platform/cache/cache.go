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
type Cache[K comparable, V any] struct{ entries entries }

// entries are those of a Cache, whatever their types. otter's generic code is thousands of
// functions: each package with a Cache[K, V] would compile all of them for its K and V, and they
// were half of what the compiler and the linker had to do for the service.
type entries interface {
	GetIfPresent(key any) (value any, ok bool)
	Set(key, value any) (old any, isNew bool)
	Invalidate(key any) (old any, wasThere bool)
	InvalidateAll()
	WeightedSize() uint64
	GetMaximum() uint64
}

// New returns a cache of at most maxEntries entries, which must be positive.
func New[K comparable, V any](maxEntries int) *Cache[K, V] {
	return &Cache[K, V]{newEntries(maxEntries)}
}

// NewSized returns a cache whose values take at most maxBytes together, which must be positive.
// bytesOf is called once for each value that is set, and must not call the cache. A value larger
// than maxBytes is not kept.
func NewSized[K comparable, V any](maxBytes int, bytesOf func(V) int) *Cache[K, V] {
	return &Cache[K, V]{newSizedEntries(maxBytes, func(value any) int {
		typed, _ := value.(V) // a nil interface is the zero V
		return bytesOf(typed)
	})}
}

func newEntries(maxEntries int) entries {
	return withoutGoroutine(&otter.Options[any, any]{MaximumSize: maxEntries})
}

func newSizedEntries(maxBytes int, bytesOf func(any) int) entries {
	return withoutGoroutine(&otter.Options[any, any]{
		MaximumWeight: uint64(max(maxBytes, 1)),
		Weigher: func(_, value any) uint32 {
			return uint32(min(bytesOf(value)+entryOverheadBytes, math.MaxUint32))
		},
	})
}

// withoutGoroutine makes a cache that evicts on the goroutine that calls it: it takes microseconds,
// and what a cache holds then does not depend on when a goroutine is scheduled.
func withoutGoroutine(options *otter.Options[any, any]) entries {
	options.Executor = func(evict func()) { evict() }
	return otter.Must(options)
}

// Get returns the value at key and whether there is one. Nobody may change the value.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	value, ok := c.entries.GetIfPresent(key)
	typed, _ := value.(V) // a nil interface is the zero V
	return typed, ok
}

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
