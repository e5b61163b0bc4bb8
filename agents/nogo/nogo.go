package nogo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/lexicon"
)

// The kinds of a match. Source: event escalation.triggered.
const (
	ByPhrase     = "phrase"
	ByPattern    = "pattern"
	BySimilarity = "similarity"
	// ByJudge and ByJudgeFailed are of package judge.
	ByJudge       = "judge"
	ByJudgeFailed = "judge_failed"
)

// Zone is something that an agent must stay away from.
type Zone struct {
	// Name is unique among the zones of an agent.
	Name string
	// Phrases are found as whole words, see the package.
	Phrases []string
	// Patterns are of RE2's syntax.
	Patterns []string
	// Examples are sentences: a sentence that has at least MinSimilarity to one is in the zone.
	Examples []string
	// MinSimilarity is 0 to 1.
	MinSimilarity float64
}

// Match is a zone that a text is in.
type Match struct {
	// Zone is the place of the zone in what Compile was given.
	Zone int
	// By is one of the kinds above.
	By string
	// Matched is the part of the text.
	Matched string
	// Similarity is that to the example; 0 when a phrase or pattern matched.
	Similarity float64
}

// CompareFunc returns the similarities, 0 to 1, of each sentence to the examples of all zones, in
// their order.
type CompareFunc func(ctx context.Context, sentences []string) ([][]float64, error)

// Zones are compiled zones. They do not change, and may be used by many goroutines.
type Zones struct {
	phrases  *phraseSet
	bounded  []pattern
	unending []pattern
	examples []example
	compare  CompareFunc
	// window is the most characters that a bounded pattern can match.
	window int
}

// example is a sentence and the zone that it stands for.
type example struct {
	zone  int
	least float64
}

// Compile prepares zones. compare is needed where one has examples. Errors name the zone and the
// phrase or pattern that cannot be used.
func Compile(zones []Zone, compare CompareFunc) (*Zones, error) {
	z := &Zones{phrases: newPhraseSet(), compare: compare}
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
		if len(zone.Examples) > 0 && compare == nil {
			return nil, fmt.Errorf("zone %q: there is nothing to compare its examples by", zone.Name)
		}
		for range zone.Examples {
			z.examples = append(z.examples, example{i, zone.MinSimilarity})
		}
	}
	return z, nil
}

// Find returns the zones that a whole text is in, each once, in their order. Errors: those of the
// CompareFunc, together with what was found without it.
func (z *Zones) Find(ctx context.Context, text string) ([]Match, error) {
	var found []Match
	z.phrases.find(text, func(m Match) { found = append(found, m) })
	cleaned := newCleaned(text)
	for _, p := range slices.Concat(z.bounded, z.unending) {
		if from, to, ok := p.find(cleaned.text, 0, true); ok {
			found = append(found, Match{Zone: p.zone, By: ByPattern, Matched: text[cleaned.origin[from]:cleaned.origin[to]]})
		}
	}
	sentences := Sentences(text)
	if line := lineEnds.Replace(text); line != text { // an end of a line may be that of a sentence, or not
		sentences = append(sentences, Sentences(line)...)
	}
	like, err := z.similar(ctx, sentences)
	found = append(found, like...)
	slices.SortStableFunc(found, func(a, b Match) int { return a.Zone - b.Zone })
	return slices.CompactFunc(found, func(a, b Match) bool { return a.Zone == b.Zone }), err
}

// lineEnds makes one line of a text.
var lineEnds = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\u2028", " ", "\u2029", " ")

// similar are the zones that sentences are in by the examples: of each sentence, in order, the most
// similar first.
func (z *Zones) similar(ctx context.Context, sentences []string) ([]Match, error) {
	sentences = slices.DeleteFunc(sentences, func(sentence string) bool { return strings.TrimSpace(sentence) == "" })
	if len(z.examples) == 0 || len(sentences) == 0 {
		return nil, nil
	}
	visible := make([]string, len(sentences))
	for i, sentence := range sentences {
		visible[i] = lexicon.Visible(sentence)
	}
	similarities, err := z.compare(ctx, visible)
	if err != nil {
		return nil, err
	}
	var all []Match
	for i, sentence := range sentences {
		var found []Match
		for j, similarity := range similarities[i] {
			if similarity >= z.examples[j].least {
				found = append(found, Match{Zone: z.examples[j].zone, By: BySimilarity, Matched: sentence, Similarity: similarity})
			}
		}
		slices.SortStableFunc(found, func(a, b Match) int { return cmp.Compare(b.Similarity, a.Similarity) })
		all = append(all, found...)
	}
	return all, nil
}
