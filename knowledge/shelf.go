package knowledge

import (
	"container/list"
	"sync"
)

// defaultCacheBytes holds the codes of two million chunks, or those of some hundred thousand with their words.
const defaultCacheBytes = 256 << 20

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
}

// itemOverhead is about what an item costs beside its value.
const itemOverhead = 200

func newShelf(maxBytes int) *shelf {
	return &shelf{maxBytes: maxBytes, items: map[shelfKey]*list.Element{}}
}

func (s *shelf) get(key shelfKey) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	element, there := s.items[key]
	if !there {
		return nil, false
	}
	s.order.MoveToFront(element)
	return element.Value.(shelfItem).value, true //nolint:forcetypeassert,errcheck // put puts nothing else
}

// put remembers a value of so many bytes, which nobody may change any more.
func (s *shelf) put(key shelfKey, value any, bytes int) {
	bytes += itemOverhead
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.items[key]; there || bytes > s.maxBytes {
		return
	}
	s.items[key] = s.order.PushFront(shelfItem{key, value, bytes})
	s.bytes += bytes
	for s.bytes > s.maxBytes {
		last := s.order.Back()
		item := s.order.Remove(last).(shelfItem) //nolint:forcetypeassert,errcheck // put puts nothing else
		delete(s.items, item.key)
		s.bytes -= item.bytes
	}
}
