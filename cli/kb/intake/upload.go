package intake

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/ticker"
	parlance "parlance.dev/parlance/sdk/go"
)

const (
	// maxTrials is how often an upload is sent when there is no answer, or the service is unavailable.
	maxTrials = 6
	// maxWait limits one wait that the server asks for, and maxWaiting limits the sum of all waits.
	maxWait, maxWaiting = 2 * time.Minute, 30 * time.Minute
)

// Refusal is an error answer of the API.
type Refusal struct {
	// Code is the code of the problem, such as "quota-exceeded-kb-storage".
	Code string
	// Detail is the sentence of the problem.
	Detail string
}

func (r *Refusal) Error() string { return r.Detail }

// content is a file to upload.
type content struct {
	path, name, mediaType string
	// replaces is the id of the source whose content the file becomes; empty: it becomes a new one.
	replaces  string
	forceOCR  bool
	tags      []string
	sizeBytes int64
	// ocrLanguages may be empty.
	ocrLanguages []string
	// sent is called with the number of bytes sent so far; each trial begins at 0.
	sent func(bytes int64)
	// waits is called with the reason when an upload waits, and with "" when it goes on.
	waits func(why string, d time.Duration)
}

// upload sends a file until it is accepted or refused. It retries after lost connections and when
// the server asks to wait. Errors: *Refusal, that of ctx, or why the file could not be sent.
func (d Deps) upload(ctx context.Context, p content) (*parlancev1.Source, error) {
	client, err := d.SDK(d.HTTP, func(o *parlance.Options) { o.MaxRetries = -1 }) // waits are shown here
	if err != nil {
		return nil, err
	}
	ctx = parlance.WithIdempotencyKey(ctx, "kb-"+strings.ToLower(rand.Text()))
	var waited time.Duration
	for trial := 1; ; trial++ {
		source, err := d.send(ctx, client, p)
		if err == nil || ctx.Err() != nil {
			return source, err
		}
		failed, ok := errors.AsType[*parlance.Error](err)
		if !ok {
			return nil, err // of the file
		}
		why := reasonToWait(failed, trial)
		wait := retryDelay(failed.RetryAfter, trial)
		if why == "" || waited+wait > maxWaiting {
			return nil, explain(failed)
		}
		waited += wait
		p.waits(why, wait)
		if err := ticker.Wait(ctx, wait); err != nil {
			return nil, err
		}
		p.waits("", 0)
	}
}

// reasonToWait says why a failed trial is worth another one; empty: it is not.
func reasonToWait(failed *parlance.Error, trial int) string {
	switch {
	case failed.HTTPStatus == http.StatusTooManyRequests:
		return "too many uploads a minute"
	case failed.Reason == parlance.ReasonIdempotencyKeyInFlight:
		return "the server is still at it"
	case trial >= maxTrials:
		return ""
	case !failed.Answered():
		return "no connection"
	case failed.HTTPStatus == http.StatusServiceUnavailable, failed.HTTPStatus == http.StatusBadGateway,
		failed.HTTPStatus == http.StatusGatewayTimeout:
		return "the server is busy"
	}
	return ""
}

// explain is the error of an upload without its code, which is shown beside it.
func explain(failed *parlance.Error) error {
	if !failed.Answered() {
		return fmt.Errorf("send it: %s", failed.Message)
	}
	return &Refusal{Code: string(failed.Reason), Detail: failed.Message}
}

// retryDelay returns the wait that the server asks for, or a wait that grows with each trial.
func retryDelay(asked time.Duration, trial int) time.Duration {
	if asked <= 0 {
		asked = min(time.Second<<min(trial-1, 5), 15*time.Second)
	}
	return min(asked, maxWait)
}

// send is one trial.
func (d Deps) send(ctx context.Context, client *parlance.Client, p content) (*parlancev1.Source, error) {
	file, err := os.Open(p.path)
	if err != nil {
		return nil, plainPathError(err)
	}
	defer func() { _ = file.Close() }() // only read
	return client.Upload(ctx, file, parlance.UploadParams{
		WorkspaceID: d.WorkspaceID, Filename: path.Base(filepath.ToSlash(p.name)), Name: p.name, MediaType: p.mediaType,
		SourceID: p.replaces, Tags: p.tags, ForceOCR: p.forceOCR, OCRLanguages: p.ocrLanguages, SizeBytes: p.sizeBytes,
		OnProgress: func(sent, _ int64) { p.sent(sent) },
	})
}
