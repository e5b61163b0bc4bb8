package memo

import (
	"hash/maphash"
	"strings"
)

// nearSlots is how many values a Near holds at most: a few thousand words make most of a text.
const nearSlots = 1 << 13

// Near is a small memory in front of a Memo, for what one goroutine asks for over and over: it has
// no lock, and a key has one place only, from which the next one takes it away. Use NewNear.
type Near[V any] struct {
	far   *Memo[V]
	slots []slot[V]
}

type slot[V any] struct {
	key   string
	value V
}

// NewNear makes a Near in front of a memo.
func NewNear[V any](far *Memo[V]) *Near[V] {
	return &Near[V]{far: far, slots: make([]slot[V], nearSlots)}
}

// Get is the value of a key, and whether it is remembered here or behind.
func (n *Near[V]) Get(key string) (V, bool) {
	at := n.at(key)
	if at.key == key && key != "" {
		return at.value, true
	}
	value, ok := n.far.Get(key)
	if ok {
		*at = slot[V]{strings.Clone(key), value}
	}
	return value, ok
}

// Put remembers a value here and behind, unless its key is empty or too long to come again.
func (n *Near[V]) Put(key string, value V) {
	if key == "" || len(key) > maxKeyBytes {
		return
	}
	*n.at(key) = slot[V]{strings.Clone(key), value}
	n.far.Put(key, value)
}

func (n *Near[V]) at(key string) *slot[V] {
	return &n.slots[maphash.String(n.far.seed, key)%nearSlots]
}
