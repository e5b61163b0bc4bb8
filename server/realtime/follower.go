package realtime

import (
	"context"
	"sync"
	"time"

	"parlance.dev/parlance/platform/ticker"
)

const (
	followInterval = 100 * time.Millisecond
	// lastFramesTimeout is how long the last frames of an answer may take from its end on another
	// node to here: some flushes there and some readings here.
	lastFramesTimeout = 2 * time.Second
)

// follower passes on an answer that another node goes on giving to the client's last sockets. It
// injects the frames into the Live, so that they have their place among its events.
type follower struct {
	store   *frameStore
	streams []*remoteFrames
	live    conversation
	seen    map[string]bool
	stop    context.CancelFunc
	done    sync.WaitGroup
}

// framesFollowed is an injected event: frames of another node.
type framesFollowed struct{ frames []sentFrame }

// lastFramesDue is an injected event: the last frames of the answer should have come by now.
type lastFramesDue struct{ responseID string }

// follow starts where the streams have been read to.
func follow(store *frameStore, streams []*remoteFrames, joined conversation) *follower {
	ctx, stop := context.WithCancel(context.Background())
	f := &follower{store: store, streams: streams, live: joined, seen: map[string]bool{}, stop: stop}
	for _, remote := range streams {
		for id := range idsOf(remote.frames) {
			f.seen[id] = true
		}
	}
	f.done.Go(func() { f.run(ctx) })
	return f
}

func (f *follower) run(ctx context.Context) {
	ticker.Until(ctx, followInterval, func() (done bool) {
		for _, remote := range f.streams {
			if remote.ended {
				continue
			}
			next := *remote
			frames, err := f.store.readMore(ctx, &next)
			if err != nil || next.hasGap {
				continue // the answer ends without these frames: see lastFramesTimeout
			}
			fresh := takeUnseen(frames, f.seen)
			if len(fresh) > 0 && !f.live.Inject(framesFollowed{frames: fresh}) {
				return true // another socket follows on from remote
			}
			*remote = next
		}
		return false
	})
}

// end stops the follower. Its streams say how far it came.
func (f *follower) end() {
	f.stop()
	f.done.Wait()
}
