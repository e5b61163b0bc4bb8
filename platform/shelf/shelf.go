package shelf

import (
	"container/list"
	"sync"
	"time"
)

// Shelf remembers values, of them those that were used last, up to a number of bytes. Safe for concurrent use.
type Shelf[K comparable] struct {
	mu       sync.Mutex
	maxBytes int
	bytes    int
	items    map[K]*list.Element
	// order begins with what was used last.
	order list.List
	// idle is how long an item was not used before it makes room; zero: it may at any time.
	idle time.Duration
	now  func() time.Time
	// reserved are the bytes of what is being read.
	reserved map[K]int
}

type item[K comparable] struct {
	key   K
	value any
	bytes int
	// used is when it was asked for last, on a shelf where that counts.
	used time.Time
}

// itemOverhead is about what an item costs beside its value.
const itemOverhead = 200

// New makes one of at most so many bytes.
func New[K comparable](maxBytes int) *Shelf[K] {
	return &Shelf[K]{maxBytes: maxBytes, items: map[K]*list.Element{}}
}

// NewCalm makes one whose items stay until nobody has asked for them for a while.
func NewCalm[K comparable](maxBytes int, idle time.Duration, now func() time.Time) *Shelf[K] {
	s := New[K](maxBytes)
	s.idle, s.now, s.reserved = idle, now, map[K]int{}
	return s
}

// MaxBytes is how much fits.
func (s *Shelf[K]) MaxBytes() int { return s.maxBytes }

func (s *Shelf[K]) moment() (now time.Time) {
	if s.idle > 0 {
		now = s.now()
	}
	return now
}

// Get is what lies at a key, and whether anything does.
func (s *Shelf[K]) Get(key K) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	element, there := s.items[key]
	if !there {
		return nil, false
	}
	s.order.MoveToFront(element)
	found := element.Value.(*item[K]) //nolint:forcetypeassert,errcheck // Put puts nothing else
	found.used = s.moment()
	return found.value, true
}

// Put remembers a value of so many bytes, which nobody may change any more; what lies there already stays. A
// calm shelf that has no room for it leaves it.
func (s *Shelf[K]) Put(key K, value any, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.items[key]; !there {
		s.put(key, value, bytes)
	}
}

// Set puts a value in the place of what lies there.
func (s *Shelf[K]) Set(key K, value any, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(key)
	s.put(key, value, bytes)
}

// Remove takes away what lies at a key.
func (s *Shelf[K]) Remove(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(key)
}

// Clear takes away everything.
func (s *Shelf[K]) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.items)
	s.order.Init()
	s.bytes = 0
}

func (s *Shelf[K]) put(key K, value any, bytes int) {
	bytes += itemOverhead
	if !s.makeRoom(bytes) {
		return
	}
	s.items[key] = s.order.PushFront(&item[K]{key, value, bytes, s.moment()})
	s.bytes += bytes
}

func (s *Shelf[K]) remove(key K) {
	element, there := s.items[key]
	if !there {
		return
	}
	gone := s.order.Remove(element).(*item[K]) //nolint:forcetypeassert,errcheck // Put puts nothing else
	delete(s.items, key)
	s.bytes -= gone.bytes
}

// Reserve says whether there will be room for something that takes time to read, and that nobody else reads it.
// Who reserves releases.
func (s *Shelf[K]) Reserve(key K, bytes int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.reserved[key]; taken {
		return false
	}
	all := bytes + itemOverhead
	for _, other := range s.reserved {
		all += other
	}
	if !s.makeRoom(all) {
		return false
	}
	s.reserved[key] = bytes + itemOverhead
	return true
}

// Release gives back what was reserved.
func (s *Shelf[K]) Release(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.reserved, key)
}

// makeRoom takes away what was not used longest, until there is room for so many bytes, and says whether there is.
func (s *Shelf[K]) makeRoom(bytes int) bool {
	if bytes > s.maxBytes {
		return false
	}
	idleSince := s.moment().Add(-s.idle)
	for s.bytes+bytes > s.maxBytes {
		oldest := s.order.Back().Value.(*item[K]) //nolint:forcetypeassert,errcheck // Put puts nothing else
		if s.idle > 0 && oldest.used.After(idleSince) {
			return false
		}
		s.remove(oldest.key)
	}
	return true
}
