package interceptor_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/server/rest"
)

// TestUpdateMask sends update requests to a handler that counts what gets through to it.
func TestUpdateMask(t *testing.T) {
	t.Parallel()
	validator, err := protovalidate.New()
	if err != nil {
		t.Fatal(err)
	}
	rpc := interceptor.RPC{
		Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics("test"),
		Now: time.Now, Validator: validator, Undecoded: rest.Undecoded, Pages: interceptor.NewPages(nil),
	}
	for name, row := range map[string]struct {
		paths []string
		field string // empty: the request gets through
	}{
		"no mask":     {},
		"fields":      {paths: []string{"language", "model"}},
		"misspelt":    {paths: []string{"language", "langage"}, field: "update_mask.paths[1]"},
		"nested":      {paths: []string{"model.temperature"}},
		"misspelt in": {paths: []string{"model.colour"}, field: "update_mask.paths[0]"},
		"free object": {paths: []string{"voice.tts.speed"}, field: "update_mask.paths[0]"},
		"in a list":   {paths: []string{"guards.name"}, field: "update_mask.paths[0]"},
		"in a text":   {paths: []string{"name.x"}, field: "update_mask.paths[0]"},
		"wildcard":    {paths: []string{"*"}, field: "update_mask.paths[0]"},
		"empty":       {paths: []string{""}, field: "update_mask.paths[0]"},
		"itself":      {paths: []string{"update_mask"}, field: "update_mask.paths[0]"},
		"lower camel": {paths: []string{"firstMessage"}, field: "update_mask.paths[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := &parlancev1.UpdateAgentRequest{WorkspaceId: "ws_1", AgentId: "agt_1", Language: new("en")}
			if row.paths != nil {
				request.UpdateMask = &fieldmaskpb.FieldMask{Paths: row.paths}
			}
			through := false
			_, err := rpc.WrapUnary(func(context.Context, connect.AnyRequest) (connect.AnyResponse, error) {
				through = true
				return connect.NewResponse(&parlancev1.Agent{}), nil
			})(t.Context(), connect.NewRequest(request))
			if through != (row.field == "") {
				t.Fatalf("got through: %v, %v", through, err)
			}
			if row.field == "" {
				return
			}
			got := problem.FromConnect(err)
			if got == nil || got.Reason != fault.InvalidRequest || len(got.Fields) != 1 || got.Fields[0].Field != row.field {
				t.Errorf("got %+v", got)
			}
		})
	}
}
