package realtime

import (
	"context"
	"sync"
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/ticker"
)

const (
	followEvery = 100 * time.Millisecond
	// concludeWithin is how long the last frames of an answer may take from its end on another node
	// to here: some rounds of that node's relay and of ours.
	concludeWithin = 2 * time.Second
)

// follower passes on what other nodes still say to the client's last sockets: an answer that goes on
// there. The frames come as events of the Live, so that they have their place among the others.
type follower struct {
	relay  *relay
	trails []*trail
	live   *live.Live
	seen   map[string]bool
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// followed are frames of another node.
type followed struct{ frames []kept }

// concluded says that the last frames of an answer should have come by now.
type concluded struct{ response string }

// follow begins where the trails have been read to.
func follow(relay *relay, trails []*trail, live *live.Live) *follower {
	ctx, stop := context.WithCancel(context.Background())
	f := &follower{relay: relay, trails: trails, live: live, seen: map[string]bool{}, stop: stop}
	for _, t := range trails {
		for id := range ids(t.frames) {
			f.seen[id] = true
		}
	}
	f.done.Go(func() { f.run(ctx) })
	return f
}

func (f *follower) run(ctx context.Context) {
	ticker.Until(ctx, followEvery, func() (done bool) {
		for _, t := range f.trails {
			if t.ended {
				continue
			}
			next := *t
			frames, err := f.relay.follow(ctx, &next)
			if err != nil || next.gapped {
				continue // it is concluded without them
			}
			if fresh := unseen(frames, f.seen); len(fresh) > 0 && !f.live.Inject(followed{frames: fresh}) {
				return true // another socket goes on from t
			}
			*t = next
		}
		return false
	})
}

// end stops the follower; its trails say how far it came.
func (f *follower) end() {
	f.stop()
	f.done.Wait()
}
