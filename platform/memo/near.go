package memo

import "encoding/binary"

const (
	// nearSlots is how many values a Near holds at most: a few thousand words make most of a text.
	nearSlots = 1 << 13
	// nearKeyBytes is the longest key of a Near, which keeps keys as two numbers; longer ones are
	// asked for behind it.
	nearKeyBytes = 16
)

// Near is a small memory in front of a Memo, for what one goroutine asks for over and over: it has
// no lock, and a key has one place only, from which the next one takes it away. Use NewNear.
type Near[V any] struct {
	far   *Memo[V]
	slots []slot[V]
}

type slot[V any] struct {
	key   packed
	value V
}

// packed is a key of 1 to nearKeyBytes bytes; the zero value is none.
type packed struct {
	first, last uint64
	bytes       int
}

// NewNear makes a Near in front of a memo.
func NewNear[V any](far *Memo[V]) *Near[V] {
	return &Near[V]{far: far, slots: make([]slot[V], nearSlots)}
}

// Get is the value of a key, and whether it is remembered here or behind.
func (n *Near[V]) Get(key string) (V, bool) {
	if key == "" || len(key) > nearKeyBytes {
		return n.far.Get(key)
	}
	short := pack(key)
	at := n.at(short)
	if at.key == short {
		return at.value, true
	}
	value, ok := n.far.Get(key)
	if ok {
		*at = slot[V]{short, value}
	}
	return value, ok
}

// Put remembers a value here and behind, unless its key is empty or too long to come again.
func (n *Near[V]) Put(key string, value V) {
	n.far.Put(key, value)
	if key != "" && len(key) <= nearKeyBytes {
		short := pack(key)
		*n.at(short) = slot[V]{short, value}
	}
}

func (n *Near[V]) at(key packed) *slot[V] {
	const odd = 0x9E3779B97F4A7C15 // 2^64 through the golden ratio spreads what differs in a few bits
	hash := (key.first*odd ^ key.last) * odd
	return &n.slots[(hash>>40^uint64(key.bytes))%nearSlots] //nolint:gosec // at most nearKeyBytes
}

// pack makes numbers of a key's bytes.
func pack(key string) packed {
	p := packed{bytes: len(key)}
	var raw [nearKeyBytes]byte
	copy(raw[:], key)
	p.first = binary.LittleEndian.Uint64(raw[:8])
	p.last = binary.LittleEndian.Uint64(raw[8:])
	return p
}
