package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1rest"
	"parlance.dev/parlance/server/rest"
)

// quickSessions answers like the service, without its work.
type quickSessions struct {
	parlancev1connect.UnimplementedSessionServiceHandler
}

func (quickSessions) CreateSession(context.Context, *parlancev1.CreateSessionRequest) (*parlancev1.CreateSessionResponse, error) {
	token := strings.Repeat("x", 500)
	return &parlancev1.CreateSessionResponse{
		Id: "ses_01jdd1b6m7f3nq9x3gkz4qzv7e", Status: "pending", Token: token, ExpiresAt: timestamppb.New(time.Unix(1, 0)),
		WsUrl: "wss://example.test/v1/realtime/voice?token=" + token, ChatUrl: "wss://example.test/v1/realtime/chat?token=" + token,
	}, nil
}

// BenchmarkCreateSession has what the facade adds to Connect JSON in the difference of its two.
func BenchmarkCreateSession(b *testing.B) {
	_, rpc := parlancev1connect.NewSessionServiceHandler(quickSessions{}, rest.ConnectCodecs())
	const body = `{"agent_id":"agt_01jdd1b6m7f3nq9x3gkz4qzv7e","dynamic_variables":{"city":"London","name":"Ada"},` +
		`"modality":"text","user_id":"bench"}`
	for _, way := range []struct {
		name, path string
		handler    http.Handler
		status     int
	}{
		{"connect", parlancev1connect.SessionServiceCreateSessionProcedure, rpc, http.StatusOK},
		{"rest", "/v1/sessions", rest.New(rest.Config{Routes: parlancev1rest.Routes, RPC: rpc}), http.StatusCreated},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				request := httptest.NewRequestWithContext(b.Context(), http.MethodPost, way.path, strings.NewReader(body))
				request.Header.Set("Content-Type", "application/json")
				answer := httptest.NewRecorder()
				way.handler.ServeHTTP(answer, request)
				if answer.Code != way.status {
					b.Fatalf("answered %d: %s", answer.Code, answer.Body)
				}
			}
		})
	}
}
