package vector

import (
	"cmp"
	"math"
	"slices"
)

// Scored is a place with its score.
type Scored struct {
	Score float64
	Place int
}

// Top collects the places with the highest scores. Of equal scores the lower place is better.
type Top struct {
	limit int
	// heap has the worst of the best at its top. It is one as soon as it is full.
	heap []Scored
	// floor is the lowest score that may still be among the best.
	floor float64
}

// NewTop makes a Top of at most limit places.
func NewTop(limit int) *Top {
	return &Top{limit: limit, heap: make([]Scored, 0, limit), floor: math.Inf(-1)}
}

// Add offers a place.
func (t *Top) Add(score float64, place int) {
	if score >= t.floor {
		t.add(Scored{score, place})
	}
}

func (t *Top) add(one Scored) {
	switch {
	case t.limit == 0:
		return
	case len(t.heap) < t.limit:
		if t.heap = append(t.heap, one); len(t.heap) < t.limit {
			return
		}
		slices.SortFunc(t.heap, func(a, b Scored) int { return compare(b, a) })
	case worse(t.heap[0], one):
		t.replaceWorst(one)
	}
	t.floor = t.heap[0].Score
}

// replaceWorst puts one into the heap in the place of the worst. The children of i are at 2i+1 and
// 2i+2.
func (t *Top) replaceWorst(one Scored) {
	at := 0
	for {
		child := 2*at + 1
		if child >= len(t.heap) {
			break
		}
		if other := child + 1; other < len(t.heap) && worse(t.heap[other], t.heap[child]) {
			child = other
		}
		if !worse(t.heap[child], one) {
			break
		}
		t.heap[at] = t.heap[child]
		at = child
	}
	t.heap[at] = one
}

// Best returns the best in no order.
func (t *Top) Best() []Scored { return t.heap }

// Sorted returns the best, best first, and ends the collecting.
func (t *Top) Sorted() []Scored {
	slices.SortFunc(t.heap, compare)
	return t.heap
}

// worse says whether a is worse than b.
func worse(a, b Scored) bool {
	return a.Score < b.Score || a.Score == b.Score && a.Place > b.Place
}

// compare orders the better one first.
func compare(a, b Scored) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Place, b.Place))
}
