package voice

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/cache"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/recordings"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/voice/hearing"
)

// Deps are what a Service works with. StackFunc and Now are required.
type Deps struct {
	StackFunc StackFunc
	// Now is the clock.
	Now func() time.Time
	// Log gets errors that no caller is told; nil discards them.
	Log *slog.Logger
	// Recordings keeps the sound of sessions whose agents record; nil: none is kept.
	Recordings *recordings.Service
	// MeterFunc counts what calls use; nil: nothing is counted.
	MeterFunc MeterFunc
	// LatencyFunc keeps how long the beginning of an answer took; nil: nothing does.
	LatencyFunc LatencyFunc
	// SaidFunc stores what a user has said to a node that the conversation has left; nil: it is lost.
	SaidFunc SaidFunc
	// EndModel judges whether a speaker has finished; nil: words and silence alone do.
	EndModel hearing.EndModel
	// LastWordsWithin is how long the words of somebody who is gone are waited for; 0: 2 s.
	LastWordsWithin time.Duration
	// Metrics counts what calls do; nil: nothing is counted.
	Metrics *Metrics
}

// Service makes the calls of this node and moves them on. It is safe for concurrent use.
type Service struct {
	deps Deps

	mu sync.Mutex
	// calls are those that the ticker moves. ticking is set while it runs.
	calls   map[*Call]struct{}
	ticking bool
	// rests are what calls that lost their client had still to say, by session. They are
	// forgotten when the client cannot come back any more.
	rests map[sessions.ID]rest
	// workers are the goroutines of calls.
	workers sync.WaitGroup
	// life ends when Close stops waiting.
	life    context.Context //nolint:containedctx // the life of goroutines that outlive their calls
	endLife context.CancelFunc
	notes   notes
	// phrases has the sound of texts that are said again and again.
	phrases *cache.Cache[phrase, []speech.Piece]
}

// tick is how often calls are moved: sound is sent, silence is heard, time-outs pass. One ticker
// serves all calls of a node.
const tick = 10 * time.Millisecond

// New makes the service.
func New(d Deps) *Service {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	d.LastWordsWithin = cmp.Or(d.LastWordsWithin, lastWordsWithin)
	s := &Service{deps: d, calls: map[*Call]struct{}{}, rests: map[sessions.ID]rest{}, phrases: cache.New[phrase, []speech.Piece](maxPhrases)}
	s.life, s.endLife = context.WithCancel(context.Background())
	s.notes = notes{log: d.Log, life: s.life, start: s.workers.Go}
	return s
}

// Start begins the call of a voice socket that has joined its conversation. ctx bounds the choice
// of what hears and speaks. It never fails: without a transcriber the user writes, without a
// synthesizer the agent does, and the client is told.
func (s *Service) Start(ctx context.Context, joined *live.Live) *Call {
	return s.StartWith(ctx, joined, Configure{})
}

// StartWith is Start for a socket whose settings are known, before anything is said.
func (s *Service) StartWith(ctx context.Context, joined *live.Live, known Configure) *Call {
	session := joined.Session()
	c := &Call{
		Live: joined, s: s, session: session, language: session.Language,
		detection: DetectionOf(session.Config.Voice), minute: -1, newestTurn: session.TurnCount - 1,
		asked: map[string]bool{}, unwanted: map[string]bool{}, own: map[string]bool{}, cuts: map[string]live.Truncate{},
	}
	c.input, c.output = Formats(session.Config.Voice)
	c.life, c.endLife = context.WithCancel(context.WithoutCancel(ctx))
	stack, err := s.deps.StackFunc(ctx, session.Ref(), session.Config.Voice, session.Language)
	c.mu.Lock()
	defer c.unlock(false)
	if s.deps.Recordings != nil {
		c.recording = recording{recorder: s.deps.Recordings.Start(session), begunAt: s.now()}
	}
	s.add(c) // before it asks what an earlier call has left
	c.begin(stack, err, known)
	return c
}

// add has the ticker move a call.
func (s *Service) add(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[c] = struct{}{}
	if !s.ticking {
		s.ticking = true
		s.workers.Go(s.run)
	}
}

// remove ends what add began.
func (s *Service) remove(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, c)
}

// rest is what is still to be said to a client that comes back.
type rest struct {
	text string
	// turn is the index of the newest turn that was known then.
	turn   int
	leftAt time.Time
}

// isStale reports whether a rest is not said any more to a client that joins a session.
func (r rest) isStale(joined sessions.Session, now time.Time) bool {
	return now.Sub(r.leftAt) > sessions.DropGrace || joined.TurnCount > r.turn+1
}

// maxRests bounds what is kept for clients that were lost.
const maxRests = 10_000

// leaveRest has the call that has replaced a call say a text, or the next one of the session.
func (s *Service) leaveRest(from *Call, r rest) {
	if r.text == "" {
		return
	}
	next := s.keepRest(from, r)
	if next == nil {
		return
	}
	s.workers.Go(func() { // not while the other call's mu is held
		next.mu.Lock()
		defer next.unlock(true)
		if next.left {
			s.leaveRest(next, r)
		} else {
			next.takeRest(r)
		}
	})
}

// keepRest keeps a text for the next call of a session, unless there is one already.
func (s *Service) keepRest(from *Call, r rest) (next *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.calls {
		if c != from && c.session.ID == from.session.ID {
			return c
		}
	}
	now := s.now()
	maps.DeleteFunc(s.rests, func(_ sessions.ID, r rest) bool { return now.Sub(r.leftAt) > sessions.DropGrace })
	if len(s.rests) < maxRests {
		s.rests[from.session.ID] = r
	}
	return nil
}

// takeRest is what the last call of a session on this node had still to say; empty: nothing, or the
// conversation has gone on since.
func (s *Service) takeRest(joined sessions.Session) rest {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.rests[joined.ID]
	delete(s.rests, joined.ID)
	if left.isStale(joined, s.now()) {
		return rest{}
	}
	return left
}

// run moves the calls until there are none.
func (s *Service) run() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for range ticker.C {
		s.mu.Lock()
		calls := slices.Collect(maps.Keys(s.calls))
		s.ticking = len(calls) > 0
		s.mu.Unlock()
		if len(calls) == 0 {
			return
		}
		for _, c := range calls {
			c.tick()
		}
	}
}

// Close waits until nothing of the calls is left to do, once all sockets have left. What could not
// be counted when ctx ends is lost. Errors: ctx's.
func (s *Service) Close(ctx context.Context) error {
	defer s.endLife()
	done := make(chan struct{})
	go func() { // ends with the workers
		s.workers.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	s.endLife()
	<-done
	return ctx.Err()
}

// now is the time on the wall.
func (s *Service) now() time.Time { return s.deps.Now() }
