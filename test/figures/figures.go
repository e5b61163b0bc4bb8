package figures

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// The parts of the files, in the order in which they stand there.
const (
	PartService   = "service"
	PartKnowledge = "knowledge"
	PartTools     = "tools"
	PartSessions  = "sessions"
	PartWebhooks  = "webhooks"
	// PartVoice is of spoken conversations.
	PartVoice = "voice"
	// PartRetrieval and a space begin the parts of test collections: "retrieval cran".
	PartRetrieval = "retrieval"
	// PartAnswers is of the questions over help centres.
	PartAnswers = "answers"
	// PartPages is of the order in which pages are read.
	PartPages = "pages"
)

// Row is one figure. Target is compared with Ratio where there is one, else with Value; fields
// that say nothing are left out.
type Row struct {
	// Part is set by Write.
	Part  string  `json:"part,omitempty"`
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Floor is what Value cannot be better than here, or the peer it is compared with, in Unit.
	Floor *float64 `json:"floor,omitempty"`
	// Ratio is Value through Floor.
	Ratio  *float64 `json:"ratio,omitempty"`
	Target *float64 `json:"target,omitempty"`
	// Better is lower or higher.
	Better string `json:"better"`
	// Note says how it was measured.
	Note string `json:"note"`
}

// Against sets the floor and the ratio to it.
func (r Row) Against(floor float64) Row {
	ratio := Round(r.Value / floor)
	floor = Round(floor)
	r.Floor, r.Ratio = &floor, &ratio
	return r
}

// To sets the target.
func (r Row) To(target float64) Row {
	r.Target = &target
	return r
}

// Held says whether the row meets its target, if it has one.
func (r Row) Held() bool {
	if r.Target == nil {
		return true
	}
	figure := r.Value
	if r.Ratio != nil {
		figure = *r.Ratio
	}
	if r.Better == "higher" {
		return figure >= *r.Target
	}
	return figure <= *r.Target
}

// String is the row as a line of the table.
func (r Row) String() string {
	cells := []string{r.Name, number(&r.Value) + " " + r.Unit, number(r.Floor), number(r.Ratio), "", r.Note}
	if r.Target != nil {
		sign, verdict := "≤ ", "held"
		if r.Better == "higher" {
			sign = "≥ "
		}
		if !r.Held() {
			verdict = "**missed**"
		}
		cells[4] = sign + number(r.Target) + ", " + verdict
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// Round keeps three figures: more than the measurement is worth.
func Round(v float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v
	}
	return short
}

// Median is the middle of the values, of which there must be some.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// file is docs/benchmarks.json.
type file struct {
	// Machines says for each part on what it was measured last.
	Machines map[string]string `json:"machines"`
	Rows     []Row             `json:"rows"`
}

// Write puts the rows of a part into both files in a directory, in place of those that were there.
func Write(dir, part string, rows []Row) error {
	return write(dir, part, rows, func(Row) bool { return true })
}

// Update is Write that leaves the rows of other names in the part.
func Update(dir, part string, rows []Row) error {
	return write(dir, part, rows, func(old Row) bool {
		return slices.ContainsFunc(rows, func(r Row) bool { return r.Name == old.Name })
	})
}

// write puts rows in place of those of the part that go.
func write(dir, part string, rows []Row, goes func(Row) bool) error {
	path := filepath.Join(dir, "benchmarks.json")
	var f file
	old, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(old, &f)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("reading what was measured before: %w", err)
	}
	if f.Machines == nil {
		f.Machines = map[string]string{}
	}
	f.Machines[part] = fmt.Sprintf("%d cores of %s/%s with %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	for i := range f.Rows {
		f.Rows[i].Part = cmp.Or(f.Rows[i].Part, PartService) // of 0.1.0, which had no parts
	}
	f.Rows = slices.DeleteFunc(f.Rows, func(r Row) bool { return r.Part == part && goes(r) })
	for _, row := range rows {
		row.Part = part
		f.Rows = append(f.Rows, row)
	}
	slices.SortStableFunc(f.Rows, func(a, b Row) int { return order(a.Part) - order(b.Part) })
	encoded, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the rows: %w", err)
	}
	if err := os.WriteFile(path, append(encoded, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the rows: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "benchmarks.md"), []byte(f.page()), 0o644); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

func order(part string) int {
	parts := []string{PartService, PartSessions, PartVoice, PartTools, PartWebhooks, PartKnowledge, PartRetrieval, PartAnswers, PartPages}
	return slices.Index(parts, strings.Fields(part)[0])
}

// headings say how each part was measured.
var headings = map[string]string{
	PartService: "## The service\n\nWritten by `task bench` (`go run ./test/bench`).",
	PartKnowledge: "## The knowledge base\n\nWritten by `task bench:kb` (`go run ./test/bench -kb`): one server and one " +
		"worker as processes of " +
		"their own, the offline embedder, the settings as shipped.",
	PartTools: "## Tools\n\nWritten by `task bench:tools` (`go run ./test/bench -tools`): calls as turns make them, from a " +
		"process that shares " +
		"the cores with the endpoint and Postgres.",
	PartWebhooks: "## Webhooks\n\nWritten by `task bench:webhooks` (`go run ./test/bench -webhooks`): one server and one " +
		"worker as processes of their own, settings as shipped; what " +
		"publishes, the receivers (HTTPS) and the bare client are one process beside them, and share the cores with them.",
	PartSessions: "## Sessions and sockets\n\nWritten by `task bench:sessions` (`go run ./test/bench -sessions`): the model " +
		"is a server that answers 40 pieces at a known pace; it and " +
		"the clients, bare ones that read frames off a connection, are one process beside the server's and Postgres, and share " +
		"the cores with them. " +
		"Postgres has the files of its log at hand as one that has run for a day: a new one makes each while all who commit wait.",
	PartVoice: "## Voice\n\nWritten by `task bench:voice` (`go run ./test/bench/voice`): the callers, who speak in real time, and the " +
		"providers, whose delays are fixed, are one process beside the server's and Postgres, and share the cores with them; settings as " +
		"shipped. The callers' sound is not played back to them, so there is no echo. The rows of hearing are of recordings that are " +
		"made (test/voicecorpus), with the network and a scripted streaming transcriber.",
	PartAnswers: "## Answers\n\nWritten by `task eval:answers` (`go run ./test/eval/answers`): 100 questions and 60 paraphrased ones over " +
		"24 help documents, which test/eval/testdata has, asked of `parlance dev` with the built-in responder and embedder.",
	PartPages: "## Reading order of PDF pages\n\nWritten by `task eval:pages` (`go run ./test/eval/pages`): the share of what a " +
		"person reads on the pages of test/eval/testdata/pages that the text has; means over the files. The floor is pdftotext. " +
		"Of the ten files kept aside the first score was 0.939 for pairs, pdftotext's 0.964; three of them were looked at " +
		"afterwards.",
	PartRetrieval: "## Retrieval on the collection %s\n\nWritten by `task eval:retrieval COLLECTION=…` (`go run " +
		"./test/eval`); how is said in its " +
		"doc.go. Recall, MRR and nDCG are means over the questions.",
}

// page is docs/benchmarks.md.
func (f file) page() string {
	var page strings.Builder
	page.WriteString("# Benchmarks\n\nCallers, Postgres, Redis and the service share the cores, and Postgres syncs to disk, " +
		"so times are those of a small machine;\n" +
		"the ratio to the floor, measured in the same run and in turns with the figure, is what can be compared.\n")
	for i, row := range f.Rows {
		if i == 0 || row.Part != f.Rows[i-1].Part {
			fields := strings.Fields(row.Part)
			heading := headings[fields[0]]
			if len(fields) > 1 {
				heading = fmt.Sprintf(heading, strings.Join(fields[1:], " "))
			}
			fmt.Fprintf(&page, "\n%s Last on %s.\n\n| Figure | Value | Floor | Ratio | Target | How "+
				"|\n|---|---|---|---|---|---|\n", heading, f.Machines[row.Part])
		}
		fmt.Fprintln(&page, row)
	}
	return page.String()
}
