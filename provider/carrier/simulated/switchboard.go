package simulated

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"parlance.dev/parlance/platform/seal"
)

// Options are what a switchboard is made of. AccountSID, AuthToken and Client are required.
type Options struct {
	// AccountSID and AuthToken are the credential of its REST interface. The token signs webhooks.
	AccountSID string
	AuthToken  seal.Secret
	// Numbers are the account's own, which calls come from, and which phones can dial.
	Numbers []string
	// Client calls webhooks and opens media sockets: it must hand over connections that switch to
	// another protocol, as speech.SocketClient's does.
	Client *http.Client
	// RequestTimeout bounds a webhook, and a write to a media socket; 0 is Twilio's 15 s.
	RequestTimeout time.Duration
	// Log gets what goes wrong; nil discards it.
	Log *slog.Logger
	// Now and After are the clock; nil is that of package time.
	Now   func() time.Time
	After func(d time.Duration) <-chan time.Time
}

// Switchboard connects phones with the service. It is safe for concurrent use. Close ends it.
type Switchboard struct {
	o    Options
	rest http.Handler
	life context.Context //nolint:containedctx // the life of calls, which outlive the requests that begin them
	end  context.CancelFunc
	// working waits for the goroutines of calls.
	working sync.WaitGroup

	mu sync.Mutex
	// What follows is guarded by mu. calls are in the order in which they began.
	closed  bool
	faults  Faults
	phones  map[string]*Phone
	calls   []*call
	numbers []*number
}

// number is a number of the account.
type number struct {
	sid, number string
	voiceURL    string
}

// Faults are what goes wrong, for tests. The zero value is nothing.
type Faults struct {
	// RepeatCallbacks sends each webhook about a status but the last twice: again behind the next.
	RepeatCallbacks bool
	// CutMedia loses the connections of media sockets.
	CutMedia bool
	// LosePlaced answers so many requests to place a call with a 500, although it is placed.
	LosePlaced int
	// ForgeSignatures signs webhooks with another token.
	ForgeSignatures bool
	// CallbackDelay is how long webhooks are on their way.
	CallbackDelay time.Duration
}

// New makes a switchboard.
func New(o Options) *Switchboard {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = time.After
	}
	o.RequestTimeout = cmp.Or(o.RequestTimeout, defaultRequestTimeout)
	s := &Switchboard{o: o, phones: map[string]*Phone{}}
	s.life, s.end = context.WithCancel(context.Background())
	for _, one := range o.Numbers {
		s.numbers = append(s.numbers, &number{sid: newSID("PN"), number: one})
	}
	s.rest = s.routes()
	return s
}

// Close hangs up all calls and waits for their ends. Webhooks that are on their way are given up.
func (s *Switchboard) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.working.Wait()
}

// Fail has things go wrong from now on.
func (s *Switchboard) Fail(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
}

func (s *Switchboard) failing() Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults
}

// start runs a function beside, unless the switchboard is closed.
func (s *Switchboard) start(run func()) (started bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.working.Go(run)
	}
	return !s.closed
}

// wait waits. Errors: ctx's.
func (s *Switchboard) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-s.o.After(d):
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ownNumber is a number of the account; nil: it is none.
func (s *Switchboard) ownNumber(is func(*number) bool) *number {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.numbers {
		if is(n) {
			return n
		}
	}
	return nil
}

// newSID is an id of Twilio's form.
func newSID(prefix string) string {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // it never fails
	return prefix + hex.EncodeToString(random)
}
