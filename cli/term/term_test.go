package term

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func none(string) (string, bool) { return "", false }

func TestWidth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "abc": 3, "Öl": 2, "O\u0308l": 2, "日本語": 6, "ｆ": 2, "a\u200bb": 2, "…━": 2} {
		if got := Width(text); got != want {
			t.Errorf("Width(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestCleanTakesControlAway(t *testing.T) {
	t.Parallel()
	if got, want := Clean("a\x1b[31mb\u202ec\u0000\r\nd\te\xff\u009b1m"), "a[31mbc d e1m"; got != want {
		t.Errorf("Clean gave %q, want %q", got, want)
	}
	if got, want := CleanText("a\x1b]0;own\x07\r\n\tb\x1b")+CleanText("[2Jc\u009b1m\u202ed"), "a]0;own\n\tb[2Jc1md"; got != want {
		t.Errorf("CleanText gave %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{"a", "    b"}, CleanLines("a \n\tb\x07")); diff != "" {
		t.Errorf("CleanLines (-want +got):\n%s", diff)
	}
}

func TestCutAndPad(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		got, want string
	}{
		{Cut("handbook", 8), "handbook"},
		{Cut("handbook", 5), "hand…"},
		{Cut("日本語", 4), "日…"},
		{Cut("handbook", 0), ""},
		{CutMiddle("a long name of a report.pdf", 12), "a long n…pdf"},
		{CutMiddle("日本語のファイル.json", 12), "日本語の…son"},
		{Pad("日本", 6), "日本  "},
		{Pad("handbook.pdf", 9), "handbo…df"},
	} {
		if row.got != row.want {
			t.Errorf("got %q, want %q", row.got, row.want)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"one two", "three", "fourfiv", "e six"}, Wrap(" one two\nthree fourfive six", 7)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, line := range Wrap("日本語の文章には空白がありません", 7) {
		if Width(line) > 7 {
			t.Errorf("%q is wider than 7", line)
		}
	}
	Wrap("日本", 1) // ends
}

func TestTable(t *testing.T) {
	t.Parallel()
	columns := []Column{{Title: "NAME", Shrinks: true}, {Title: "SIZE", Right: true}, {Title: "ID"}}
	all := []Column{{Title: "NAME", Shrinks: true}, {Title: "SIZE", Right: true, Drops: 1}, {Title: "AGE", Drops: 2}, {Title: "ID"}}
	rows := [][]Cell{
		{{Text: "日本"}, {Text: "1 kB"}, {Text: "a"}},
		{{Text: strings.Repeat("long name ", 10) + ".pdf"}, {Text: "12 kB"}, {Text: "b"}},
	}
	narrow := Open(&bytes.Buffer{}, none)
	narrow.Terminal = true
	lines := narrow.Table(columns, rows)
	for _, line := range lines {
		if Width(line) > 80 {
			t.Errorf("a line takes %d columns: %q", Width(line), line)
		}
	}
	if !strings.HasSuffix(lines[2], ".pdf  12 kB  b") || !strings.HasPrefix(lines[1], "日本   ") {
		t.Errorf("table:\n%s", strings.Join(lines, "\n"))
	}
	wide := []Cell{
		{Text: strings.Repeat("n", 30)},
		{Text: strings.Repeat("s", 40)},
		{Text: strings.Repeat("a", 20)},
		{Text: strings.Repeat("i", 30)},
	}
	if got := narrow.Table(all, [][]Cell{wide}); got[0] != "NAME"+strings.Repeat(" ", 20)+"  AGE"+strings.Repeat(" ",
		17)+"  ID" || Width(got[1]) != 78 {
		t.Errorf("the size should have gone, and only that:\n%s", strings.Join(got, "\n"))
	}
	whole := Open(&bytes.Buffer{}, none).Table(columns, rows)
	if !strings.Contains(whole[2], rows[1][0].Text) {
		t.Errorf("a script does not find the whole name:\n%s", whole[2])
	}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := Open(&out, none)
	s.Terminal = true
	s.Draw(nil, []string{"row 1", "row 2"})
	s.Draw([]string{"done 1"}, []string{"row 2"})
	s.Draw(nil, nil)
	want := "row 1\nrow 2\n" + "\x1b[2A\x1b[J" + "done 1\nrow 2\n" + "\x1b[1A\x1b[J"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out.Reset()
	plain := Open(&out, none)
	plain.Draw([]string{plain.Good("done")}, []string{"row"})
	if got := out.String(); got != "done\n" {
		t.Errorf("where nobody looks %q is written", got)
	}
}
