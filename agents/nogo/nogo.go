package nogo

import (
	"context"
	"fmt"
	"slices"
)

// The kinds of a match. Source: event escalation.triggered.
const (
	ByPhrase     = "phrase"
	ByPattern    = "pattern"
	BySimilarity = "similarity"
)

// Zone is something that an agent must stay away from.
type Zone struct {
	// Name is unique among the zones of an agent.
	Name string
	// Phrases are found as whole words, see the package.
	Phrases []string
	// Patterns are of RE2's syntax.
	Patterns []string
	// Examples are sentences; what is similar to one is in the zone.
	Examples []string
}

// Match is a zone that a text is in.
type Match struct {
	// Zone is the place of the zone in what Compile was given.
	Zone int
	// By is phrase, pattern or similarity.
	By string
	// Matched is the part of the text.
	Matched string
}

// Similar says which of the examples a sentence is most like; similar false: it is like none.
// Examples are numbered in the order of Zones.Examples.
type Similar func(ctx context.Context, sentence string) (example int, similar bool, err error)

// Zones are compiled zones. They do not change, and may be used by many goroutines.
type Zones struct {
	phrases  *phraseSet
	bounded  []pattern
	unending []pattern
	examples []example
	// window is the most characters that a bounded pattern can match.
	window int
}

// example is a sentence and the zone that it stands for.
type example struct {
	text string
	zone int
}

// Compile prepares zones. Errors name the zone and the phrase or pattern that cannot be used.
func Compile(zones []Zone) (*Zones, error) {
	z := &Zones{phrases: newPhraseSet()}
	for i, zone := range zones {
		for _, phrase := range zone.Phrases {
			if !z.phrases.add(phrase, i) {
				return nil, fmt.Errorf("zone %q: the phrase %q has no letter or digit", zone.Name, phrase)
			}
		}
		for _, source := range zone.Patterns {
			p, err := compilePattern(source, i)
			if err != nil {
				return nil, fmt.Errorf("zone %q: %w", zone.Name, err)
			}
			if p.longest > 0 {
				z.bounded = append(z.bounded, p)
				z.window = max(z.window, p.longest)
			} else {
				z.unending = append(z.unending, p)
			}
		}
		for _, text := range zone.Examples {
			z.examples = append(z.examples, example{text, i})
		}
	}
	return z, nil
}

// Find returns the zones that a whole text is in, each once, in their order. similar nil leaves out
// the examples. Errors: those of similar, together with what was found without it.
func (z *Zones) Find(ctx context.Context, text string, similar Similar) ([]Match, error) {
	var found []Match
	z.phrases.find(text, func(m Match) { found = append(found, m) })
	cleaned := newCleaned(text)
	for _, p := range slices.Concat(z.bounded, z.unending) {
		if from, to, ok := p.find(cleaned.text, 0, true); ok {
			found = append(found, Match{p.zone, ByPattern, text[cleaned.origin[from]:cleaned.origin[to]]})
		}
	}
	var err error
	if similar != nil && len(z.examples) > 0 {
		for _, sentence := range sentencesOf(text) {
			var one Match
			var is bool
			if one, is, err = z.similar(ctx, sentence, similar); err != nil {
				break
			} else if is {
				found = append(found, one)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Match) int { return a.Zone - b.Zone })
	return slices.CompactFunc(found, func(a, b Match) bool { return a.Zone == b.Zone }), err
}

// similar looks for an example that a sentence is like.
func (z *Zones) similar(ctx context.Context, sentence string, similar Similar) (Match, bool, error) {
	at, is, err := similar(ctx, sentence)
	if err != nil || !is {
		return Match{}, false, err
	}
	return Match{z.examples[at].zone, BySimilarity, sentence}, true, nil
}
