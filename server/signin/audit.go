package signin

import (
	"context"
	"net/http"
	"sync"
	"time"

	"parlance.dev/parlance/audit"
	"parlance.dev/parlance/people"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/interceptor"
)

const (
	// refusalPause is how long further refusals of the same person are not recorded, so that somebody
	// who tries again and again does not fill a log that nobody can shorten.
	refusalPause = time.Minute
	// maxRefusals bounds what is remembered of refusals.
	maxRefusals = 10_000
	// settleTime bounds the writing of an entry after the browser has gone.
	settleTime = 10 * time.Second
)

// refusals remembers when a refusal of a person was recorded last.
type refusals struct {
	mu   sync.Mutex
	last map[people.ID]time.Time // guarded by mu
}

// repeated reports whether a refusal was recorded a moment ago, and notes this one otherwise.
func (r *refusals) repeated(id people.ID, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, known := r.last[id]; known && now.Sub(last) < refusalPause {
		return true
	}
	if r.last == nil || len(r.last) >= maxRefusals {
		r.last = map[people.ID]time.Time{}
	}
	r.last[id] = now
	return false
}

// recordRefusal writes the entry of somebody who may not sign in. Only when the issuer has said who
// it is: others could be anybody.
func (h *Handler) recordRefusal(r *http.Request, result people.Result) {
	if result.Person.ID == "" || h.refused.repeated(result.Person.ID, h.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), settleTime)
	defer cancel()
	if err := h.Entries.Append(ctx, entry(r, result.Person, "person.sign_in_refused", audit.Outcome(result.Refused))); err != nil {
		h.Log.ErrorContext(ctx, "refusal not written to the audit log", telemetry.KeyError, err)
	}
}

// entry is what the audit log says of a sign-in or sign-out.
func entry(r *http.Request, p people.Person, action string, outcome audit.Outcome) audit.Entry {
	e := audit.Entry{
		TenantID: p.TenantID, ActorKind: audit.ActorPerson, ActorID: string(p.ID), ActorName: p.Name,
		Action: action, ResourceType: "person", ResourceID: string(p.ID), Outcome: outcome,
		UserAgent: r.UserAgent(), RequestID: interceptor.RequestID(r.Context()),
	}
	if address := interceptor.ClientAddress(r.Context()); address.IsValid() {
		e.RemoteAddress = address.String()
	}
	return e
}
