package tools

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxPatternSize bounds the regular expressions of one schema, in instructions. Without it
	// "a{1000}" written two thousand times costs a quarter of a gigabyte for as long as it is kept.
	maxPatternSize = 10_000
	// matchesPerStep is how many instructions meet a character in the time of one of the steps.
	matchesPerStep = 128
)

// patterns compiles the regular expressions of one schema, and remembers what each may cost: Go's
// never look back, but they try each instruction at each character.
type patterns struct {
	sizes map[string]int
	total int
}

// compile is the schema compiler's door to regular expressions; it meets most of them twice.
func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	if _, known := p.sizes[text]; !known {
		parsed, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return nil, err
		}
		size := instructions(parsed)
		if p.total+size > maxPatternSize {
			return nil, fmt.Errorf("the patterns of a schema are too long together, repetitions counted: %d of at most %d instructions", p.total+size, maxPatternSize)
		}
		p.total += size
		p.sizes[text] = size
	}
	return regexp.Compile(text)
}

// instructions is about what a pattern compiles to; counted and not compiled, which costs the memory.
func instructions(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)/8 // a class
	if re.Op == syntax.OpLiteral {
		size = len(re.Rune)
	}
	if re.Op == syntax.OpRepeat {
		times := re.Max
		if times < 0 { // x{3,} is xxxx*
			times = re.Min + 1
		}
		return times*instructions(re.Sub[0]) + times - re.Min + 1
	}
	for _, sub := range re.Sub {
		size += instructions(sub)
	}
	return size
}

// matching is what looking for a pattern in a text costs, in steps.
func (p *patterns) matching(pattern, text string) int {
	return p.sizes[pattern] * len(text) / matchesPerStep
}
