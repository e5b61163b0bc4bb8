package sound

import "time"

// Player plays the agent's items in the order in which they came, at the pace of real time, with
// silence where there is nothing to say. It is used by one goroutine.
type Player struct {
	sink  Sink
	queue []piece
	// item is what was played last, and played how many of its samples were.
	item   string
	played int
	// cut are items that were interrupted: what still comes of them is dropped.
	cut     map[string]bool
	silence []int16
	// begin is called when the first samples of an item are played.
	begin func(item string)
}

// piece is some sound of an item.
type piece struct {
	item    string
	samples []int16
}

// NewPlayer plays into a sink. begin is called when the first sound of an item is played.
func NewPlayer(sink Sink, begin func(item string)) *Player {
	return &Player{sink: sink, begin: begin, cut: map[string]bool{}}
}

// Queue adds sound of an item. It is dropped when the item was cut.
func (p *Player) Queue(item string, samples []int16) {
	if len(samples) > 0 && !p.cut[item] {
		p.queue = append(p.queue, piece{item, samples})
	}
}

// Advance plays the next due samples. What the sink does not take yet stays in the queue.
func (p *Player) Advance(due int) {
	for due > 0 {
		if len(p.queue) == 0 {
			if len(p.silence) < due {
				p.silence = make([]int16, due)
			}
			p.sink.Write(p.silence[:due]) // silence need not be heard
			return
		}
		next := &p.queue[0]
		samples := next.samples[:min(due, len(next.samples))]
		if !p.sink.Write(samples) {
			return
		}
		if next.item != p.item {
			p.item, p.played = next.item, 0
			p.begin(p.item)
		}
		p.played += len(samples)
		due -= len(samples)
		if next.samples = next.samples[len(samples):]; len(next.samples) == 0 {
			p.queue = p.queue[1:]
		}
	}
}

// Idle reports whether there is nothing more to play.
func (p *Player) Idle() bool { return len(p.queue) == 0 }

// Playing is the item that is played, or was played last, and how much of it was heard; "" before
// the first. An item that is queued and has not begun counts as playing when no other one is.
func (p *Player) Playing() (item string, heard time.Duration) {
	if len(p.queue) > 0 && p.queue[0].item != p.item {
		return p.queue[0].item, 0
	}
	samples := max(p.played-int(p.sink.Lag().Seconds()*RateHz), 0)
	return p.item, time.Duration(samples) * time.Second / RateHz
}

// Cut drops all that is queued, also what still comes of these items and of the one that is played.
func (p *Player) Cut() {
	for _, one := range p.queue {
		p.cut[one.item] = true
	}
	if p.item != "" {
		p.cut[p.item] = true
	}
	p.queue = nil
}
