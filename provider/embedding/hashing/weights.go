package hashing

import (
	_ "embed"
	"strings"
	"sync"
)

// weightsText has a line for each weight below 1, in tenths, with the terms that have it: those of
// the most English texts weigh least. They are log(1 + (N - n + 0.5) / (n + 0.5)) / 7, of N texts n
// with the term, counted over the comments of Go's and Python's libraries, the manuals and READMEs
// of Debian and Perl, and the abstracts of the collections CACM and CISI, science and technology in
// equal parts. Words that say nothing in another language weigh a tenth, or half where English has
// them too. A term that is not there weighs 1. Changing it changes the vectors, and so the model's
// name.
//
//go:embed weights.txt
var weightsText string

var weights = sync.OnceValue(func() map[uint64]float64 {
	table := map[uint64]float64{}
	for line := range strings.Lines(weightsText) {
		tenths, terms, _ := strings.Cut(strings.TrimSpace(line), " ")
		for term := range strings.FieldsSeq(terms) {
			table[hashOf('w', term)] = float64(tenths[0]-'0') / 10
		}
	}
	return table
})

// weightOf is how much the term of a hash says, above 0 to 1.
func weightOf(hash uint64) float64 {
	if weight, common := weights()[hash]; common {
		return weight
	}
	return 1
}
