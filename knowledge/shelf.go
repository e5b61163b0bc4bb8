package knowledge

import (
	"container/list"
	"sync"
	"time"
)

const (
	// defaultCacheBytes holds fifty thousand chunks with all that a search needs, and beside these the codes of a million.
	defaultCacheBytes = 256 << 20
	// residentIdle is how long nobody has asked for a source before another takes its place in memory. Reading one
	// costs as much as some tens of searches: those that do not fit all at once must not chase each other out.
	residentIdle = 10 * time.Minute
)

// shelf remembers what searches read of sources, and of that what was used last, up to a number of
// bytes. What lies on it never changes: a new set of chunks has a new number. Which numbers an agent
// may see is asked in each search, so the shelf need not know whose they are. Safe for concurrent use.
type shelf struct {
	mu       sync.Mutex
	maxBytes int
	bytes    int
	items    map[shelfKey]*list.Element
	// order begins with what was used last.
	order list.List
	// idle is how long an item was not used before it makes room; zero: it may at any time.
	idle time.Duration
	now  func() time.Time
	// reserved are the bytes of what is being read.
	reserved map[shelfKey]int
}

// shelfKey is a page of a source's postings, or one of the places below.
type shelfKey struct {
	number int64
	page   int
	// model is that of codes.
	model string
}

// What is not a page has a number of its own.
const (
	lengthsPage = -1
	codesPage   = -2
)

type shelfItem struct {
	key   shelfKey
	value any
	bytes int
	// used is when it was asked for last, on a shelf where that counts.
	used time.Time
}

// itemOverhead is about what an item costs beside its value.
const itemOverhead = 200

func newShelf(maxBytes int) *shelf {
	return &shelf{maxBytes: maxBytes, items: map[shelfKey]*list.Element{}}
}

// newCalmShelf is one whose items stay until nobody has asked for them for a while.
func newCalmShelf(maxBytes int, idle time.Duration, now func() time.Time) *shelf {
	s := newShelf(maxBytes)
	s.idle, s.now, s.reserved = idle, now, map[shelfKey]int{}
	return s
}

func (s *shelf) moment() (now time.Time) {
	if s.idle > 0 {
		now = s.now()
	}
	return now
}

func (s *shelf) get(key shelfKey) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	element, there := s.items[key]
	if !there {
		return nil, false
	}
	s.order.MoveToFront(element)
	item := element.Value.(*shelfItem) //nolint:forcetypeassert,errcheck // put puts nothing else
	item.used = s.moment()
	return item.value, true
}

// put remembers a value of so many bytes, which nobody may change any more. A calm shelf that has no room for it
// leaves it.
func (s *shelf) put(key shelfKey, value any, bytes int) {
	bytes += itemOverhead
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.items[key]; there || !s.makeRoom(bytes) {
		return
	}
	s.items[key] = s.order.PushFront(&shelfItem{key, value, bytes, s.moment()})
	s.bytes += bytes
}

// reserve says whether there will be room for something that takes time to read, and that nobody else reads it.
// Who reserves releases.
func (s *shelf) reserve(key shelfKey, bytes int) bool {
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

func (s *shelf) release(key shelfKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.reserved, key)
}

// makeRoom takes away what was not used longest, until there is room for so many bytes, and says whether there is.
func (s *shelf) makeRoom(bytes int) bool {
	if bytes > s.maxBytes {
		return false
	}
	idleSince := s.moment().Add(-s.idle)
	for s.bytes+bytes > s.maxBytes {
		last := s.order.Back()
		item := last.Value.(*shelfItem) //nolint:forcetypeassert,errcheck // put puts nothing else
		if s.idle > 0 && item.used.After(idleSince) {
			return false
		}
		s.order.Remove(last)
		delete(s.items, item.key)
		s.bytes -= item.bytes
	}
	return true
}
