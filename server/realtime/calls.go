package realtime

import (
	"context"
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/workspaces"
)

// Calls are the telephone calls of sessions: telephony.Service.
type Calls interface {
	// TransferNow connects the caller of a session with the person who was asked for.
	TransferNow(ctx context.Context, tenant workspaces.TenantID, id sessions.ID) error
	// MediaEnded says that the media socket of a session has ended. It reports whether the call goes
	// on without it, so that it is not over for the session: the caller may come back.
	MediaEnded(ctx context.Context, p telephony.MediaEndedParams) (goesOn bool, err error)
}

// callsTimeout bounds what a media socket waits for of Calls.
const callsTimeout = 15 * time.Second

// callEnded ends the socket of a telephone call that the carrier has ended or lost, once Calls has
// said whether the call goes on. mu is held.
func (s *socket) callEnded(end ending) {
	if s.callEnding {
		return
	}
	s.callEnding = true
	session, lost := s.live.Session(), end.leaving == live.Dropped
	s.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), callsTimeout)
		defer cancel()
		goesOn := false
		if s.calls != nil {
			p := telephony.MediaEndedParams{TenantID: session.TenantID, SessionID: session.ID, OpenedAt: s.openedAt, Lost: lost}
			var err error
			if goesOn, err = s.calls.MediaEnded(ctx, p); err != nil {
				s.log.Warn("end of a media socket not noted", telemetry.KeySessionID, session.ID, telemetry.KeyError, err)
				goesOn = true // it may: the session ends with the call, if nobody comes back
			}
		}
		switch {
		case goesOn:
			end.leaving = live.Dropped
		case lost:
			end.leaving = live.Lost
		}
		end.decided = true
		s.finish(end)
	})
}

// transfer has the caller connected with a person. mu is held.
func (s *socket) transfer() {
	if s.calls == nil {
		return
	}
	session := s.live.Session()
	s.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), callsTimeout)
		defer cancel()
		if err := s.calls.TransferNow(ctx, session.TenantID, session.ID); err != nil {
			s.log.Warn("call not transferred", telemetry.KeySessionID, session.ID, telemetry.KeyError, err)
		}
	})
}
