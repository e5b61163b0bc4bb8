package document

import (
	"cmp"
	"strconv"
	"strings"
)

// docxLevels is how many levels a list has. Source: ECMA-376, ilvl.
const docxLevels = 9

// numberLevel is how one level of a list counts.
type numberLevel struct {
	start  int
	format string
	// pattern is like "%1.%2)".
	pattern string
}

// docxNumbers counts the paragraphs of lists.
type docxNumbers struct {
	abstract map[string][docxLevels]numberLevel
	// lists are the numIds; those of one abstract list go on counting where the other stopped.
	lists map[docxOrdinal]numberedList
	// links are the abstract lists by the style that names them, and the styles that others ask
	// for.
	byStyle, wants map[string]string
	counters       map[string]*[docxLevels]int
	begun          map[docxOrdinal]bool
}

type numberedList struct {
	abstract string
	// restart are the levels that begin anew, plus one, with this list.
	restart map[int]int
}

// read reads numbering.xml.
func (n *docxNumbers) read(x *xmlReader) error {
	var file struct {
		Abstract []struct {
			ID           string       `xml:"abstractNumId,attr"`
			StyleLink    docxValue    `xml:"styleLink"`
			NumStyleLink docxValue    `xml:"numStyleLink"`
			Levels       []levelEntry `xml:"lvl"`
		} `xml:"abstractNum"`
		Lists []struct {
			ID        string    `xml:"numId,attr"`
			Abstract  docxValue `xml:"abstractNumId"`
			Overrides []struct {
				Level string      `xml:"ilvl,attr"`
				Start docxOrdinal `xml:"startOverride"`
			} `xml:"lvlOverride"`
		} `xml:"num"`
	}
	err := x.decode(&file)
	n.abstract, n.lists = make(map[string][docxLevels]numberLevel), make(map[docxOrdinal]numberedList)
	n.byStyle, n.wants = make(map[string]string), make(map[string]string)
	for _, one := range file.Abstract {
		if one.StyleLink != "" {
			n.byStyle[string(one.StyleLink)] = one.ID
		}
		n.wants[one.ID] = string(one.NumStyleLink)
		var levels [docxLevels]numberLevel
		for _, entry := range one.Levels {
			if index := plusOne(entry.Index) - 1; index >= 0 && index < docxLevels {
				levels[index] = entry.level()
			}
		}
		n.abstract[one.ID] = levels
	}
	for _, one := range file.Lists {
		list := numberedList{abstract: string(one.Abstract), restart: make(map[int]int)}
		for _, override := range one.Overrides {
			list.restart[int(plusOne(override.Level))-1] = int(override.Start)
		}
		n.lists[plusOne(one.ID)] = list
	}
	return err
}

// levelEntry is a level as the file describes it.
type levelEntry struct {
	Index   string      `xml:"ilvl,attr"`
	Start   docxOrdinal `xml:"start"`
	Format  docxValue   `xml:"numFmt"`
	Pattern docxValue   `xml:"lvlText"`
}

func (e levelEntry) level() numberLevel {
	return numberLevel{
		start:   int(cmp.Or(e.Start, 2)) - 1,
		format:  cmp.Or(string(e.Format), "decimal"),
		pattern: shortened(string(e.Pattern), maxPathChars),
	}
}

// mark counts a paragraph and gives its number, "-" for a bullet. id and level are as in the
// style: one more than in the file. ok is false where the paragraph is in no list.
func (n *docxNumbers) mark(id, level docxOrdinal) (mark string, indent int, ok bool) {
	if id <= 1 { // numId 0 takes the numbering of the style off
		return "", 0, false
	}
	index := min(max(int(level)-1, 0), docxLevels-1)
	list, known := n.lists[id]
	if !known {
		return "-", index, true
	}
	abstract := list.abstract
	if linked, ok := n.byStyle[n.wants[abstract]]; ok {
		abstract = linked
	}
	levels := n.abstract[abstract]
	counters := n.count(id, list, abstract, levels, index)
	return levels[index].render(levels, counters), index, true
}

// count moves the counters on.
func (n *docxNumbers) count(
	id docxOrdinal, list numberedList, abstract string, levels [docxLevels]numberLevel, index int,
) *[docxLevels]int {
	if n.counters == nil {
		n.counters, n.begun = make(map[string]*[docxLevels]int), make(map[docxOrdinal]bool)
	}
	counters := n.counters[abstract]
	if counters == nil {
		counters = new([docxLevels]int)
		for i := range counters {
			counters[i] = levels[i].start - 1
		}
		n.counters[abstract] = counters
	}
	if !n.begun[id] {
		n.begun[id] = true
		for level, start := range list.restart {
			if level >= 0 && level < docxLevels && start > 0 {
				counters[level] = start - 2
			}
		}
	}
	counters[index]++
	for i := index + 1; i < docxLevels; i++ {
		counters[i] = levels[i].start - 1
	}
	for i := range index { // an item may come before any of its parents
		counters[i] = max(counters[i], levels[i].start)
	}
	return counters
}

// render fills the pattern of a level.
func (l numberLevel) render(levels [docxLevels]numberLevel, counters *[docxLevels]int) string {
	switch l.format {
	case "bullet":
		return "-"
	case "none":
		return ""
	case "":
		return "-" // a level that numbering.xml does not describe
	}
	text := l.pattern
	for i := range docxLevels {
		if place := "%" + strconv.Itoa(i+1); strings.Contains(text, place) {
			text = strings.ReplaceAll(text, place, counted(counters[i], levels[i].format))
		}
	}
	return strings.TrimSpace(text)
}

// counted writes a number in a format; decimal for those that few documents use.
func counted(n int, format string) string {
	switch format {
	case "lowerLetter", "upperLetter":
		if n < 1 || n > 780 {
			break
		}
		letter := rune('a' + (n-1)%26)
		if format == "upperLetter" {
			letter += 'A' - 'a'
		}
		return strings.Repeat(string(letter), (n-1)/26+1)
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "upperRoman":
		return roman(n)
	case "decimalZero":
		if n < 10 && n >= 0 {
			return "0" + strconv.Itoa(n)
		}
	case "bullet", "none":
		return ""
	}
	return strconv.Itoa(n)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var s strings.Builder
	for i, value := range []int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1} {
		for ; n >= value; n -= value {
			s.WriteString([]string{"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"}[i])
		}
	}
	return s.String()
}
