package nogo

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// step is how many bytes of new text patterns are looked for in at a time, so that they are not
// looked for anew with every piece of a text.
const step = 24

// maxBefore bounds the text before, see NewFilterAfter.
const maxBefore = 1024

// leastForgotten is how many bytes are dropped at a time.
const leastForgotten = 128

// Filter lets a text through that comes in pieces, up to the first match. It is for one goroutine.
// Use Zones.NewFilter.
type Filter struct {
	zones *Zones
	scan  phraseScan
	// text is what has come and may still matter: from patterns look at, to the end.
	text []byte
	// released is how much of text was let through, scanned how much was searched for phrases,
	// searched how much for patterns, and judged how much as sentences.
	released, scanned, searched, judged int
	// clear is up to where no pattern with a bound can begin any more.
	clear int
	// found is the first match, once there is one.
	found *Match
	// at is where it begins.
	at int
}

// NewFilter makes the filter of one text.
func (z *Zones) NewFilter() *Filter {
	return &Filter{zones: z, scan: phraseScan{set: z.phrases, boundary: true}}
}

// NewFilterAfter makes the filter of a text that goes on with one that was let through: a match
// that begins there is found, and nothing behind it comes through.
func (z *Zones) NewFilterAfter(before string) *Filter {
	f := z.NewFilter()
	if before == "" {
		return f
	}
	for len(before) > maxBefore { // its end is enough for a phrase
		_, size := utf8.DecodeRuneInString(before)
		before = before[size:]
	}
	f.text = append(f.text, before...)
	for i, r := range before {
		f.scan.next(i, r, func(candidate) {})
	}
	f.released, f.scanned, f.judged = len(f.text), len(f.text), len(f.text)
	return f
}

// Write takes the next piece and returns what may be let through now. match is the first zone that
// the text is in: nothing more comes through after it. Errors: those of the CompareFunc, which let
// nothing through.
func (f *Filter) Write(ctx context.Context, piece string) (through string, match *Match, err error) {
	if f.found != nil {
		return "", nil, nil
	}
	f.text = append(f.text, piece...)
	return f.pass(ctx, false)
}

// Close says that the text has ended, and returns the rest of it.
func (f *Filter) Close(ctx context.Context) (through string, match *Match, err error) {
	if f.found != nil {
		return "", nil, nil
	}
	return f.pass(ctx, true)
}

// Held is how many bytes are held back.
func (f *Filter) Held() int { return len(f.text) - f.released }

func (f *Filter) pass(ctx context.Context, ended bool) (string, *Match, error) {
	safe := f.scanPhrases(ended)
	safe = min(safe, f.searchPatterns(ended || f.found != nil)) // what stands before a phrase is all there is
	sentence, err := f.judgeSentences(ctx, ended)
	if err != nil {
		return "", nil, err
	}
	safe = min(safe, sentence)
	if f.found != nil {
		safe = min(safe, f.at)
	}
	safe = max(safe, f.released)
	through := string(f.text[f.released:safe])
	f.released = safe
	f.forget()
	return through, f.found, nil
}

// match keeps the match that begins first.
func (f *Filter) match(m Match, at int) {
	if f.found == nil || at < f.at {
		f.found, f.at = &m, at
	}
}

// scanPhrases looks for phrases in what is new, and returns up to where none can begin any more.
func (f *Filter) scanPhrases(ended bool) int {
	if len(f.zones.phrases.all) == 0 {
		return len(f.text)
	}
	tell := func(c candidate) {
		f.match(Match{Zone: f.zones.phrases.all[c.phrase].zone, By: ByPhrase, Matched: string(f.text[c.start:c.end])}, c.start)
	}
	for i, r := range string(f.text[f.scanned:]) {
		f.scan.next(f.scanned+i, r, tell)
	}
	f.scanned = len(f.text)
	if ended {
		f.scan.finish(tell)
		return len(f.text)
	}
	return f.scan.earliest(len(f.text))
}

// searchPatterns looks for the patterns that have a bound, and returns up to where none can begin
// any more.
func (f *Filter) searchPatterns(ended bool) int {
	if len(f.zones.bounded) == 0 {
		return len(f.text)
	}
	if ended || len(f.text)-f.searched >= step {
		c := newCleaned(string(f.text))
		f.searched, f.clear = len(f.text), c.before(f.zones.window)
		behind, _ := slices.BinarySearch(c.origin, f.released) // what was let through has been searched
		for _, p := range f.zones.bounded {
			if from, to, ok := p.find(c.text, behind, ended); ok {
				start := c.origin[from]
				f.match(Match{Zone: p.zone, By: ByPattern, Matched: string(f.text[start:c.origin[to]])}, start)
			}
		}
	}
	if ended {
		return len(f.text)
	}
	return f.clear
}

// judgeSentences looks at each sentence that has ended, for what is looked for in whole sentences.
// It returns up to where sentences have been looked at.
func (f *Filter) judgeSentences(ctx context.Context, ended bool) (int, error) {
	if len(f.zones.unending)+len(f.zones.examples) == 0 {
		f.judged = len(f.text)
		return len(f.text), nil
	}
	rest := string(f.text[f.judged:])
	for _, sentence := range Sentences(rest) {
		if !ended && f.judged+len(sentence) == len(f.text) { // it may go on
			break
		}
		if err := f.judge(ctx, sentence); err != nil || f.found != nil {
			return f.judged, err
		}
		f.judged += len(sentence)
	}
	return f.judged, nil
}

func (f *Filter) judge(ctx context.Context, sentence string) error {
	c := newCleaned(sentence)
	for _, p := range f.zones.unending {
		if from, to, ok := p.find(c.text, 0, true); ok {
			f.match(Match{Zone: p.zone, By: ByPattern, Matched: sentence[c.origin[from]:c.origin[to]]}, f.judged)
			return nil
		}
	}
	like, err := f.zones.similar(ctx, []string{sentence})
	if err == nil && len(like) > 0 {
		f.match(like[0], f.judged)
	}
	return err
}

// forget drops the text that nothing looks at any more.
func (f *Filter) forget() {
	cut := min(f.released, f.judged, f.scan.earliest(len(f.text)))
	if len(f.zones.bounded) > 0 {
		cut = min(cut, f.clear-f.zones.window)
	}
	if cut < leastForgotten {
		return
	}
	for cut > 0 && cut < len(f.text) && !utf8.RuneStart(f.text[cut]) {
		cut--
	}
	f.text = slices.Delete(f.text, 0, cut)
	f.released, f.scanned, f.searched, f.judged = f.released-cut, f.scanned-cut, max(0, f.searched-cut), f.judged-cut
	f.clear = max(0, f.clear-cut)
	f.at -= cut
	f.scan.shift(cut)
}

// Sentences cuts a text into sentences, with the white space behind them. A line of its own is
// one too.
func Sentences(text string) []string {
	var all []string
	for segments := sentences.FromString(text); segments.Next(); {
		all = append(all, segments.Value())
	}
	return all
}
