package search

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/platform/lexicon"
)

// TestPostings counts the words of chunks at random one by one, and reads what was packed of them.
func TestPostings(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(8, 8))
	names := strings.Fields("river lamp stone garden winter bread copper signal harbour meadow engine letter")
	for i := range 300 {
		names = append(names, names[i%12]+names[chance.IntN(12)]+names[chance.IntN(12)])
	}
	chunks := make([]Entry, 200)
	want := map[string][]posting{}
	lengths := make([]int, len(chunks))
	for i := range chunks {
		var text strings.Builder
		for range chance.IntN(40) {
			text.WriteString(names[chance.IntN(1+chance.IntN(len(names)))] + " the ")
		}
		chunks[i] = Entry{Text: text.String()}
		times := map[string]int{}
		for _, term := range lexicon.Analyse(text.String(), "en") {
			times[term]++
			lengths[i]++
		}
		for term, n := range times {
			want[term] = append(want[term], posting{int32(i), int32(n)})
		}
	}
	index := BuildIndex(chunks)
	if diff := cmp.Diff(index.lengths, lengths); diff != "" {
		t.Errorf("lengths: %s", diff)
	}
	terms := slices.Collect(maps.Keys(want))
	got := map[string][]posting{}
	for number, packed := range index.pages {
		page, err := readPage(packed, len(chunks))
		if err != nil {
			t.Fatal(err)
		}
		for _, term := range append(terms, "absent") {
			list := page.find(term)
			if len(list) > 0 && pageOf(term, len(index.pages)) != number {
				t.Errorf("%q lies in page %d", term, number)
			}
			if len(list) > 0 {
				got[term] = append(got[term], list...)
			}
		}
		if _, err := readPage(packed[:len(packed)/2], len(chunks)); err == nil && len(packed) > 1 {
			t.Errorf("half of page %d was read", number)
		}
	}
	if diff := cmp.Diff(got, want, cmp.AllowUnexported(posting{})); diff != "" {
		t.Error(diff)
	}
}
