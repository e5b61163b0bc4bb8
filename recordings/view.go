package recordings

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/sessions"
)

// settleTime is how long after the end of a session its recording may still be written.
const settleTime = 5 * time.Minute

// Views describes the recordings of sessions of one tenant, by session.
func (s *Service) Views(ctx context.Context, of ...sessions.Session) (map[sessions.ID]View, error) {
	views := map[sessions.ID]View{}
	recorded := map[sessions.ID]sessions.Session{}
	for _, session := range of {
		views[session.ID] = View{Status: None}
		if isRecorded(session) {
			recorded[session.ID] = session
		}
	}
	if len(recorded) == 0 {
		return views, nil
	}
	parts, err := selectParts(ctx, s.db, of[0].TenantID, slices.Collect(maps.Keys(recorded))...)
	if err != nil {
		return nil, err
	}
	for id, own := range partsBySession(parts) {
		views[id] = viewOf(recorded[id], own, s.now())
	}
	return views, nil
}

// View describes the recording of a session.
func (s *Service) View(ctx context.Context, session sessions.Session) (View, error) {
	views, err := s.Views(ctx, session)
	return views[session.ID], err
}

func partsBySession(parts []Part) map[sessions.ID][]Part {
	by := map[sessions.ID][]Part{}
	for _, p := range parts {
		by[p.SessionID] = append(by[p.SessionID], p)
	}
	return by
}

// viewOf describes a recording by its parts, of which there is one at least.
func viewOf(session sessions.Session, parts []Part, now time.Time) View {
	view := View{Status: statusOf(session, parts, now), CreatedAt: parts[0].StartedAt}
	if view.Status == Erased {
		return view
	}
	for _, part := range parts {
		part.FromFrame = view.Frames
		view.Frames += part.Frames
		view.Parts = append(view.Parts, part)
	}
	return view
}

// statusOf decides the status of a recording by its parts. A part without an end is one that goes
// on, until the session has been over for settleTime: then its server was lost.
func statusOf(session sessions.Session, parts []Part, now time.Time) Status {
	open := slices.ContainsFunc(parts, func(p Part) bool { return p.EndedAt.IsZero() })
	switch {
	case slices.ContainsFunc(parts, func(p Part) bool { return !p.ErasedAt.IsZero() }):
		return Erased
	case !session.Closed():
		return Recording
	case open && now.Sub(session.EndedAt) < settleTime:
		return Recording
	case open || slices.ContainsFunc(parts, func(p Part) bool { return p.Incomplete }):
		return Incomplete
	}
	return Ready
}

// HasAudio reports whether a session has a recording, for the announcement of its end.
func (s *Service) HasAudio(ctx context.Context, db bun.IDB, session sessions.Session) (bool, error) {
	if !isRecorded(session) {
		return false, nil
	}
	parts, err := selectParts(ctx, db, session.TenantID, session.ID)
	return slices.ContainsFunc(parts, func(p Part) bool { return p.ErasedAt.IsZero() }), err
}

// MarksParams select marks by their time in the recording.
type MarksParams struct {
	// FromMS selects marks that end after it.
	FromMS int
	// ToMS selects marks that begin before it; 0 selects all.
	ToMS int
}

// Marks returns the marks of a session's recording in the order of time. Errors: NotFound
// not-found when there is no recording, or none any more.
func (s *Service) Marks(ctx context.Context, session sessions.Session, p MarksParams) ([]Mark, error) {
	view, err := s.View(ctx, session)
	if err != nil {
		return nil, err
	}
	if view.Status == None || view.Status == Erased {
		return nil, noRecording(session.ID)
	}
	segments, err := selectSegments(ctx, s.db, session.TenantID, session.ID)
	if err != nil {
		return nil, err
	}
	begins := map[string]int{}
	for _, part := range view.Parts {
		begins[part.ID] = part.FromMS()
	}
	var marks []Mark
	for _, g := range segments {
		for _, m := range g.Marks {
			m.FromMS, m.ToMS = m.FromMS+begins[g.PartID], m.ToMS+begins[g.PartID]
			if m.ToMS > p.FromMS && (p.ToMS == 0 || m.FromMS < p.ToMS) {
				marks = append(marks, m)
			}
		}
	}
	slices.SortStableFunc(marks, func(a, b Mark) int { return a.FromMS - b.FromMS })
	return marks, nil
}
