package document_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/knowledge/document"
)

func TestParseJSON(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 120)
	rows := []struct {
		name, file string
		want       []string
	}{
		{
			"small objects are lines",
			`{"name": "Acme", "address": {"city": "Oslo", "geo": {"lat": 59.9, "lon": 10}}, "tags": ["a", "b"], "open": true, "fax": null}`,
			[]string{
				"list : name: Acme\naddress: city: Oslo, geo: (lat: 59.9, lon: 10)\ntags: a, b\nopen: true\nfax: null",
			},
		},
		{"records are rows", `{"items": [{"sku": 1, "title": "Lamp"}, {"sku": 2, "title": "Desk", "notes": "` + long +
			`"}, {"sku": 3}], "total": 3}`, []string{
			"heading items: items", "table items: sku: 1 | title: Lamp",
			"heading items > [1]: [1]", "list items > [1]: sku: 2\ntitle: Desk",
			"paragraph items > [1]: notes: " + strings.TrimSpace(long),
			"table items: sku: 3", "list : total: 3",
		}},
		{"numbers and double keys as written", `{"n": 123456789012345678901234567890.10, "e": 1E400, "a": 1, "a": 2}`, []string{
			"list : n: 123456789012345678901234567890.10\ne: 1E400\na: 1\na: 2",
		}},
		{"lines", "{\"a\": 1}\n{\"a\": 2}\n\n{\"a\": 3}\n", []string{"table : a: 1\na: 2\na: 3"}},
		{"a scalar", `"just words"`, []string{"list : just words"}},
		{"an array", `["x", {"y": "é\u00e9\n1"}]`, []string{"list : x", "table : y: éé 1"}},
	}
	for _, row := range rows {
		if diff := cmp.Diff(row.want, outline(parse(t, "application/json", row.file))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}

func TestParseJSONRefuses(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, file string
		kind       document.ErrorKind
		says       string
	}{
		{"cut off", "{\"a\": 1,\n\"b\": [", document.Corrupt, "line 2"},
		{"not json", "{\n\n a: 1}", document.Corrupt, "line 3"},
		{"two values glued by a comma", `{"a":1},{"b":2}`, document.Corrupt, "line 1"},
		{"no line", "a: 1\nb: 2\n", document.Corrupt, "line 1"},
		{"a list of rows that is cut off", "[\n{\"a\": 1},\n{\"a\": 2}", document.Corrupt, "line 3"},
		{"deep", strings.Repeat("[", 5000) + strings.Repeat("]", 5000), document.TooComplex, "100"},
		{"deeper than the decoder goes", strings.Repeat(`{"a":`, 100_000), document.TooComplex, "100"},
	}
	for _, row := range rows {
		_, err := document.Parse(t.Context(), "application/json", strings.NewReader(row.file), document.Options{})
		got, ok := errors.AsType[*document.Error](err)
		if !ok || got.Kind != row.kind || !strings.Contains(got.Message, row.says) {
			t.Errorf("%s: got %v, want %s saying %q", row.name, err, row.kind, row.says)
		}
	}
}

// TestParseJSONLines leaves out the lines that cannot be read, and names them.
func TestParseJSONLines(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("\n{\"a\": ", 12)
	rows := []struct {
		name, file string
		want       []string
		warnings   []string
	}{
		{
			"in the middle", "{\"a\": 1}\n\n{\"a\": 2\n{\"a\": 3}\n",
			[]string{"table : a: 1\na: 3"},
			[]string{"Line 3 is not valid JSON and was left out."},
		},
		{
			"first and cut off", "# export\n{\"a\": 1}\n{\"a\": 2}\n{\"a\": \"th",
			[]string{"table : a: 1\na: 2"},
			[]string{"Line 1 is not valid JSON and was left out.", "Line 4 is not valid JSON and was left out."},
		},
		{"many", "{\"a\": 1}\n{\"a\": 2}" + many, []string{"table : a: 1\na: 2"}, []string{
			"Line 3 is not valid JSON and was left out.",
			"Line 4 is not valid JSON and was left out.", "Line 5 is not valid JSON and was left out.",
			"Line 6 is not valid JSON and was left out.", "Line 7 is not valid JSON and was left out.",
			"Line 8 is not valid JSON and was left out.", "Line 9 is not valid JSON and was left out.",
			"Line 10 is not valid JSON and was left out.", "Line 11 is not valid JSON and was left out.",
			"Line 12 is not valid JSON and was left out.",
			"2 more lines are not valid JSON and were left out.",
		}},
		{"values over several lines", "{\n\"a\": 1\n}\n{\n\"a\": 2\n}\n", []string{"list : a: 1", "table : a: 2"}, nil},
	}
	for _, row := range rows {
		doc := parse(t, "application/json", row.file)
		if diff := cmp.Diff(row.want, outline(doc)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
		if diff := cmp.Diff(row.warnings, doc.Warnings); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", row.name, diff)
		}
	}
}

// A key or heading may be a large part of the file and stand above all of the rest.
func TestPathsStayShort(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("k", 100_000)
	file := `{"` + key + `": {"` + key + `": {"` + key + `": ["` + strings.Repeat("v", 700) + `"]}}}`
	page := parse(t, "text/html", "<h1>"+key+"</h1><p>below")
	for _, block := range append(page.Blocks, parse(t, "application/json", file).Blocks...) {
		for _, heading := range block.HeadingPath {
			if len(heading) > 1000 {
				t.Fatalf("a heading of %d bytes", len(heading))
			}
		}
	}
}
