package extractive

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// section is what stands under one heading, or behind one question, of a passage.
type section struct {
	// title is the heading or question without its marks; empty before the first.
	title string
	units []string
}

// whole is the title and all that stands under it.
func (s section) whole() string { return s.title + "\n" + strings.Join(s.units, "\n") }

var (
	// blockStart begins a line that does not continue the one before: list item, heading, quote.
	blockStart = regexp.MustCompile(`^\s*([-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|>)`)
	heading    = regexp.MustCompile(`^\s*#{1,6}\s+`)
	marker     = regexp.MustCompile(`^\s*(?:[-*+•]\s+|>\s*|\d{1,3}[.)]\s+)`)
	asks       = regexp.MustCompile(`^\s*(?:[QFP]|Question|Frage)\s?[:.)]\s+`)
	answers    = regexp.MustCompile(`^\s*(?:[ARS]|Answer|Antwort|Réponse|Respuesta)\s?[:.)]\s+`)
	ruler      = regexp.MustCompile(`^[\s|:=-]+$`)
	emphasis   = strings.NewReplacer("**", "", "__", "", "`", "")
)

const (
	// maxTitleWords is how long a line can be that reads as a heading whose markup was taken away,
	// maxQuestionWords one that asks.
	maxTitleWords    = 10
	maxQuestionWords = 25
)

// sections cuts Markdown or plain text into its sections, and these into sentences, list items and
// table rows, without markup. A row is told with the heads of its columns.
func sections(text string) []section {
	all := []section{{}}
	for _, block := range paragraphs(text) {
		last := &all[len(all)-1]
		switch {
		case isTable(block):
			last.units = append(last.units, rows(block)...)
			continue
		case isTitle(block):
			all = append(all, section{title: bare(block[0])})
			continue
		}
		if asks.MatchString(block[0]) || len(block) > 1 && asksShortly(block[0]) {
			all = append(all, section{title: bare(block[0])})
			if block = block[1:]; len(block) == 0 {
				continue
			}
			last = &all[len(all)-1]
		}
		for _, item := range items(block) {
			for _, s := range split(item) {
				if s = strings.TrimSpace(emphasis.Replace(s)); strings.IndexFunc(s, unicode.IsLetter) >= 0 {
					last.units = append(last.units, s)
				}
			}
		}
	}
	return slices.DeleteFunc(all, func(s section) bool { return s.title == "" && len(s.units) == 0 })
}

// sentences are the units of all sections.
func sentences(text string) (all []string) {
	for _, s := range sections(text) {
		all = append(all, s.units...)
	}
	return all
}

// paragraphs are the lines between blank ones. A line with heading marks stands by itself, and so
// do the lines of a table.
func paragraphs(text string) (all [][]string) {
	var open []string
	end := func() {
		if len(open) > 0 {
			all, open = append(all, open), nil
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case strings.TrimSpace(line) == "":
			end()
		case heading.MatchString(line):
			end()
			all = append(all, []string{line})
		case len(open) > 0 && isRow(line) != isRow(open[len(open)-1]), asks.MatchString(line), strings.HasPrefix(line, "**"):
			end()
			open = append(open, line)
		default:
			open = append(open, line)
		}
	}
	end()
	return all
}

// isTitle says whether a paragraph is a heading: by its marks, or as one short line that no
// sentence's end closes, or that asks.
func isTitle(block []string) bool {
	if heading.MatchString(block[0]) {
		return true
	}
	if len(block) > 1 {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(bare(block[0]))
	return asksShortly(block[0]) ||
		!blockStart.MatchString(block[0]) && !unicode.IsPunct(last) && len(strings.Fields(block[0])) <= maxTitleWords
}

// asksShortly says whether a line is one question.
func asksShortly(line string) bool {
	return isQuestion(bare(line)) && len(strings.Fields(line)) <= maxQuestionWords
}

// bare is a line without marks and numbering.
func bare(line string) string {
	line = heading.ReplaceAllString(line, "")
	line = asks.ReplaceAllString(line, "")
	return strings.TrimSpace(emphasis.Replace(marker.ReplaceAllString(line, "")))
}

func isRow(line string) bool { return strings.Contains(line, " | ") || strings.HasPrefix(line, "|") }

func isTable(block []string) bool { return len(block) > 1 && isRow(block[0]) && isRow(block[1]) }

// rows are the rows of a table, each cell behind the head of its column.
func rows(block []string) (out []string) {
	heads := cells(block[0])
	for _, line := range block[1:] {
		if ruler.MatchString(line) {
			continue
		}
		var told []string
		for i, cell := range cells(line) {
			if i < len(heads) && heads[i] != "" && cell != "" {
				cell = heads[i] + ": " + cell
			}
			if cell != "" {
				told = append(told, cell)
			}
		}
		out = append(out, strings.Join(told, ", "))
	}
	return out
}

func cells(row string) []string {
	parts := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
	for i, part := range parts {
		parts[i] = strings.TrimSpace(emphasis.Replace(part))
	}
	return parts
}

// items joins wrapped lines and cuts at list items. The mark of an answer is left out.
func items(block []string) (out []string) {
	for i, line := range block {
		line = answers.ReplaceAllString(line, "")
		if i > 0 && !blockStart.MatchString(line) {
			out[len(out)-1] += " " + strings.TrimSpace(line)
			continue
		}
		out = append(out, strings.TrimSpace(marker.ReplaceAllString(line, "")))
	}
	return out
}
