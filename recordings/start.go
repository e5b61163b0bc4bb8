package recordings

import (
	"context"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
)

// Start begins the recording of a new voice socket of a session. It returns nil for a session that
// is not recorded, and all methods of a nil Recorder do nothing. It does not wait for the database
// or the bucket. The caller closes the Recorder, whatever becomes of the socket.
func (s *Service) Start(session sessions.Session) *Recorder {
	if !isRecorded(session) {
		return nil
	}
	part := Part{
		ID: idgen.New(idgen.Recording), TenantID: session.TenantID, WorkspaceID: session.WorkspaceID, SessionID: session.ID,
		AgentID: session.AgentID, StartedAt: s.now(),
	}
	if !session.StartedAt.IsZero() {
		part.OffsetMS = int(max(0, part.StartedAt.Sub(session.StartedAt)).Milliseconds())
	}
	r := &Recorder{
		part: part, woken: make(chan struct{}, 1), done: make(chan struct{}),
		log: s.log.With(telemetry.KeyTenantID, string(session.TenantID), telemetry.KeySessionID, string(session.ID)),
	}
	ctx, cancel := context.WithCancel(context.Background()) // the recording outlives the request that opened the socket
	r.cancel = cancel
	go func() {
		defer close(r.done)
		defer cancel()
		writer{s, r}.run(ctx)
	}()
	return r
}
