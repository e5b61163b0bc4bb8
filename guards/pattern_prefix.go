package guards

import (
	"regexp/syntax"
	"slices"
)

// maxPrefixes bounds the prefixes of a pattern, and their memory.
const maxPrefixes = 400

// prefixesOf returns strings one of which every match begins with. complete says that a match is
// one of the strings.
func prefixesOf(re *syntax.Regexp) (prefixes []string, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}, true
		}
	case syntax.OpCharClass:
		const few = 16
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if prefixes = append(prefixes, string(r)); len(prefixes) > few {
					return []string{""}, false
				}
			}
		}
		return prefixes, true
	case syntax.OpCapture:
		return prefixesOf(re.Sub[0])
	case syntax.OpQuest:
		prefixes, whole = prefixesOf(re.Sub[0])
		return append(slices.Clone(prefixes), ""), whole
	case syntax.OpEmptyMatch, syntax.OpWordBoundary:
		return []string{""}, true
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			more, all := prefixesOf(sub)
			prefixes, whole = append(prefixes, more...), whole && all
		}
		return prefixes, whole
	case syntax.OpConcat:
		prefixes, whole = []string{""}, true
		for _, sub := range re.Sub {
			more, all := prefixesOf(sub)
			if len(prefixes)*len(more) > maxPrefixes {
				return prefixes, false
			}
			prefixes, whole = concatEach(prefixes, more), all
			if !all {
				break
			}
		}
		return prefixes, whole
	}
	return []string{""}, false
}

// concatEach returns each of prefixes followed by each of more.
func concatEach(prefixes, more []string) []string {
	all := make([]string, 0, len(prefixes)*len(more))
	for _, prefix := range prefixes {
		for _, next := range more {
			all = append(all, prefix+next)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// requiredAfterGap returns strings one of which every match has after its first gap; nil when they
// are not known.
func requiredAfterGap(re *syntax.Regexp) []string {
	if re.Op != syntax.OpConcat {
		return nil
	}
	gap := slices.IndexFunc(re.Sub, func(sub *syntax.Regexp) bool { return sub.Op == syntax.OpRepeat && sub.Sub[0].Op == syntax.OpAnyChar })
	if gap < 0 {
		return nil
	}
	then, _ := prefixesOf(&syntax.Regexp{Op: syntax.OpConcat, Sub: re.Sub[gap+1:]})
	if slices.Contains(then, "") {
		return nil
	}
	return then
}

// beginsWord reports whether every match begins at the beginning of a word.
func beginsWord(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpWordBoundary:
		return true
	case syntax.OpConcat, syntax.OpCapture:
		return beginsWord(re.Sub[0])
	}
	return false
}

// mayBegin reports whether a match may begin with the operation.
func mayBegin(re *syntax.Regexp, op syntax.Op) bool {
	switch re.Op {
	case op:
		return true
	case syntax.OpCapture, syntax.OpConcat, syntax.OpQuest, syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		return mayBegin(re.Sub[0], op)
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return mayBegin(sub, op) })
	}
	return false
}

const (
	maxLength = 1 << 10
	unbounded = 1 << 20
)

// maxLengthOf returns the largest number of characters of a match; 0 when it is not bounded.
func maxLengthOf(re *syntax.Regexp) int {
	if span := boundLength(re); span <= maxLength {
		return span
	}
	return 0
}

// boundLength is maxLengthOf, with unbounded for a match of any length.
func boundLength(re *syntax.Regexp) int {
	sum := 0
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpCapture, syntax.OpQuest:
		return boundLength(re.Sub[0])
	case syntax.OpRepeat:
		if re.Max < 0 {
			return unbounded
		}
		return min(unbounded, re.Max*boundLength(re.Sub[0]))
	case syntax.OpStar, syntax.OpPlus:
		if sub := re.Sub[0]; sub.Op == syntax.OpCharClass && sub.Rune[len(sub.Rune)-1] <= ' ' {
			return 1 // blanks are collapsed
		}
		return unbounded
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			sum = min(unbounded, sum+boundLength(sub))
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			sum = max(sum, boundLength(sub))
		}
	}
	return sum
}
