package document

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/provider/ocr"
	"parlance.dev/parlance/provider/pdf"
)

// maxRanges is how many ranges of pages a warning names.
const maxRanges = 10

// lowConfidence collects the pages that OCR was not sure of. They come in order.
type lowConfidence struct {
	// ranges of page numbers, both ends included.
	ranges [][2]int
	pages  int
	// chars counts their characters, sure sums up the confidence of these.
	chars, sure float64
	// scripts counts the pages by what their letters look like; "" is left out.
	scripts map[string]int
}

// add takes a page in if its text comes from a picture and is not to be relied on.
func (l *lowConfidence) add(page pdf.Page) {
	chars := 0
	for _, block := range page.Blocks {
		chars += utf8.RuneCountInString(block.Text)
	}
	if chars == 0 || page.Confidence >= ocr.LowConfidence {
		return
	}
	l.pages++
	l.chars += float64(chars)
	l.sure += float64(chars) * page.Confidence
	if page.Script != "" {
		if l.scripts == nil {
			l.scripts = map[string]int{}
		}
		l.scripts[page.Script]++
	}
	if last := len(l.ranges) - 1; last >= 0 && l.ranges[last][1] == page.Number-1 {
		l.ranges[last][1] = page.Number
		return
	}
	l.ranges = append(l.ranges, [2]int{page.Number, page.Number})
}

// warnings has one sentence about all those pages; none when there is no such page.
func (l *lowConfidence) warnings(ctx context.Context, reader ocr.Reader) ([]string, error) {
	if l.pages == 0 {
		return nil, nil
	}
	installed, err := reader.Installed(ctx)
	if err != nil {
		return nil, ofPicture(err)
	}
	installed = slices.DeleteFunc(slices.Clone(installed), func(name string) bool { return name == "osd" }) // no language: tells scripts
	pages, were := "Page ", "was"
	if l.pages > 1 {
		pages, were = "Pages ", "were"
	}
	return []string{fmt.Sprintf("%s%s %s read by OCR with low confidence (%.0f of 100): the text may be wrong.%s "+
		"Set ocr_languages (installed: %s) or upload a better scan.",
		pages, l.rangesText(), were, l.sure/l.chars, l.scriptText(), strings.Join(installed, ", "))}, nil
}

// rangesText is "2, 4 to 6 and 9".
func (l *lowConfidence) rangesText() string {
	var parts []string
	named := 0
	for _, r := range l.ranges[:min(len(l.ranges), maxRanges)] {
		text := fmt.Sprint(r[0])
		if r[1] > r[0] {
			text += fmt.Sprintf(" to %d", r[1])
		}
		parts, named = append(parts, text), named+r[1]-r[0]+1
	}
	if more := l.pages - named; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// scriptText names the script that most of the pages look like.
func (l *lowConfidence) scriptText() string {
	best := ""
	for script, count := range l.scripts {
		if count > l.scripts[best] || count == l.scripts[best] && script < best {
			best = script
		}
	}
	if best == "" {
		return ""
	}
	return " The script looks like " + best + "."
}
