package kb

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/kb/intake"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

var paint = regexp.MustCompile("\x1b\\[[0-9;]*m")

// No row may be wider than the screen: a wrapped row cannot be redrawn.
func TestKBProgressFits(t *testing.T) {
	t.Parallel()
	screen := term.Open(&bytes.Buffer{}, func(string) (string, bool) { return "", false })
	screen.Terminal, screen.Colour = true, true
	k := &kb{Caller: client.Caller{Screen: screen, Now: time.Now}}
	items := []intake.Item{{Name: "日本語のとても長いファイル名がここにあります.pdf", SizeBytes: 123_456_789}, {Name: "a.md"}, {Name: strings.Repeat("x", 200)}}
	p := &progress{kb: k, states: make([]intake.State, len(items))}
	for _, item := range items {
		p.name = max(p.name, term.Width(item.Name))
	}
	source := &parlancev1.Source{Status: "processing", Stage: "ocr", PagesDone: 1234, PageCount: 2000, Progress: 43}
	for columns := 20; columns <= 200; columns++ {
		for _, s := range []intake.State{
			{Item: items[0], Phase: intake.Uploading, SentBytes: 98_765_432},
			{Item: items[2], Phase: intake.Uploading, Wait: "too many uploads a minute"},
			{Item: items[2], Phase: intake.Ingesting, Source: source},
			{Item: items[1], Phase: intake.Ingesting, Source: &parlancev1.Source{Status: "queued"}},
			{Item: items[1], Phase: intake.Fetching},
		} {
			row := paint.ReplaceAllString(p.row(s, columns), "")
			if term.Width(row) >= columns {
				t.Fatalf("%d columns: a row takes %d: %q", columns, term.Width(row), row)
			}
		}
	}
	row := paint.ReplaceAllString(p.row(intake.State{Item: items[1], Phase: intake.Ingesting, Source: source}, 110), "")
	for _, want := range []string{"a.md", "━", "43 %", "OCR page 1234 of 2000"} {
		if !strings.Contains(row, want) {
			t.Errorf("the row lacks %q: %s", want, row)
		}
	}
}

// Items that do not fit on the screen are counted.
func TestKBProgressOfMany(t *testing.T) {
	t.Parallel()
	screen := term.Open(&bytes.Buffer{}, func(string) (string, bool) { return "", false })
	screen.Terminal = true
	p := &progress{kb: &kb{Caller: client.Caller{Screen: screen, Now: time.Now}}}
	for i := range 100 {
		p.states = append(p.states, intake.State{Item: intake.Item{Name: fmt.Sprint(i)}, Phase: intake.Ingesting, Source: &parlancev1.Source{}})
	}
	p.states[0] = intake.State{Phase: intake.Done, Outcome: intake.Failed, Err: errors.New("no")}
	rows := p.rows()
	if len(rows) != 22 || !strings.Contains(rows[21], "1 of 100 done, 1 failed, 78 more under way") {
		t.Errorf("%d rows, the last %q", len(rows), rows[len(rows)-1])
	}
}
