package guards

import (
	"regexp/syntax"
	"slices"
)

// What is known of a pattern's matches before they are looked for.

// maxHeads bounds the heads of a way, and what they cost.
const maxHeads = 400

// headsOf are strings of which every match begins with one; whole says that they are all of it.
func headsOf(re *syntax.Regexp) (heads []string, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}, true
		}
	case syntax.OpCharClass:
		const few = 16
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if heads = append(heads, string(r)); len(heads) > few {
					return []string{""}, false
				}
			}
		}
		return heads, true
	case syntax.OpCapture:
		return headsOf(re.Sub[0])
	case syntax.OpQuest:
		heads, whole = headsOf(re.Sub[0])
		return append(slices.Clone(heads), ""), whole
	case syntax.OpEmptyMatch, syntax.OpWordBoundary:
		return []string{""}, true
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			more, all := headsOf(sub)
			heads, whole = append(heads, more...), whole && all
		}
		return heads, whole
	case syntax.OpConcat:
		heads, whole = []string{""}, true
		for _, sub := range re.Sub {
			more, all := headsOf(sub)
			if len(heads)*len(more) > maxHeads {
				return heads, false
			}
			heads, whole = crossed(heads, more), all
			if !all {
				break
			}
		}
		return heads, whole
	}
	return []string{""}, false
}

func crossed(heads, more []string) []string {
	all := make([]string, 0, len(heads)*len(more))
	for _, head := range heads {
		for _, next := range more {
			all = append(all, head+next)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// thenOf are strings of which one stands in every match behind the first gap; none: that is not known.
func thenOf(re *syntax.Regexp) []string {
	if re.Op != syntax.OpConcat {
		return nil
	}
	gap := slices.IndexFunc(re.Sub, func(sub *syntax.Regexp) bool { return sub.Op == syntax.OpRepeat && sub.Sub[0].Op == syntax.OpAnyChar })
	if gap < 0 {
		return nil
	}
	then, _ := headsOf(&syntax.Regexp{Op: syntax.OpConcat, Sub: re.Sub[gap+1:]})
	if slices.Contains(then, "") {
		return nil
	}
	return then
}

// beginsWord says whether every match begins where a word does.
func beginsWord(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpWordBoundary:
		return true
	case syntax.OpConcat, syntax.OpCapture:
		return beginsWord(re.Sub[0])
	}
	return false
}

// mayBegin says whether a match may begin with a condition, as far as can be told at once.
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

// spanOf is the most characters that a match has; 0: any number.
func spanOf(re *syntax.Regexp) int {
	if span := spanBelow(re); span <= maxSpan {
		return span
	}
	return 0
}

const (
	maxSpan  = 1 << 10
	spanless = 1 << 20
)

func spanBelow(re *syntax.Regexp) int {
	sum := 0
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpCapture, syntax.OpQuest:
		return spanBelow(re.Sub[0])
	case syntax.OpRepeat:
		if re.Max < 0 {
			return spanless
		}
		return min(spanless, re.Max*spanBelow(re.Sub[0]))
	case syntax.OpStar, syntax.OpPlus:
		if sub := re.Sub[0]; sub.Op == syntax.OpCharClass && sub.Rune[len(sub.Rune)-1] <= ' ' {
			return 1 // of blanks there is one at most
		}
		return spanless
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			sum = min(spanless, sum+spanBelow(sub))
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			sum = max(sum, spanBelow(sub))
		}
	}
	return sum
}
