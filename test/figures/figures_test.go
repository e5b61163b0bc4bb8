package figures_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/test/figures"
)

func TestHeld(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		row  figures.Row
		want bool
	}{
		"NoTarget":    {figures.Row{Value: 9, Better: "lower"}, true},
		"Lower":       {figures.Row{Value: 9, Better: "lower"}.To(10), true},
		"TooHigh":     {figures.Row{Value: 11, Better: "lower"}.To(10), false},
		"Higher":      {figures.Row{Value: 11, Better: "higher"}.To(10), true},
		"TooLow":      {figures.Row{Value: 9, Better: "higher"}.To(10), false},
		"RatioCounts": {figures.Row{Value: 9, Better: "lower"}.Against(3).To(2), false},
		"RatioHeld":   {figures.Row{Value: 9, Better: "lower"}.Against(6).To(2), true},
	} {
		if got := row.row.Held(); got != row.want {
			t.Errorf("%s: held is %v, want %v", name, got, row.want)
		}
		if got := strings.Contains(row.row.String(), "missed"); got == row.want {
			t.Errorf("%s: the line is %s", name, row.row)
		}
	}
}

// TestWriteKeepsOtherParts writes two parts, then one of them again, over what had no parts yet.
func TestWriteKeepsOtherParts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "benchmarks.json")
	if err := os.WriteFile(path, []byte(`{"rows":[{"name":"old","value":1,"unit":"","better":"lower","note":""}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := figures.Write(dir, figures.PartKnowledge, nil); err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(path); err != nil || !strings.Contains(string(kept), `"old"`) {
		t.Errorf("what had no part is gone: %s, %v", kept, err)
	}
	steps := []struct{ part, name string }{
		{figures.PartRetrieval + " cran", "retrieved"}, {figures.PartService, "first"}, {figures.PartRetrieval +
			" cisi", "also"}, {figures.PartService, "second"},
	}
	for _, step := range steps {
		if err := figures.Write(dir, step.part, []figures.Row{{Name: step.name, Better: "lower"}}); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Machines map[string]string
		Rows     []figures.Row
	}
	if err := json.Unmarshal(written, &got); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range got.Rows {
		names = append(names, row.Name)
	}
	if strings.Join(names, " ") != "second retrieved also" || len(got.Machines) != 4 {
		t.Errorf("the rows are %v, of %d machines", names, len(got.Machines))
	}
	page, err := os.ReadFile(filepath.Join(dir, "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(page), "\n## "); n != 3 || !strings.Contains(string(page), "on the collection cisi") {
		t.Errorf("the page has %d parts:\n%s", n, page)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := figures.Write(dir, figures.PartService, nil); err == nil {
		t.Error("a broken file was written over")
	}
}

// TestUpdateKeepsOtherRows writes a part, then one row of it again.
func TestUpdateKeepsOtherRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	row := func(name string, value float64) figures.Row {
		return figures.Row{Name: name, Value: value, Better: "lower"}
	}
	if err := figures.Write(dir, figures.PartKnowledge, []figures.Row{row("a", 1), row("b", 2)}); err != nil {
		t.Fatal(err)
	}
	if err := figures.Update(dir, figures.PartKnowledge, []figures.Row{row("b", 3), row("c", 4)}); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(dir, "benchmarks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []figures.Row }
	if err := json.Unmarshal(written, &file); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, r := range file.Rows {
		got[r.Name] = r.Value
	}
	if len(file.Rows) != 3 || got["a"] != 1 || got["b"] != 3 || got["c"] != 4 {
		t.Errorf("rows are %v", got)
	}
}
