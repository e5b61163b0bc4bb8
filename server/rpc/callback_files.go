package rpc

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/workspaces"
)

// exportPieceBytes bounds the messages of streamed files.
const exportPieceBytes = 64 << 10

func (s *callbacksServer) ExportCallbackCalendar(
	ctx context.Context, req *parlancev1.ExportCallbackCalendarRequest,
	stream *connect.ServerStream[parlancev1.ExportCallbackCalendarResponse],
) error {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return err
	}
	var file bytes.Buffer
	span := callbacks.Span{From: timeOf(req.GetFrom()), Until: timeOf(req.GetUntil())}
	if err := s.callbacks.ExportCalendar(ctx, ref, span, &file); err != nil {
		return err
	}
	return inPieces(&file, func(data []byte) error { return stream.Send(&parlancev1.ExportCallbackCalendarResponse{Data: data}) })
}

func (s *callbacksServer) ExportCallbackBatch(
	ctx context.Context, req *parlancev1.ExportCallbackBatchRequest, stream *connect.ServerStream[parlancev1.ExportCallbackBatchResponse],
) error {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := s.callbacks.ExportBatch(ctx, ref, callbacks.BatchID(req.GetBatchId()), &file); err != nil {
		return err
	}
	return inPieces(&file, func(data []byte) error { return stream.Send(&parlancev1.ExportCallbackBatchResponse{Data: data}) })
}

// inPieces sends a file.
func inPieces(file *bytes.Buffer, send func([]byte) error) error {
	for file.Len() > 0 {
		if err := send(file.Next(exportPieceBytes)); err != nil {
			return err
		}
	}
	return nil
}

// callbackFile is a REST route that answers with a file of callbacks.
type callbackFile struct {
	FileDeps
	procedure, contentType, name string
	// request is the request as the audit log has it; write writes the file.
	request func(r *http.Request) (proto.Message, error)
	write   func(ctx context.Context, ref workspaces.Ref, r *http.Request, w io.Writer) error
}

// NewCalendarExport makes the REST route of ExportCallbackCalendar.
func NewCalendarExport(d FileDeps) http.Handler {
	return &callbackFile{
		FileDeps: d, procedure: parlancev1connect.CallbackServiceExportCallbackCalendarProcedure,
		contentType: "text/calendar; charset=utf-8", name: "callbacks.ics",
		request: func(r *http.Request) (proto.Message, error) {
			span, err := spanOf(r)
			return &parlancev1.ExportCallbackCalendarRequest{
				WorkspaceId: r.PathValue("workspace_id"), From: timestamp(span.From), Until: timestamp(span.Until),
			}, err
		},
		write: func(ctx context.Context, ref workspaces.Ref, r *http.Request, w io.Writer) error {
			span, err := spanOf(r)
			if err != nil {
				return err
			}
			return d.Callbacks.ExportCalendar(ctx, ref, span, w)
		},
	}
}

// NewBatchExport makes the REST route of ExportCallbackBatch.
func NewBatchExport(d FileDeps) http.Handler {
	return &callbackFile{
		FileDeps: d, procedure: parlancev1connect.CallbackServiceExportCallbackBatchProcedure, contentType: "text/csv; charset=utf-8",
		name: "results.csv",
		request: func(r *http.Request) (proto.Message, error) {
			return &parlancev1.ExportCallbackBatchRequest{WorkspaceId: r.PathValue("workspace_id"), BatchId: r.PathValue("batch_id")}, noQuery(r)
		},
		write: func(ctx context.Context, ref workspaces.Ref, r *http.Request, w io.Writer) error {
			return d.Callbacks.ExportBatch(ctx, ref, callbacks.BatchID(r.PathValue("batch_id")), w)
		},
	}
}

// ServeHTTP implements http.Handler.
func (h *callbackFile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var file bytes.Buffer
	ctx, err := h.Admit(r.Context(), h.procedure, r.Header, w.Header())
	if err == nil {
		err = h.build(ctx, r, &file)
	}
	if err != nil {
		h.refuse(w, r, h.procedure, err)
		return
	}
	w.Header().Set("Content-Type", h.contentType)
	w.Header().Set("Content-Disposition", disposition(h.name))
	w.Header().Set("Cache-Control", "private, no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodHead {
		_, _ = file.WriteTo(w) // the client may be gone
	}
}

// build writes the file, and the entry of the audit log where the method has one.
func (h *callbackFile) build(ctx context.Context, r *http.Request, file io.Writer) error {
	ref, err := h.Access.Workspace(ctx, r.PathValue("workspace_id"))
	if err != nil {
		return err
	}
	request, err := h.request(r)
	if err != nil {
		return err
	}
	if err := h.write(ctx, ref, r, file); err != nil || r.Method == http.MethodHead {
		return err
	}
	return h.Audit.Read(ctx, interceptor.AuditedCall{Procedure: h.procedure, Header: r.Header, Request: request})
}

// spanOf reads the query parameters from and until. Errors: Invalid invalid-request.
func spanOf(r *http.Request) (callbacks.Span, error) {
	var span callbacks.Span
	for name, values := range r.URL.Query() {
		to := map[string]*time.Time{"from": &span.From, "until": &span.Until}[name]
		if to == nil || len(values) != 1 {
			return span, fault.InvalidField(name, "unknown", "The query parameters are from and until, each given once.")
		}
		at, err := time.Parse(time.RFC3339, values[0])
		if err != nil {
			return span, fault.InvalidField(name, "time", "%s must be a time such as 2026-12-01T00:00:00Z.", name)
		}
		*to = timestamppb.New(at).AsTime()
	}
	return span, nil
}

// noQuery refuses query parameters.
func noQuery(r *http.Request) error {
	for name := range r.URL.Query() {
		return fault.InvalidField(name, "unknown", "There is no query parameter of this name.")
	}
	return nil
}
