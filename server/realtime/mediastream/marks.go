package mediastream

import (
	"slices"
	"strconv"
	"time"

	"parlance.dev/parlance/platform/audio"
)

// maxPending bounds the marks that a carrier does not send back: about two minutes of sound.
const maxPending = 4096

// marks follows what the carrier has played. Each piece of sound has a mark behind it.
type marks struct {
	// item is that of the piece that was sent last, position its length so far.
	item     string
	position time.Duration
	// pending are the marks that did not come back, in order.
	pending []pendingMark
	// count makes the names of marks unique.
	count int
	// heardItem is the item of the newest mark that came back, heardTo its place in it.
	heardItem string
	heardTo   time.Duration
}

type pendingMark struct {
	name, item string
	position   time.Duration
}

// add adds a piece of sound, and returns the name of the mark behind it.
func (m *marks) add(item string, samples int) string {
	if item != m.item {
		m.item, m.position = item, 0
	}
	m.position += audio.Duration(samples, Format.RateHz)
	m.count++
	name := item + "@" + strconv.Itoa(int(m.position/time.Millisecond)) + "#" + strconv.Itoa(m.count)
	if len(m.pending) >= maxPending {
		m.pending = m.pending[1:]
	}
	m.pending = append(m.pending, pendingMark{name, item, m.position})
	return name
}

// played takes a mark that came back. Those of what was dropped are not known any more.
func (m *marks) played(name string) {
	at := slices.IndexFunc(m.pending, func(p pendingMark) bool { return p.name == name })
	if at < 0 {
		return
	}
	m.heardItem, m.heardTo = m.pending[at].item, m.pending[at].position
	m.pending = slices.Delete(m.pending, 0, at+1)
}

// isPlaying reports whether something that was sent was not played yet.
func (m *marks) isPlaying() bool { return len(m.pending) > 0 }

// hasTones reports whether something without an item was not played yet: the tones of keys.
func (m *marks) hasTones() bool {
	return slices.ContainsFunc(m.pending, func(p pendingMark) bool { return p.item == "" })
}

// heard is how much of an item was played.
type heard struct {
	item string
	to   time.Duration
}

// drop forgets what was not played, and returns the items that it is part of.
func (m *marks) drop() (cut []heard) {
	for _, p := range m.pending {
		if len(cut) > 0 && cut[len(cut)-1].item == p.item {
			continue
		}
		one := heard{item: p.item}
		if p.item == m.heardItem {
			one.to = m.heardTo
		}
		cut = append(cut, one)
	}
	m.pending = nil
	return cut
}
