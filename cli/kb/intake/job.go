package intake

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// maxWatched is how many ingestions are watched at once; each takes a connection.
const maxWatched = 24

// Phase is where an item is.
type Phase string

// The phases, in their order.
const (
	Waiting   Phase = "waiting"
	Fetching  Phase = "fetching"
	Uploading Phase = "uploading"
	Ingesting Phase = "ingesting"
	Done      Phase = "done"
)

// Outcome is what came of an item.
type Outcome string

// The outcomes.
const (
	// Ready: it can be queried.
	Ready Outcome = "ready"
	// AlreadyThere: equal bytes with this name are ready in the workspace.
	AlreadyThere Outcome = "already_there"
	// Accepted: the server ingests it, and nobody waited for the end.
	Accepted Outcome = "accepted"
	// Failed: State.Err says why.
	Failed Outcome = "failed"
	// NotSent: the command was interrupted before, or while it was sent.
	NotSent Outcome = "not_sent"
)

// State is how far an item has come.
type State struct {
	Item  Item
	Phase Phase
	// SentBytes counts while it is uploaded.
	SentBytes int64
	// Source is nil until the server has accepted it.
	Source *parlancev1.Source
	// Wait says why nothing is sent just now.
	Wait string
	// Outcome is empty until Phase is Done; Err is set when it is Failed.
	Outcome Outcome
	Err     error
	// Began and Ended are zero until then.
	Began, Ended time.Time
}

// Params say how items are added.
type Params struct {
	// Parallel is how many are uploaded at once, at least 1.
	Parallel int
	// Again uploads what is there already too.
	Again bool
	// NoWait does not wait for the ingestion.
	NoWait bool
	// ForceOCR reads every page of PDFs by OCR.
	ForceOCR bool
	// Attach is the agent to attach ready sources to; empty: none.
	Attach string
}

// Deps are what a Job works with; all are required.
type Deps struct {
	Knowledge   parlancev1connect.KnowledgeServiceClient
	Uploader    Uploader
	Fetcher     Fetcher
	WorkspaceID string
	Stdin       io.Reader
	Now         func() time.Time
	// Changed is told each new state of an item; it is called side by side.
	Changed func(index int, state State)
}

// Job adds items.
type Job struct {
	deps   Deps
	params Params
	// mu guards states: the rest of a body may still be read when its upload was answered.
	mu     sync.Mutex
	states []State
	// there are the workspace's sources by name.
	there map[string][]*parlancev1.Source
	dir   string

	uploads, watches chan struct{}
}

// Run adds the items and returns what came of each. It ends early, with all outcomes, when ctx
// does. Error: nothing could be begun.
func Run(ctx context.Context, deps Deps, params Params, items []Item) (_ []State, err error) {
	job := &Job{
		deps: deps, params: params, states: make([]State, len(items)),
		uploads: make(chan struct{}, params.Parallel), watches: make(chan struct{}, maxWatched), // as many may hold a place
	}
	if job.there, err = job.sourcesByName(ctx); err != nil {
		return nil, err
	}
	if job.dir, err = os.MkdirTemp("", "parlance-kb-"); err != nil {
		return nil, fmt.Errorf("make a temporary directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(job.dir) }() // the system's to clear
	for i, item := range items {
		job.states[i] = State{Item: item, Phase: Waiting}
	}
	var running sync.WaitGroup
	for i := range items {
		if !enter(ctx, job.uploads) {
			break
		}
		running.Go(func() { job.add(ctx, i) })
	}
	running.Wait()
	for i := range job.states {
		if job.states[i].Phase != Done {
			job.end(i, NotSent, nil)
		}
	}
	return job.states, nil
}

func enter(ctx context.Context, places chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	default:
	}
	select {
	case <-ctx.Done():
		return false
	case places <- struct{}{}:
		return true
	}
}

// sourcesByName lists the whole workspace, or with Again only sees whether that would work: a wrong
// key is said once, not for each file.
func (j *Job) sourcesByName(ctx context.Context) (map[string][]*parlancev1.Source, error) {
	there := map[string][]*parlancev1.Source{}
	list := &parlancev1.ListSourcesRequest{WorkspaceId: j.deps.WorkspaceID}
	err := EachSource(ctx, j.deps.Knowledge, list, func(source *parlancev1.Source) bool {
		if !j.params.Again {
			there[source.GetName()] = append(there[source.GetName()], source)
		}
		return !j.params.Again
	})
	return there, err
}

// EachSource goes through a list of sources, newest first, until see returns false.
func EachSource(ctx context.Context, client parlancev1connect.KnowledgeServiceClient,
	list *parlancev1.ListSourcesRequest, see func(*parlancev1.Source) bool,
) error {
	const pageSize = 200
	list.PageSize = pageSize
	for {
		page, err := client.ListSources(ctx, list)
		if err != nil {
			return err
		}
		for _, source := range page.GetSources() {
			if !see(source) {
				return nil
			}
		}
		if list.PageToken = page.GetNextPageToken(); list.PageToken == "" {
			return nil
		}
	}
}
