package interceptor

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/ticker"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/workspaces"
)

const (
	// ReplayedHeader marks an answer that was first given to an earlier request.
	ReplayedHeader = "Idempotency-Replayed"
	// hangUpGrace is how long work may continue after its caller has hung up; a turn takes the
	// longest.
	hangUpGrace = 5 * time.Minute
	// settleTimeout bounds storing the answer or releasing the key after the work.
	settleTimeout = 10 * time.Second
	// storeRetryPause is the pause before an answer that could not be stored is stored again.
	storeRetryPause = 200 * time.Millisecond
)

// Once does the work of a request with Idempotency-Key at most once and replays its answer.
type Once struct {
	Keys    *idempotency.Service
	Log     *slog.Logger
	Problem problem.Writer
}

// Wrap answers r, whose body has been read, by calling next, or with the answer that next gave to
// the same request before. The caller must be in the context. It is rest.Config.Once.
func (o *Once) Wrap(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler) {
	claim, err := o.begin(r, body, "")
	if err != nil {
		o.refuse(w, r, err)
		return
	}
	if claim.Answer != nil {
		replay(w, *claim.Answer)
		return
	}
	answer := &bufferedAnswer{header: w.Header()}
	o.work(answer, r, claim, next)
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body.Bytes()) // the caller has hung up when this fails; it can ask again
}

func (o *Once) begin(r *http.Request, body []byte, form string) (*idempotency.Claim, error) {
	keys := r.Header.Values(idempotency.Header)
	if len(keys) != 1 {
		return nil, fault.InvalidField(idempotency.Header, "repeated", "Send one Idempotency-Key.")
	}
	return o.Keys.Begin(r.Context(), workspaces.PrincipalFrom(r.Context()), keys[0], idempotency.Request{
		Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Body: body, Form: form,
	})
}

// refuse writes a refusal, and logs internal errors as RPC does.
func (o *Once) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if decided := fault.From(err); decided.Kind() == fault.Internal {
		o.Log.ErrorContext(r.Context(), "idempotency key not looked up", telemetry.KeyError, err)
	}
	o.Problem.Write(w, r, err)
}

// work calls next and settles the claim before the caller sees the answer: a caller that has the
// answer may repeat the request at once.
func (o *Once) work(answer answerWriter, r *http.Request, claim *idempotency.Claim, next http.Handler) {
	ctx, cancel := workContext(r.Context())
	defer cancel()
	settled := false
	defer func() {
		if !settled { // next panicked
			claim.MarkOutcomeUnknown()
			o.release(r, claim)
		}
	}()
	stop := o.keepAlive(ctx, claim)
	func() {
		defer stop()
		next.ServeHTTP(answer, r.WithContext(idgen.WithSeed(ctx, claim.Seed())))
	}()
	settled = true
	stored, ok := answer.outcome()
	if !ok {
		// A stream that began with 200 and failed later has no status for its failure.
		if stored.Status >= idempotency.FirstUnknownStatus || stored.Status < http.StatusBadRequest {
			claim.MarkOutcomeUnknown()
		}
		o.release(r, claim)
		return
	}
	o.store(r, claim, stored)
}

// store stores the answer, and tries again while the database is unavailable. If that does not
// help, the key stays claimed until its lease ends, because the work is done.
func (o *Once) store(r *http.Request, claim *idempotency.Claim, answer idempotency.Answer) {
	ctx, cancel := settleContext(r)
	defer cancel()
	for {
		err := claim.Keep(ctx, answer)
		if err == nil {
			return
		}
		if ctx.Err() != nil || postgres.Decide(err).Reason != fault.ServiceUnavailable {
			o.Log.ErrorContext(ctx, "answer not stored", telemetry.KeyError, err)
			return
		}
		_ = ticker.Wait(ctx, storeRetryPause) // the last try is made when ctx has ended
	}
}

func (o *Once) release(r *http.Request, claim *idempotency.Claim) {
	ctx, cancel := settleContext(r)
	defer cancel()
	if err := claim.Release(ctx); err != nil {
		o.Log.WarnContext(ctx, "idempotency key not released", telemetry.KeyError, err)
	}
}

// settleContext is the context for what is written after the work; it outlives a caller that hangs
// up.
func settleContext(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), settleTimeout)
}

// workContext is a context that continues for hangUpGrace after a hang-up. A caller that gave up
// waiting repeats the request, and must find its answer instead of half of its work.
func workContext(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		timer := time.NewTimer(hangUpGrace)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C:
			cancel()
		}
	})
	return ctx, func() { stop(); cancel() }
}

// keepAlive extends the lease of the claim until stop is called, which waits for it.
func (o *Once) keepAlive(ctx context.Context, claim *idempotency.Claim) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		ticker.Every(ctx, idempotency.Lease/4, func() {
			if err := claim.Extend(ctx); err != nil && ctx.Err() == nil {
				o.Log.WarnContext(ctx, "lease of an idempotency key not extended", telemetry.KeyError, err)
			}
		})
	})
	return func() { cancel(); running.Wait() }
}

func replay(w http.ResponseWriter, a idempotency.Answer) {
	header := w.Header()
	for name, value := range map[string]string{"Content-Type": a.ContentType, "Location": a.Location} {
		if value != "" {
			header.Set(name, value)
		}
	}
	header.Set(ReplayedHeader, "true")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // the caller has hung up when this fails
}

// answerWriter is where the work writes its answer.
type answerWriter interface {
	http.ResponseWriter
	// outcome returns the whole answer, and whether to keep it for later requests with the key.
	outcome() (idempotency.Answer, bool)
}

// bufferedAnswer is an answer that is not sent yet. Its header is the real one.
type bufferedAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *bufferedAnswer) Header() http.Header { return a.header }

// WriteHeader keeps the first status.
func (a *bufferedAnswer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write keeps the body.
func (a *bufferedAnswer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

func (a *bufferedAnswer) outcome() (idempotency.Answer, bool) {
	a.WriteHeader(http.StatusOK)
	answer := idempotency.Answer{
		Status: a.status, ContentType: a.header.Get("Content-Type"), Location: a.header.Get("Location"), Body: a.body.Bytes(),
	}
	return answer, idempotency.Keeps(a.status, reasonIn(a.status, a.body.Bytes()))
}

// reasonIn returns the code of a problem, "" for other answers.
func reasonIn(status int, body []byte) fault.Reason {
	var said struct {
		Code fault.Reason `json:"code"`
	}
	if status < http.StatusBadRequest || json.Unmarshal(body, &said) != nil {
		return ""
	}
	return said.Code
}
