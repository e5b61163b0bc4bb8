package judge

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"parlance.dev/parlance/agents/nogo"
)

// maxCalls bounds the calls for one text. What comes after is asked about in one more, when the
// text has ended.
const maxCalls = 20

// ErrStopped stops the text: a part of it is in a zone.
var ErrStopped = errors.New("the text is in a no-go zone")

// errGone ends calls whose answer nobody waits for.
var errGone = errors.New("the text was given up")

// FilterParams are where a Filter passes text on to.
type FilterParams struct {
	// Before was said before in the same answer: what goes on with it may be in a zone together.
	Before string
	// Say takes what may be passed on, in order. It is called by Write, by Finish and, between them,
	// by a goroutine of the filter, one at a time.
	Say func(text string) error
	// Stop is called when the judge stops the text while nobody writes.
	Stop func()
}

// Filter passes a text on that comes in pieces, up to the first match. Write and Finish are called
// by one goroutine, Finish always and last. Use Screen.NewFilter.
type Filter struct {
	FilterParams

	screen *Screen
	zones  *nogo.Filter
	// running is the goroutine that asks the judge.
	running sync.WaitGroup

	mu sync.Mutex
	// said was passed on; held waits for the judge.
	said strings.Builder
	held string
	// asking says that a call is under way; calls counts them.
	asking bool
	calls  int
	// cancel ends the call.
	cancel context.CancelFunc
	// ended says that no more text comes.
	ended bool
	// found is the match that stopped the text; behind held is another one.
	found, behind *nogo.Match
	// err ends the text.
	err error
}

// NewFilter makes the filter of one text.
func (s *Screen) NewFilter(p FilterParams) *Filter {
	return &Filter{FilterParams: p, screen: s, zones: s.zones.NewFilterAfter(p.Before)}
}

// Write takes the next piece. Errors: ErrStopped, those of Say and of the CompareFunc, and the end
// of ctx. Calls of the judge that it begins have ended when Finish returns.
func (f *Filter) Write(ctx context.Context, piece string) error {
	through, match, err := f.zones.Write(ctx, piece)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.take(ctx, through, match, err)
}

// Finish says that the text has ended, waits for the judge and returns the match that stopped the
// text; nil: none did. With an error of the text's source other than ErrStopped, what is held back
// is dropped. Errors: that one, and those of Write other than ErrStopped.
func (f *Filter) Finish(ctx context.Context, source error) (*nogo.Match, error) {
	f.mu.Lock()
	stopped := f.found != nil || f.behind != nil
	switch {
	case stopped: // the source failed because it was stopped
		f.ended = true
		f.start(ctx)
	case source != nil:
		f.err = cmp.Or(f.err, errGone)
		if f.asking {
			f.cancel()
		}
	case f.err == nil:
		f.ended = true
		through, match, err := f.zones.Close(ctx)
		_ = f.take(ctx, through, match, err) // is in f.err
	}
	f.mu.Unlock()
	f.running.Wait()
	if f.found == nil && f.err == nil {
		f.found = f.behind
	}
	switch {
	case f.found != nil:
		return f.found, nil
	case source != nil && !stopped:
		return nil, source
	}
	return nil, f.err
}

// take takes text that is in no zone by phrases, patterns and examples. The lock is held.
func (f *Filter) take(ctx context.Context, through string, match *nogo.Match, err error) error {
	if f.err != nil {
		return f.err
	}
	if err != nil {
		f.err = err
		return err
	}
	if match != nil {
		f.behind, f.ended = match, true
	}
	if f.screen.judge == nil {
		f.err = f.pass(through)
	} else {
		f.held += through
		f.start(ctx)
	}
	if f.err == nil && match != nil {
		return ErrStopped
	}
	return f.err
}

// pass passes text on.
func (f *Filter) pass(text string) error {
	f.said.WriteString(text)
	return f.Say(text)
}

// start asks the judge about the sentences that have ended, unless it is being asked.
func (f *Filter) start(ctx context.Context) {
	if f.asking || f.err != nil || f.screen.judge == nil || f.calls >= maxCalls && !f.ended {
		return
	}
	sentences := nogo.Sentences(f.held)
	if n := len(sentences); n > 0 && !f.ended {
		sentences = sentences[:n-1] // the last one may go on
	}
	if len(sentences) == 0 {
		return
	}
	if text := strings.Join(sentences, ""); strings.TrimSpace(text) == "" {
		f.held = f.held[len(text):]
		f.err = f.pass(text)
		return
	}
	f.asking = true
	f.calls++
	calling, cancel := context.WithCancel(ctx)
	f.cancel = cancel
	before := f.said.String()
	f.running.Go(func() {
		if f.ask(calling, before, sentences) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.start(ctx)
		}
	})
}

// ask asks about sentences and passes those on that break no rule. It reports whether the text goes
// on.
func (f *Filter) ask(ctx context.Context, before string, sentences []string) bool {
	broken, err := f.screen.ask(ctx, before, sentences)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asking = false
	f.err = cmp.Or(f.err, ctx.Err())
	f.cancel()
	if f.err != nil {
		return false
	}
	cleared := len(sentences)
	if failures := f.screen.failures(); err != nil && len(failures) > 0 {
		f.found, cleared = cmp.Or(f.behind, &failures[0]), 0 // a match is better known than a failure
	}
	if len(broken) > 0 {
		match := f.screen.matchOf(broken[0], sentences)
		f.found, cleared = &match, broken[0].Sentence
	}
	text := strings.Join(sentences[:cleared], "")
	f.held = f.held[len(text):]
	if f.err = f.pass(text); f.err != nil {
		return false
	}
	if f.found != nil {
		f.err = ErrStopped
		f.Stop()
	}
	return f.err == nil
}
