package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/server/rest"
	"parlance.dev/parlance/server/rest/internal/resttestv1"
	"parlance.dev/parlance/server/rest/internal/resttestv1/resttestv1connect"
	"parlance.dev/parlance/server/rest/internal/resttestv1/resttestv1rest"
)

// things answers with what it was asked, and records the headers that reached it.
type things struct {
	resttestv1connect.UnimplementedThingServiceHandler

	hungUp chan struct{} // receives when Count sees its caller go
}

func (*things) CreateThing(_ context.Context, q *resttestv1.CreateThingRequest) (*resttestv1.Thing, error) {
	return &resttestv1.Thing{
		Id: q.GetId(), ShelfId: q.GetShelfId(), DisplayName: q.GetDisplayName(), WeightGrams: q.GetWeightGrams(),
		Price: q.GetPrice(), Fragile: q.GetFragile(), Tags: q.GetTags(), Extra: q.GetExtra(), MadeAt: q.GetMadeAt(),
		Part: q.GetPart(), Note: q.Note, Labels: q.GetLabels(), Serial: q.GetSerial(), Raw: q.GetRaw(),
		Color: q.GetColor(), Any: q.GetAny(), Parts: q.GetParts(),
	}, nil
}

func (*things) ListThings(_ context.Context, q *resttestv1.ListThingsRequest) (*resttestv1.ListThingsResponse, error) {
	return &resttestv1.ListThingsResponse{Asked: q}, nil
}

func (*things) GetThing(_ context.Context, q *resttestv1.GetThingRequest) (*resttestv1.Thing, error) {
	return &resttestv1.Thing{Id: q.GetThingId(), ShelfId: q.GetShelfId()}, nil
}

func (*things) UpdateThing(_ context.Context, q *resttestv1.UpdateThingRequest) (*resttestv1.UpdateThingResponse, error) {
	mask := q.GetUpdateMask().GetPaths()
	q.UpdateMask = nil
	return &resttestv1.UpdateThingResponse{Asked: q, Mask: mask}, nil
}

func (*things) DeleteThing(context.Context, *resttestv1.DeleteThingRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (*things) GetVersion(_ context.Context, q *resttestv1.GetVersionRequest) (*resttestv1.GetVersionResponse, error) {
	return &resttestv1.GetVersionResponse{Version: q.GetVersion()}, nil
}

func (*things) PutSettings(_ context.Context, q *resttestv1.PutSettingsRequest) (*resttestv1.PutSettingsResponse, error) {
	return &resttestv1.PutSettingsResponse{Asked: q}, nil
}

func (*things) Fail(_ context.Context, q *resttestv1.FailRequest) (*resttestv1.FailResponse, error) {
	return nil, failure(q.GetReason())
}

func failure(reason string) error {
	switch reason {
	case "plain":
		return errors.New("password=hunter2")
	case "rate-limited":
		return problem.ToConnect(&fault.Error{Reason: fault.RateLimitedReason, Message: "Wait.", RetryAfter: 3 * time.Second})
	}
	return problem.ToConnect(fault.OnField(fault.Reason(reason), "some_field", "Do otherwise."))
}

func (s *things) Count(ctx context.Context, q *resttestv1.CountRequest, out *connect.ServerStream[resttestv1.CountResponse]) error {
	for i := range q.GetTo() {
		event := &resttestv1.CountResponse{Type: "thing.counted", EventId: fmt.Sprint(i + 1), Number: i + 1}
		if err := out.Send(event); err != nil {
			return err
		}
	}
	if q.GetWait() {
		<-ctx.Done()
		s.hungUp <- struct{}{}
		return ctx.Err()
	}
	if q.GetFail() != "" {
		return failure(q.GetFail())
	}
	return nil
}

func (*things) CreateTurn(_ context.Context, q *resttestv1.CreateTurnRequest) (*resttestv1.CreateTurnResponse, error) {
	return &resttestv1.CreateTurnResponse{Text: q.GetTurnId() + " " + q.GetText()}, nil
}

func (*things) StreamTurn(
	_ context.Context, q *resttestv1.StreamTurnRequest, out *connect.ServerStream[resttestv1.StreamTurnResponse],
) error {
	for word := range strings.FieldsSeq(q.GetTurnId() + " " + q.GetText()) {
		if err := out.Send(&resttestv1.StreamTurnResponse{Type: "turn.delta", Text: word}); err != nil {
			return err
		}
	}
	return nil
}

// echoHeaders is an interceptor's work as seen from outside: it reads request headers, it sets
// answer headers.
func echoHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Authorization", "Idempotency-Key", "X-Request-Id", "Cookie", "X-Forwarded-For", "Traceparent"} {
			if value := r.Header.Get(name); value != "" {
				w.Header().Set("Saw-"+name, value)
			}
		}
		w.Header().Set("Ratelimit-Remaining", "7")
		next.ServeHTTP(w, r)
	})
}

// serve starts the facade over a real Connect service on a real port.
func serve(t *testing.T, config rest.Config) (*httptest.Server, *things) {
	t.Helper()
	service := &things{hungUp: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.Handle(resttestv1connect.NewThingServiceHandler(service, rest.ConnectCodecs()))
	config.Routes = resttestv1rest.Routes
	config.RPC = echoHeaders(mux)
	facade := rest.New(config)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/resttest.v1.") {
			mux.ServeHTTP(w, r)
			return
		}
		w.Header().Set("X-Request-Id", "req-1")
		facade.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server, service
}

// ask sends one request; header lines are "Name: value".
func ask(t *testing.T, server *httptest.Server, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, line := range header {
		if line == "" {
			continue
		}
		name, value, _ := strings.Cut(line, ": ")
		request.Header.Set(name, value)
		if value == "" {
			request.Header.Del(name)
		}
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(answer)
}
