package judge

import (
	"context"
	"slices"
	"strings"
	"sync"

	"parlance.dev/parlance/agents/nogo"
)

// Screen looks at texts by the guards of one agent, during one turn. Safe for concurrent use.
type Screen struct {
	zones *nogo.Zones
	// judge is nil when no guard has one.
	judge *Judge

	mu sync.Mutex
	// calls were made and not yet taken.
	calls []Call
	// failed says that the judge failed, and that its sentences are passed on: it is not asked again.
	failed bool
}

// NewScreen makes a screen. judge nil: no guard has one.
func NewScreen(zones *nogo.Zones, judge *Judge) *Screen { return &Screen{zones: zones, judge: judge} }

// Asks reports whether guards have a judge.
func (s *Screen) Asks() bool { return s.judge != nil }

// TakeCalls returns the calls since the last time.
func (s *Screen) TakeCalls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

// Allowed are the zones whose judge failed and that passed sentences on because of it.
func (s *Screen) Allowed() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var zones []int
	if s.failed {
		for _, rule := range s.judge.Rules {
			zones = append(zones, rule.Zone)
		}
	}
	return zones
}

// FindAll returns the zones that a text is in, each once, in their order. Errors: those of the
// CompareFunc and of the judge, together with what was found without it.
func (s *Screen) FindAll(ctx context.Context, text string) ([]nogo.Match, error) {
	found, err := s.zones.Find(ctx, text)
	if err != nil || s.judge == nil {
		return found, err
	}
	sentences := sayable(text)
	broken, _, err := s.judge.Ask(ctx, "", sentences)
	for _, b := range broken {
		found = append(found, s.matchOf(b, sentences))
	}
	return firstOfEach(found), err
}

// FindFirst returns the first zone that a text is in; nil: it is in none. When the judge fails and
// nothing else matches, it is the first zone whose sentences are blocked then. Errors: those of the
// CompareFunc, and the end of ctx.
func (s *Screen) FindFirst(ctx context.Context, text string) (*nogo.Match, error) {
	found, err := s.zones.Find(ctx, text)
	if err != nil {
		return nil, err
	}
	before := func(rule Rule) bool { return len(found) == 0 || rule.Zone < found[0].Zone }
	if s.judge != nil && slices.ContainsFunc(s.judge.Rules, before) {
		sentences := sayable(text)
		broken, err := s.ask(ctx, "", sentences)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, b := range broken {
			found = append(found, s.matchOf(b, sentences))
		}
		if err != nil && len(found) == 0 {
			found = s.failures()
		}
		found = firstOfEach(found)
	}
	if len(found) == 0 {
		return nil, nil //nolint:nilnil // most texts are in no zone
	}
	return &found[0], nil
}

// ask asks the judge, unless it has failed and its sentences are passed on.
func (s *Screen) ask(ctx context.Context, before string, sentences []string) ([]Broken, error) {
	s.mu.Lock()
	skip := s.failed || len(sentences) == 0
	s.mu.Unlock()
	if skip {
		return nil, nil
	}
	broken, calls, err := s.judge.Ask(ctx, before, sentences)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, calls...)
	s.failed = err != nil && ctx.Err() == nil && len(s.failures()) == 0
	return broken, err
}

// failures are the zones that block when the judge fails.
func (s *Screen) failures() []nogo.Match {
	var all []nogo.Match
	for _, rule := range s.judge.Rules {
		if !rule.Allow {
			all = append(all, nogo.Match{Zone: rule.Zone, By: nogo.ByJudgeFailed})
		}
	}
	return all
}

func (s *Screen) matchOf(b Broken, sentences []string) nogo.Match {
	return nogo.Match{Zone: s.judge.Rules[b.Rule].Zone, By: nogo.ByJudge, Matched: strings.TrimSpace(sentences[b.Sentence])}
}

// firstOfEach sorts matches by zone and leaves the first of each.
func firstOfEach(found []nogo.Match) []nogo.Match {
	slices.SortStableFunc(found, func(a, b nogo.Match) int { return a.Zone - b.Zone })
	return slices.CompactFunc(found, func(a, b nogo.Match) bool { return a.Zone == b.Zone })
}

// sayable are the sentences of a text that have more than white space.
func sayable(text string) []string {
	return slices.DeleteFunc(nogo.Sentences(text), func(sentence string) bool { return strings.TrimSpace(sentence) == "" })
}
