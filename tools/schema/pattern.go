package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxPatternSize bounds the regular expressions of one schema, in instructions. Without it a
	// schema with "a{1000}" two thousand times would take a quarter of a gigabyte of memory.
	maxPatternSize = 10_000
	// matchesPerStep is how many instructions can be tried on a character in the time of one step.
	matchesPerStep = 128
)

// patterns compiles the regular expressions of one schema and knows the size of each. Go's regular
// expressions do not backtrack, but may try each instruction at each character.
type patterns struct {
	sizes map[string]int
	total int
}

// compileRegexp implements jsonschema.RegexpEngine. The compiler calls it twice for most patterns.
func (p *patterns) compileRegexp(text string) (jsonschema.Regexp, error) {
	if _, known := p.sizes[text]; !known {
		parsed, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return nil, err
		}
		size := instructions(parsed)
		if p.total+size > maxPatternSize {
			return nil, fmt.Errorf("the patterns of a schema are too long together, repetitions counted: %d of at most %d instructions",
				p.total+size, maxPatternSize)
		}
		p.total += size
		p.sizes[text] = size
	}
	return regexp.Compile(text)
}

// instructions estimates the size of a compiled pattern without compiling it, which takes the
// memory.
func instructions(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)/8 // for a character class
	if re.Op == syntax.OpLiteral {
		size = len(re.Rune)
	}
	if re.Op == syntax.OpRepeat {
		times := re.Max
		if times < 0 { // x{3,} compiles to xxxx*
			times = re.Min + 1
		}
		return times*instructions(re.Sub[0]) + times - re.Min + 1
	}
	for _, sub := range re.Sub {
		size += instructions(sub)
	}
	return size
}

// matching is the cost of matching a pattern against a text, in steps.
func (p *patterns) matching(pattern, text string) int {
	return p.sizes[pattern] * len(text) / matchesPerStep
}
