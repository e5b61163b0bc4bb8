package task

import (
	"context"
	"time"

	"parlance.dev/parlance/analysis"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// The types of the tasks in which a model judges a session that is over, and extracts memories of
// its user.
const (
	AnalyseSessionType = "analyse_session"
	LearnSessionType   = "extract_memory"
)

// analyseTimeout is above the time that one run may take.
const analyseTimeout = analysis.TryTimeout + 15*time.Second

type analysePayload struct {
	TenantID  workspaces.TenantID `json:"tenant_id"`
	SessionID sessions.ID         `json:"session_id"`
}

// HandleAnalyseSession analyses a session, or puts it off when its tenant has its share of the
// workers. The task is not retried: the session says when it is due again.
func HandleAnalyseSession(analyses *analysis.Service, admit AdmitFunc) queue.HandlerFunc {
	return handleAnalysis(analyses, admit, analysis.Judging, analyses.Analyse)
}

// HandleLearnSession extracts memories from a session in the same way.
func HandleLearnSession(analyses *analysis.Service, admit AdmitFunc) queue.HandlerFunc {
	return handleAnalysis(analyses, admit, analysis.Learning, analyses.Learn)
}

func handleAnalysis(
	analyses *analysis.Service, admit AdmitFunc, kind analysis.Kind,
	do func(context.Context, workspaces.TenantID, sessions.ID) error,
) queue.HandlerFunc {
	return func(ctx context.Context, payload []byte) error {
		var p analysePayload
		if err := decode(payload, &p); err != nil {
			return err
		}
		leave, ok := admit(string(p.TenantID))
		if !ok {
			return analyses.RescheduleAnalysis(ctx, p.TenantID, p.SessionID, kind)
		}
		defer leave()
		return do(ctx, p.TenantID, p.SessionID)
	}
}

// DueAnalyses finds sessions that wait for their analysis without a task.
type DueAnalyses struct{ Analyses *analysis.Service }

// Due implements Finder.
func (d DueAnalyses) Due(ctx context.Context, now time.Time, ask fair.Ask) ([]queue.Task, error) {
	due, err := d.Analyses.DueAnalyses(ctx, now, ask)
	if err != nil {
		return nil, err
	}
	tasks := make([]queue.Task, len(due))
	for i, a := range due {
		name, own := AnalyseSessionType, false
		if a.Kind == analysis.Learning {
			name, own = LearnSessionType, true
		}
		tasks[i] = queue.Task{
			Type: name, ID: name + ":" + string(a.SessionID) + ":" + madeAt(now), Queue: queue.Analyse,
			TenantID: string(a.TenantID), WorkspaceID: string(a.WorkspaceID), Origin: a.Origin(), OwnTrace: own,
			Payload: analysePayload{TenantID: a.TenantID, SessionID: a.SessionID}, Timeout: analyseTimeout, MaxRetries: -1,
		}
	}
	return tasks, nil
}
