package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"parlance.dev/parlance/app"
)

// Status says how a finding is to be taken.
type Status string

// The statuses. Only Failed means that the deployment does not work; Skipped was not looked at.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// areaTimeout bounds one area; a local model may have to be loaded first.
const areaTimeout = 90 * time.Second

// Finding is one thing that was looked at.
type Finding struct {
	Area   string `json:"area"`
	Check  string `json:"check"`
	Status Status `json:"status"`
	// Detail says what was seen, in a sentence without a secret.
	Detail string `json:"detail"`
	// Advice is one line that says what to do; empty for OK.
	Advice string `json:"advice,omitempty"`
}

// Deps is what an examination works with.
type Deps struct {
	Config app.Config
	// Problems are what was wrong with the settings, one each.
	Problems []error
	// Environ are the environment's variables as NAME=value; only names are looked at.
	Environ []string
	// CAFile (PEM) is trusted beside the system's authorities when PUBLIC_URL is called; empty: none.
	CAFile string
	// Processes is how many servers and workers share the database.
	Processes int
	Now       func() time.Time
	// Nonce makes a text that nobody guesses.
	Nonce func() string
}

// Area is a part of the deployment.
type Area struct {
	Name string
	// Help is half a sentence for people.
	Help string
	look func(context.Context, Deps, *report)
}

// Areas lists all of them in the order of the report.
func Areas() []Area {
	return []Area{
		{"settings", "every setting, misspelt ones too", lookAtSettings},
		{"postgres", "reach, version, encoding, pgvector, rights, schema, pooling, clock, connections", lookAtPostgres},
		{"redis", "reach, version, eviction, persistence, clock", lookAtRedis},
		{"bucket", "write, read, delete, room", lookAtBucket},
		{"spill", "where turns are kept while Postgres is away: write, room, what waits", lookAtSpill},
		{"master-key", "file, mode, and that it opens what is stored", lookAtMasterKey},
		{"public-url", "name, certificate, proxy: REST, streams, uploads, WebSockets, gRPC", lookAtPublicURL},
		{"model", "a real call", lookAtModel},
		{"embedder", "a real call, and the models that answer", func(ctx context.Context, d Deps, r *report) {
			lookAtEmbedder(ctx, d, r)
			lookAtStoredVectors(ctx, d, r)
		}},
		{"reranker", "a real call", lookAtReranker},
		{"documents", "what reads PDF and pictures, and its sandbox", lookAtDocuments},
		{"speech", "speech in and out", lookAtSpeech},
		{"outbound", "names, certificate authorities", lookAtOutbound},
		{"machine", "open files, time zones", lookAtMachine},
		{"work", "workers, and what waits for them", lookAtWork},
	}
}

// Run looks at the areas side by side and hands each one's findings to each, in the order given.
func Run(ctx context.Context, d Deps, areas []Area, each func(Area, []Finding)) {
	type result chan []Finding
	results := make([]result, len(areas))
	for i, area := range areas {
		results[i] = make(result, 1) // its only value
		go func() { results[i] <- look(ctx, d, area) }()
	}
	for i, area := range areas {
		each(area, <-results[i])
	}
}

func look(ctx context.Context, d Deps, area Area) []Finding {
	ctx, cancel := context.WithTimeout(ctx, areaTimeout)
	defer cancel()
	r := &report{area: area.Name}
	area.look(ctx, d, r)
	return r.findings
}

// Worst is the gravest status among findings; OK when there are none.
func Worst(findings []Finding) Status {
	order := []Status{Skipped, OK, Warning, Failed}
	worst := OK
	for _, finding := range findings {
		if slices.Index(order, finding.Status) > slices.Index(order, worst) {
			worst = finding.Status
		}
	}
	return worst
}

// Count is how many findings have the status.
func Count(findings []Finding, status Status) int {
	count := 0
	for _, finding := range findings {
		if finding.Status == status {
			count++
		}
	}
	return count
}

// report collects the findings of an area.
type report struct {
	area     string
	findings []Finding
}

func (r *report) ok(check, format string, args ...any) {
	r.add(Finding{Check: check, Status: OK, Detail: fmt.Sprintf(format, args...)})
}

func (r *report) skip(check, format string, args ...any) {
	r.add(Finding{Check: check, Status: Skipped, Detail: fmt.Sprintf(format, args...)})
}

func (r *report) warn(check, advice, format string, args ...any) {
	r.add(Finding{Check: check, Status: Warning, Detail: fmt.Sprintf(format, args...), Advice: advice})
}

func (r *report) fail(check, advice, format string, args ...any) {
	r.add(Finding{Check: check, Status: Failed, Detail: fmt.Sprintf(format, args...), Advice: advice})
}

func (r *report) add(f Finding) {
	f.Area = r.area
	r.findings = append(r.findings, f)
}
