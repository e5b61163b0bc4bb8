package scenario

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/port"
)

// served is what a process says of a metric.
type served struct {
	kind   string
	labels []string
}

// scrape reads /metrics: our own names with their type and, where there are series, labels.
func scrape(t *testing.T, url string) map[string]served {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // read to its end
	found := map[string]served{}
	lines := bufio.NewScanner(io.LimitReader(answer.Body, 64<<20))
	lines.Buffer(nil, 1<<20)
	last := ""
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "# TYPE parlance_"); ok {
			name, kind, _ := strings.Cut("parlance_"+rest, " ")
			found[name], last = served{kind: kind}, name
		} else if strings.HasPrefix(lines.Text(), last) && last != "" {
			found[last] = served{kind: found[last].kind, labels: labelsOf(lines.Text())}
		}
	}
	return found
}

// labelsOf are the names of a series' labels, sorted, le left out.
func labelsOf(line string) []string {
	_, rest, _ := strings.Cut(line, "{")
	inner, _, found := strings.Cut(rest, "} ")
	if !found {
		return nil
	}
	var names []string
	for _, part := range strings.Split(inner, `",`) {
		if name, _, ok := strings.Cut(part, `="`); ok && name != "le" {
			names = append(names, strings.TrimSpace(name))
		}
	}
	slices.Sort(names)
	return names
}

// documented are the rows of the table in docs/observability.md.
type documented struct {
	served
	where string
}

func documentedMetrics(t *testing.T) map[string]documented {
	t.Helper()
	page, err := os.ReadFile("../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]documented{}
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| `parlance_") {
			continue
		}
		cells := strings.Split(line, "|")
		var labels []string
		for label := range strings.SplitSeq(cells[3], ",") {
			if label = strings.TrimSpace(label); label != "" {
				labels = append(labels, label)
			}
		}
		slices.Sort(labels)
		rows[strings.Trim(cells[1], " `")] = documented{served{strings.TrimSpace(cells[2]), labels}, strings.TrimSpace(cells[4])}
	}
	return rows
}

// TestMetricsAreDocumented compares the table with what server and worker serve after work of
// every kind: no metric without a row, no row without its metric, types and labels alike.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	address := port.Reserve(t)
	llm := openaichat.New(t,
		openaichat.Reply{Calls: []openaichat.Call{{ID: "call_1", Name: "order_status", Arguments: []string{`{"number":"7"}`}}}},
		openaichat.Reply{Text: []string{"Soon."}})
	s := newSliceWith(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model, "PARLANCE_WORKER_LISTEN": address,
	}})
	s.StartProcess(t, "worker")
	s.learn(s.upload("a.md", "text/markdown", handbook).Must(t, 202).Text("id"))
	s.addTool()
	session := s.createSession().Text("id")
	s.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Where is order 7?"}`).Must(t, 200)
	s.finish(session)
	rows := documentedMetrics(t)
	for name, metrics := range map[string]map[string]served{"s": scrape(t, s.URL+"/metrics"), "w": scrape(t, "http://"+address+"/metrics")} {
		for metric, got := range metrics {
			want, known := rows[metric]
			if !known || !strings.Contains(want.where, name) {
				t.Errorf("%s serves %s (%s), which is not in the table", name, metric, got.kind)
				continue
			}
			if got.kind != want.kind || got.labels != nil && !slices.Equal(got.labels, want.labels) {
				t.Errorf("%s of %s is a %s with %v; the table says a %s with %v", metric, name, got.kind, got.labels, want.kind, want.labels)
			}
		}
	}
	worker := scrape(t, "http://"+address+"/metrics")
	for name, row := range rows {
		if _, there := worker[name]; row.where == "w" && !there {
			t.Errorf("the table has %s, which the worker does not serve", name)
		}
	}
	checkDescribed(t, s, rows)
}

// checkDescribed asks the registry itself, which knows metrics without a series too.
func checkDescribed(t *testing.T, s *slice, rows map[string]documented) {
	t.Helper()
	all := map[string]bool{}
	for _, name := range s.App.MetricNames() {
		all[name] = true
	}
	for name, row := range rows {
		if strings.Contains(row.where, "s") && !all[name] {
			t.Errorf("the table has %s, which a server does not have", name)
		}
	}
	for name := range all {
		if _, known := rows[name]; strings.HasPrefix(name, "parlance_") && !known {
			t.Errorf("a server has %s, which is not in the table", name)
		}
	}
}

// TestDeployedNames: alerts and dashboard ask for metrics that exist.
func TestDeployedNames(t *testing.T) {
	t.Parallel()
	rows := documentedMetrics(t)
	for _, file := range []string{"../../deploy/prometheus/alerts.yml", "../../deploy/grafana/parlance.json"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, ".json") && !json.Valid(content) {
			t.Errorf("%s is no JSON", file)
		}
		names := regexp.MustCompile(`parlance_[a-z_]+`).FindAllString(string(content), -1)
		if len(names) < 10 {
			t.Errorf("%s asks for %d metrics", file, len(names))
		}
		for _, name := range names {
			row, known := rows[name]
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				if base, cut := strings.CutSuffix(name, suffix); cut && rows[base].kind == "histogram" {
					row, known = rows[base], true
				}
			}
			if !known || row.kind == "histogram" && rows[name].kind == "histogram" {
				t.Errorf("%s asks for %s, which is no series", file, name)
			}
		}
	}
}
