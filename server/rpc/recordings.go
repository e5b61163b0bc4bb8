package rpc

import (
	"context"
	"net/http"
	"time"

	"connectrpc.com/connect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/recordings"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

func (s *sessionsServer) DownloadRecording(ctx context.Context, req *parlancev1.DownloadRecordingRequest,
	stream *connect.ServerStream[parlancev1.DownloadRecordingResponse],
) error {
	file, err := openRecording(ctx, s.Sessions, s.Recordings, req.GetSessionId())
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	return sendPieces(file, func(piece []byte) error { return stream.Send(&parlancev1.DownloadRecordingResponse{Data: piece}) })
}

func (s *sessionsServer) GetRecordingMarks(
	ctx context.Context, req *parlancev1.GetRecordingMarksRequest,
) (*parlancev1.RecordingMarks, error) {
	session, err := s.Sessions.Get(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()))
	if err != nil {
		return nil, err
	}
	marks, err := s.Recordings.Marks(ctx, session, recordings.MarksParams{FromMS: int(req.GetFromMs()), ToMS: int(req.GetToMs())})
	return &parlancev1.RecordingMarks{Marks: each(marks, recordingMarkProto)}, err
}

// openRecording opens the recording of a session that the caller may see.
func openRecording(ctx context.Context, all *sessions.Service, recorded *recordings.Service, id string) (*recordings.File, error) {
	session, err := all.Get(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(id))
	if err != nil {
		return nil, err
	}
	return recorded.Open(ctx, session)
}

type recordingHandler struct{ FileDeps }

// NewRecordingDownload makes the REST route of DownloadRecording. It answers with a WAV file, or
// the Range of it that is asked for. The path variable is session_id.
func NewRecordingDownload(d FileDeps) http.Handler { return &recordingHandler{d} }

// ServeHTTP implements http.Handler.
func (h *recordingHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const procedure = parlancev1connect.SessionServiceDownloadRecordingProcedure
	ctx, err := h.Admit(r.Context(), procedure, r.Header, w.Header())
	if err != nil {
		h.refuse(w, r, procedure, err)
		return
	}
	session := r.PathValue("session_id")
	file, err := openRecording(ctx, h.Sessions, h.Recordings, session)
	if err != nil {
		h.refuse(w, r, procedure, err)
		return
	}
	defer func() { _ = file.Close() }() // only read
	if r.Method != http.MethodHead {
		err = h.Audit.Read(ctx, interceptor.AuditedCall{
			Procedure: procedure, Header: r.Header, Request: &parlancev1.DownloadRecordingRequest{SessionId: session},
		})
	}
	if err != nil {
		h.refuse(w, r, procedure, err)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "audio/wav")
	header.Set("Content-Disposition", disposition(file.Name))
	header.Set("Cache-Control", "private, no-store, no-transform") // it may grow, and may have to be forgotten
	header.Set("X-Content-Type-Options", "nosniff")
	if !isPiece(r.Header.Get("Range"), file.SizeBytes) {
		r.Header.Del("Range") // RFC 9110, 14.2: a server may ignore it
	}
	serveContent(w, r, time.Time{}, file.SizeBytes, file)
}

func recordingProto(ctx context.Context, session sessions.ID, v recordings.View) *parlancev1.SessionRecording {
	shown := &parlancev1.SessionRecording{
		Status: string(v.Status), DurationMs: int32Of(v.DurationMS()), SizeBytes: float64(v.SizeBytes()), CreatedAt: timestamp(v.CreatedAt),
		Parts: each(v.Parts, recordingPartProto),
	}
	if v.SizeBytes() > 0 {
		shown.Url = interceptor.BaseURL(ctx) + "/v1/sessions/" + string(session) + "/recording"
	}
	return shown
}

func recordingPartProto(p recordings.Part) *parlancev1.RecordingPart {
	return &parlancev1.RecordingPart{
		OffsetMs: int32Of(p.OffsetMS), FromMs: int32Of(p.FromMS()), DurationMs: int32Of(p.DurationMS()), Incomplete: p.Incomplete,
	}
}

func recordingMarkProto(m recordings.Mark) *parlancev1.RecordingMark {
	return &parlancev1.RecordingMark{
		Role: m.Channel.String(), ItemId: m.ItemID, FromChar: int32Of(m.FromChar), ToChar: int32Of(m.ToChar),
		FromMs: int32Of(m.FromMS), ToMs: int32Of(m.ToMS),
	}
}
