package turns

import (
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/handover"
	"parlance.dev/parlance/turns/extratools"
)

// addExtraTools adds the tools of package extratools to the turn's, without those that the client
// replaces.
func (r *Runner) addExtraTools() error {
	if r.S.tools == nil || r.Aside {
		return nil
	}
	added, err := extratools.Of(r.Session, r.tools)
	if err != nil {
		return err
	}
	all := r.tools[:len(r.tools):len(r.tools)] // the session cache has it too
	for _, entry := range added {
		if !r.isClientTool(entry.Name) {
			all = append(all, entry)
		}
	}
	r.tools = all
	return nil
}

// isPersonAsked reports whether a person was asked for, or has the session.
func (r *Runner) isPersonAsked() bool {
	return r.Session.Handover.Status != sessions.NoHandover || r.end.Handover != nil
}

// requestHandover has the end of the turn ask for a person, unless a request is open.
func (r *Runner) requestHandover(asked handover.Request) {
	if r.isPersonAsked() {
		return
	}
	if destination, known := r.Session.Config.Handover.Destination(asked.Destination); known {
		asked.Destination = destination.Name
	}
	r.end.Handover, r.Turn.Metrics.Handover = &asked, sessions.HandoverRequested
}

// sendKeys has the socket press the keys of a call of press_keys.
func (r *Runner) sendKeys(p *pendingCall) error {
	if !p.system() || p.Call.Name != extratools.PressKeys {
		return nil
	}
	if digits := extratools.Digits(p.Call.Arguments); digits != "" {
		return r.send(KeysWanted{ResponseID: r.ResponseID, Digits: digits})
	}
	return nil
}

// isLeft reports whether the turn is left to the person who has the session. A turn that is only
// stored is, also when it began without Postgres from a cache that does not know of the person.
func (r *Runner) isLeft() bool { return r.Session.Handover.WithOperator() || r.Start.Stores }

// leaveToOperator ends a turn of a session that a person has: what the user said is stored, and the
// model is not asked.
func (r *Runner) leaveToOperator() error {
	r.Turn.Metrics.Handover, r.Turn.Metrics.Operator = sessions.HandoverOperator, r.Session.Handover.Operator
	return r.send(LeftToOperator{ResponseID: r.ResponseID, TurnID: r.Turn.ID, CommandID: r.CommandID})
}
