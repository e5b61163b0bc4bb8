package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"parlance.dev/parlance/app"
)

// Status is the result of a check.
type Status string

// The statuses. Failed means that the deployment does not work. Skipped was not checked.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// areaTimeout is long because a local model may have to be loaded.
const areaTimeout = 90 * time.Second

// Finding is the result of one check.
type Finding struct {
	Area   string `json:"area"`
	Check  string `json:"check"`
	Status Status `json:"status"`
	// Detail is a sentence without secrets.
	Detail string `json:"detail"`
	// Advice is one line that says what to do. It is empty for OK.
	Advice string `json:"advice,omitempty"`
}

// Deps is what the checks need.
type Deps struct {
	Config app.Config
	// Problems are the errors in the settings.
	Problems []error
	// Environ are the variables of the environment as NAME=value. Only names are used.
	Environ []string
	// CAFile (PEM) is trusted in addition to the system's authorities when PUBLIC_URL is called. It
	// may be empty.
	CAFile string
	// Processes is how many servers and workers share the database.
	Processes int
	Now       func() time.Time
	// Nonce returns a text that cannot be guessed.
	Nonce func() string
}

// Area is a part of the deployment.
type Area struct {
	Name string
	// Help is a phrase for --help.
	Help string
	look func(context.Context, Deps, *report)
}

// Areas lists all areas in the order of the report.
func Areas() []Area {
	return []Area{
		{"settings", "every setting, misspelt ones too", checkSettings},
		{"postgres", "reach, version, encoding, pgvector, rights, schema, pooling, clock, connections", checkPostgres},
		{"redis", "reach, version, eviction, persistence, clock", checkRedis},
		{"bucket", "write, read, delete, room", checkBucket},
		{"spill", "where turns are kept while Postgres is away: write, room, what waits", checkSpill},
		{"master-key", "file, mode, and that it opens what is stored", checkMasterKey},
		{"public-url", "name, certificate, proxy: REST, streams, uploads, WebSockets, gRPC", checkPublicURL},
		{"model", "a real call", checkModel},
		{"embedder", "a real call, and the models that answer", func(ctx context.Context, d Deps, r *report) {
			checkEmbedder(ctx, d, r)
			checkStoredVectors(ctx, d, r)
		}},
		{"reranker", "a real call", checkReranker},
		{"documents", "what reads PDF and pictures, and its sandbox", checkDocuments},
		{"speech", "speech in and out", checkSpeech},
		{"people", "the issuer by which people sign in", checkPeople},
		{"outbound", "names, certificate authorities", checkOutbound},
		{"machine", "open files, time zones", checkMachine},
		{"work", "workers, and what waits for them", checkWork},
	}
}

// Run checks the areas in parallel, and calls each with their findings in the given order.
func Run(ctx context.Context, d Deps, areas []Area, each func(Area, []Finding)) {
	type result chan []Finding
	results := make([]result, len(areas))
	for i, area := range areas {
		results[i] = make(result, 1) // receives one value
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

// Worst returns the worst status of the findings; OK when there are none.
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

// Count returns how many findings have the status.
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
