package interceptor

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/ticker"
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

// Once is the Connect interceptor that does the work of a request with Idempotency-Key at most once
// and replays its answer, over REST, Connect, gRPC and gRPC-Web alike. The caller must be in the
// context. It is inside RPC, which has validated the request.
type Once struct {
	keys     *idempotency.Service
	log      *slog.Logger
	policies Policies
}

// NewOnce makes an interceptor that keeps answers with keys.
func NewOnce(keys *idempotency.Service, log *slog.Logger, policies Policies) *Once {
	return &Once{keys: keys, log: log, policies: policies}
}

// WrapUnary implements connect.Interceptor.
func (o *Once) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		message, ok := req.Any().(proto.Message)
		if !ok || len(req.Header().Values(idempotency.Header)) == 0 || !o.policies[req.Spec().Procedure].Changes() {
			return next(ctx, req)
		}
		request, err := o.requestOf(req.Header(), req.Spec().Procedure, message)
		if err != nil {
			return nil, err
		}
		claim, err := o.claimFree(ctx, req.Header().Values(idempotency.Header), request)
		if err != nil {
			return nil, err
		}
		if claim.Answer != nil {
			return replayUnary(ctx, req.Spec(), claim.Answer)
		}
		var answer connect.AnyResponse
		err = o.work(ctx, claim, idempotency.Keeps, func(ctx context.Context) (idempotency.Answer, error) {
			var err error
			if answer, err = next(ctx, req); err != nil {
				return idempotency.Answer{}, err
			}
			return answerOf(answer.Any())
		})
		return answer, err
	}
}

// WrapStreamingClient implements connect.Interceptor; the server never is a client.
func (o *Once) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// claim claims the key of a request, which is the one value of its header.
func (o *Once) claim(ctx context.Context, keys []string, request idempotency.Request) (*idempotency.Claim, error) {
	if len(keys) != 1 {
		return nil, fault.InvalidField(idempotency.Header, "repeated", "Send one Idempotency-Key.")
	}
	return o.keys.Begin(ctx, workspaces.PrincipalFrom(ctx), keys[0], request)
}

// claimFree is claim for a request that cannot join the first one while that runs.
func (o *Once) claimFree(ctx context.Context, keys []string, request idempotency.Request) (*idempotency.Claim, error) {
	claim, err := o.claim(ctx, keys, request)
	if err == nil && claim.Running {
		return nil, idempotency.InFlight()
	}
	return claim, err
}

// requestOf tells a message that came with a header from other requests.
func (o *Once) requestOf(header http.Header, procedure string, message proto.Message) (idempotency.Request, error) {
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		return idempotency.Request{}, err
	}
	// A stream and its unary twin are one operation: a key belongs to one of them.
	policy := o.policies[procedure]
	operation := cmp.Or(policy.Twin, procedure)
	for _, name := range policy.Path {
		operation += " " + textField(message, protoreflect.Name(name))
	}
	return idempotency.Request{
		Operation: operation, Form: procedure, Body: body, Precondition: strings.Join(header.Values("If-Match"), ","),
		SessionID: textField(message, "session_id"), UserID: textField(message, "user_id"),
	}, nil
}

// textField returns a string field of a message; "" when it has none of that name.
func textField(message proto.Message, name protoreflect.Name) string {
	field := message.ProtoReflect().Descriptor().Fields().ByName(name)
	if field == nil || field.Kind() != protoreflect.StringKind || field.IsList() {
		return ""
	}
	return message.ProtoReflect().Get(field).String()
}

// work does the work of a claim and settles the claim before the caller sees the answer: a caller
// that has the answer may repeat the request at once. keeps says which refusals are answers to
// keep. It returns the error of do.
func (o *Once) work(
	ctx context.Context, claim *idempotency.Claim, keeps func(*fault.Error) bool,
	do func(context.Context) (idempotency.Answer, error),
) error {
	working, cancel := workContext(ctx)
	defer cancel()
	settled := false
	defer func() {
		if !settled { // do panicked
			claim.MarkOutcomeUnknown()
			o.release(ctx, claim)
		}
	}()
	stop := o.keepAlive(working, claim)
	answer, err := func() (idempotency.Answer, error) {
		defer stop()
		return do(idgen.WithSeed(working, claim.Seed()))
	}()
	settled = true
	if err != nil {
		answer.Refusal = decisionOf(err)
		if !keeps(answer.Refusal) {
			if idempotency.OutcomeUnknown(answer.Refusal) {
				claim.MarkOutcomeUnknown()
			}
			o.release(ctx, claim)
			return err
		}
	}
	o.store(ctx, claim, answer)
	return err
}

// store stores the answer, and tries again while the database is unavailable. If that does not
// help, the key stays claimed until its lease ends, because the work is done.
func (o *Once) store(ctx context.Context, claim *idempotency.Claim, answer idempotency.Answer) {
	ctx, cancel := settleContext(ctx)
	defer cancel()
	for {
		err := claim.Keep(ctx, answer)
		if err == nil {
			return
		}
		if ctx.Err() != nil || postgres.Decide(err).Reason != fault.ServiceUnavailable {
			o.log.ErrorContext(ctx, "answer not stored", telemetry.KeyError, err)
			return
		}
		_ = ticker.Wait(ctx, storeRetryPause) // the last try is made when ctx has ended
	}
}

func (o *Once) release(ctx context.Context, claim *idempotency.Claim) {
	ctx, cancel := settleContext(ctx)
	defer cancel()
	if err := claim.Release(ctx); err != nil {
		o.log.WarnContext(ctx, "idempotency key not released", telemetry.KeyError, err)
	}
}

// settleContext is the context for what is written after the work; it outlives a caller that hangs
// up.
func settleContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
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
				o.log.WarnContext(ctx, "lease of an idempotency key not extended", telemetry.KeyError, err)
			}
		})
	})
	return func() { cancel(); running.Wait() }
}
