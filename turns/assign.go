package turns

import (
	"maps"
	"slices"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// maxAssigned bounds the variables that answers set in a session. Source: decisions, dynamic
// variables.
const maxAssigned = sessions.MaxVariables

// assignments are the variables that an answer sets, and their names in order.
func assignments(wanted []tools.Assignment, outcome tools.Outcome) (map[string]string, []string) {
	values := tools.Assign(wanted, outcome.OutputJSON)
	for name, value := range values {
		if !sessions.IsStorable(value) {
			delete(values, name)
		}
	}
	return values, slices.Sorted(maps.Keys(values))
}

// assign makes variables known to the rest of the turn, and to the session when the turn is
// recorded.
func (r *Runner) assign(values map[string]string) {
	if len(values) == 0 {
		return
	}
	if r.end.Assigned == nil {
		r.end.Assigned = map[string]string{}
	}
	MergeAssigned(&r.Session, values)
	for name := range values {
		if value, kept := r.Session.AssignedVariables[name]; kept {
			r.end.Assigned[name] = value
		}
	}
	r.values = r.values.With(r.end.Assigned)
}

// MergeAssigned puts values among the session's; new names beyond maxAssigned are left out, in
// their order.
func MergeAssigned(session *sessions.Session, values map[string]string) {
	merged := maps.Clone(session.AssignedVariables)
	if merged == nil {
		merged = map[string]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, there := merged[name]; there || len(merged) < maxAssigned {
			merged[name] = values[name]
		}
	}
	session.AssignedVariables = merged
}
