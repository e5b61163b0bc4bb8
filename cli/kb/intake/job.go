package intake

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// maxWatched limits the ingestions that are watched at once; each uses a connection.
const maxWatched = 24

// Phase is the stage that an item is in.
type Phase string

// The phases in their order.
const (
	Waiting   Phase = "waiting"
	Fetching  Phase = "fetching"
	Uploading Phase = "uploading"
	Ingesting Phase = "ingesting"
	Done      Phase = "done"
)

// Outcome is the result of an item.
type Outcome string

// The outcomes.
const (
	// Ready says that the source can be queried.
	Ready Outcome = "ready"
	// AlreadyThere says that the workspace has a ready source with this name and content.
	AlreadyThere Outcome = "already_there"
	// Accepted says that the server goes on ingesting, and the command did not wait for the end.
	Accepted Outcome = "accepted"
	// Failed says that State.Err has the reason.
	Failed Outcome = "failed"
	// NotSent says that the command was interrupted before the item was sent.
	NotSent Outcome = "not_sent"
)

// State is the progress of an item.
type State struct {
	Item  Item
	Phase Phase
	// SentBytes grows while the item is uploaded.
	SentBytes int64
	// Source is nil until the server has accepted it.
	Source *parlancev1.Source
	// Wait is why the upload waits; it is empty otherwise.
	Wait string
	// Outcome is empty until Phase is Done. Err is set when Outcome is Failed.
	Outcome Outcome
	Err     error
	// Began and Ended are zero until the item begins and ends.
	Began, Ended time.Time
}

// Params change how items are added.
type Params struct {
	// Parallel is the number of uploads at once, at least 1.
	Parallel int
	// Again uploads items that exist already.
	Again bool
	// Replace puts an item in the place of the source that has its name and other content. Without
	// Replace and Again such an item is refused.
	Replace bool
	// NoWait does not wait for ingestions.
	NoWait bool
	// ForceOCR reads every page of PDFs by OCR.
	ForceOCR bool
	// Tags of the sources; none leaves those of a replaced one.
	Tags []string
	// OCRLanguages of PDFs and pictures; empty: those of the installation.
	OCRLanguages []string
	// Attach is the agent that ready sources are attached to; it may be empty.
	Attach string
}

// Deps are what a Job needs; all fields are required.
type Deps struct {
	// Caller's HTTP client must have no time-out, and must wait for 100 Continue.
	client.Caller
	Knowledge parlancev1connect.KnowledgeServiceClient
	// UserAgent is sent to the servers of web pages.
	UserAgent string
	// Changed is called with each new state of an item. Calls for different items can overlap.
	Changed func(index int, state State)
}

// Job adds items.
type Job struct {
	deps   Deps
	params Params
	// mu guards states. An upload's body may still be read after the server has answered.
	mu     sync.Mutex
	states []State
	// existing are the sources of the workspace by name.
	existing map[string][]*parlancev1.Source
	dir      string

	uploads, watches chan struct{}
}

// Run adds the items and returns their states. When ctx ends it returns early, with an outcome for
// each item. It returns an error when no item could be begun.
func Run(ctx context.Context, deps Deps, params Params, items []Item) (_ []State, err error) {
	job := &Job{
		deps: deps, params: params, states: make([]State, len(items)),
		uploads: make(chan struct{}, params.Parallel), watches: make(chan struct{}, maxWatched), // semaphores
	}
	if job.existing, err = job.sourcesByName(ctx); err != nil {
		return nil, err
	}
	if job.dir, err = os.MkdirTemp("", "parlance-kb-"); err != nil {
		return nil, fmt.Errorf("make a temporary directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(job.dir) }() // the system clears temporary folders
	for i, item := range items {
		job.states[i] = State{Item: item, Phase: Waiting}
	}
	var running sync.WaitGroup
	for i := range items {
		if !acquire(ctx, job.uploads) {
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

func acquire(ctx context.Context, places chan struct{}) bool {
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

// sourcesByName lists the sources of the workspace. With Again it reads one page only, so that a
// wrong key is reported once and not for each file.
func (j *Job) sourcesByName(ctx context.Context) (map[string][]*parlancev1.Source, error) {
	pages := SourcePages(ctx, j.deps.Knowledge, &parlancev1.ListSourcesRequest{WorkspaceId: j.deps.WorkspaceID})
	there := map[string][]*parlancev1.Source{}
	if j.params.Again {
		_, _, err := pages("")
		return there, err
	}
	list, err := command.All(pages)
	for _, source := range list {
		there[source.GetName()] = append(there[source.GetName()], source)
	}
	return there, err
}

// SourcePages lists the sources that a request asks for. It sets the page in the request.
func SourcePages(
	ctx context.Context, service parlancev1connect.KnowledgeServiceClient, req *parlancev1.ListSourcesRequest,
) command.PageFunc[*parlancev1.Source] {
	return func(token string) ([]*parlancev1.Source, string, error) {
		req.PageSize, req.PageToken = 200, token
		page, err := service.ListSources(ctx, req)
		return page.GetSources(), page.GetNextPageToken(), err
	}
}
