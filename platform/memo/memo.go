package memo

import (
	"hash/maphash"
	"strings"
	"sync"
)

// shards is how many parts a Memo has, each with a lock of its own.
const shards = 16

// maxKeyBytes is the longest key that is remembered: longer ones are no words, and come once.
const maxKeyBytes = 64

// Memo remembers values by key. It holds at least the last half of what it may, and at most all of
// it. It is safe for concurrent use; use New.
type Memo[V any] struct {
	seed   maphash.Seed
	shards [shards]shard[V]
}

// shard has two generations: what is asked for goes into the young one, and when that is full it
// becomes the old one.
type shard[V any] struct {
	mu         sync.Mutex
	most       int
	young, old map[string]V
}

// New makes a memo of at most so many values, at least 32.
func New[V any](most int) *Memo[V] {
	m := &Memo[V]{seed: maphash.MakeSeed()}
	for i := range m.shards {
		m.shards[i].most = max(most/(2*shards), 1)
		m.shards[i].young = map[string]V{}
	}
	return m
}

// Get is the value of a key, and whether it is remembered.
func (m *Memo[V]) Get(key string) (V, bool) {
	s := m.of(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.young[key]; ok {
		return v, true
	}
	v, ok := s.old[key]
	if ok {
		s.put(strings.Clone(key), v)
	}
	return v, ok
}

// Put remembers a value, unless its key is empty or too long to come again. The key is copied: it may be a
// part of a long text.
func (m *Memo[V]) Put(key string, value V) {
	if key == "" || len(key) > maxKeyBytes {
		return
	}
	s := m.of(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(strings.Clone(key), value)
}

func (m *Memo[V]) of(key string) *shard[V] {
	return &m.shards[maphash.String(m.seed, key)%shards]
}

// put is called with mu held, and with a key that is no part of a text.
func (s *shard[V]) put(key string, value V) {
	if len(s.young) >= s.most {
		s.old, s.young = s.young, make(map[string]V, s.most)
	}
	s.young[key] = value
}
