// Package fatigue watches how much a user talks to an agent: turns, sessions and minutes in windows
// that slide, counted in Postgres from the sessions and turns that are there.
//
//	a turn is answered ──► Observe ──► used up: fatigue.alert, once until it has cooled down
//	a session is made  ──► Refusal ──► used up, and the window refuses: 429
//
// A window has cooled down when no more than four fifths of it were used before a turn.
package fatigue

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// cooledDown is the share of a limit under which a window may fire again.
const cooledDown = 0.8

// User is who talks to which agent.
type User struct {
	Ref     workspaces.Ref
	AgentID agents.ID
	UserID  string
}

// Alert is a window that was used up.
type Alert struct {
	agents.FatigueWindow

	// Measure is turns, sessions or minutes.
	Measure      string
	Value, Limit float64
	// before is the value before the turn that is looked at.
	before float64
}

// usage is what a user did in a window.
type usage struct {
	Seconds  int64   `bun:"seconds"`
	Sessions int64   `bun:"sessions"`
	Turns    int64   `bun:"turns"`
	Minutes  float64 `bun:"minutes"`
	// TurnsBefore are those that had begun before the turn that is looked at, SessionsBefore those
	// with such a turn.
	SessionsBefore int64 `bun:"sessions_before"`
	TurnsBefore    int64 `bun:"turns_before"`
}

// longestSession is more than a conversation can last, its token's life included.
const longestSession = "26 hours"

// selectUsage counts sessions that began in a window, the turns in it in which the user said
// something, and the minutes from the beginning of each session (or of the window) to its last
// activity.
const selectUsage = `
	SELECT w.seconds,
	       count(s.id) FILTER (WHERE s.started_at > w.since) AS sessions,
	       count(s.id) FILTER (WHERE s.started_at > w.since AND t.before > 0) AS sessions_before,
	       coalesce(sum(t.turns), 0)::bigint AS turns,
	       coalesce(sum(t.before), 0)::bigint AS turns_before,
	       coalesce(sum(
	           greatest(0, extract(epoch FROM s.last_activity_at - greatest(s.started_at, w.since)))
	       ), 0)::double precision / 60 AS minutes
	FROM (
	    SELECT seconds, until - make_interval(secs => seconds) AS since, until, ?::timestamptz AS begun
	    FROM unnest(?::bigint[]) AS each (seconds), (SELECT ?::timestamptz AS until) AS now
	) AS w
	LEFT JOIN sessions AS s ON s.workspace_id = ? AND s.tenant_id = ? AND s.agent_id = ? AND s.user_id = ?
	    AND s.started_at <= w.until AND s.last_activity_at > w.since AND s.created_at > w.since - interval '` + longestSession + `'
	LEFT JOIN LATERAL (
	    SELECT count(*) AS turns,
	           count(*) FILTER (WHERE t.started_at < w.begun) AS before
	    FROM turns AS t
	    WHERE t.tenant_id = s.tenant_id
	      AND t.session_id = s.id
	      AND t.started_at > w.since
	      AND t.started_at <= w.until
	      AND t.user_text <> ''
	) AS t ON true
	GROUP BY w.seconds`

// used are the measures that are limited, with what the user did up to now, and before a turn that
// began at begun.
func used(ctx context.Context, db bun.IDB, user User, windows []agents.FatigueWindow, now, begun time.Time) ([]Alert, error) {
	seconds := make([]int64, len(windows))
	for i, window := range windows {
		seconds[i] = int64(window.Length() / time.Second)
	}
	slices.Sort(seconds)
	var rows []usage
	err := db.NewRaw(selectUsage, begun, pgdialect.Array(slices.Compact(seconds)), now,
		user.Ref.ID, user.Ref.TenantID, user.AgentID, user.UserID).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("count what a user did: %w", err)
	}
	var all []Alert
	for _, window := range windows {
		at := slices.IndexFunc(rows, func(u usage) bool { return u.Seconds == int64(window.Length()/time.Second) })
		if at < 0 {
			continue
		}
		for _, one := range []Alert{
			{window, "turns", float64(rows[at].Turns), float64(window.MaxTurns), float64(rows[at].TurnsBefore)},
			{window, "sessions", float64(rows[at].Sessions), float64(window.MaxSessions), float64(rows[at].SessionsBefore)},
			{window, "minutes", math.Round(rows[at].Minutes*10) / 10, float64(window.MaxMinutes), rows[at].Minutes},
		} {
			if one.Limit > 0 {
				all = append(all, one)
			}
		}
	}
	return all, nil
}

// Refusal is why a user gets no new session: a window that refuses is used up. nil: they get one.
// Errors: RateLimited fatigue-window-used-up, and those of Postgres.
func Refusal(ctx context.Context, db bun.IDB, user User, windows []agents.FatigueWindow, now time.Time) error {
	windows = slices.DeleteFunc(slices.Clone(windows), func(w agents.FatigueWindow) bool { return w.Action != agents.FatigueRefuse })
	if len(windows) == 0 {
		return nil
	}
	all, err := used(ctx, db, user, windows, now, now)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.Value < one.Limit {
			continue
		}
		refusal := fault.New(fault.FatigueWindowUsedUp, "The user has used up %g %s of this agent in %s. Let them take a break.",
			one.Limit, one.Measure, one.Window)
		if refusal.RetryAfter, err = retryAfter(ctx, db, user, one, now); err != nil {
			return err
		}
		return refusal
	}
	return nil
}

// retryAfter is when so much has left the window that it has room. Minutes leave it as they came:
// they are estimated from the beginning of the first session that is in it.
func retryAfter(ctx context.Context, db bun.IDB, user User, one Alert, now time.Time) (time.Duration, error) {
	since := now.Add(-one.Length())
	query := db.NewSelect().TableExpr("sessions AS s").Where("s.tenant_id = ?", user.Ref.TenantID).
		Where("s.workspace_id = ?", user.Ref.ID).Where("s.agent_id = ?", user.AgentID).Where("s.user_id = ?", user.UserID)
	last := int64(one.Limit) - 1 // the newest that must leave
	switch one.Measure {
	case "turns":
		query = query.ColumnExpr("t.started_at").Join("JOIN turns AS t ON t.tenant_id = s.tenant_id AND t.session_id = s.id").
			Where("t.started_at > ?", since).Where("t.user_text <> ''").OrderExpr("t.started_at DESC").Offset(last)
	case "sessions":
		query = query.ColumnExpr("s.started_at").Where("s.started_at > ?", since).OrderExpr("s.started_at DESC").Offset(last)
	default:
		query = query.ColumnExpr("greatest(s.started_at, ?)", since).Where("s.last_activity_at > ?", since).OrderExpr("s.started_at")
	}
	var leaves time.Time
	if err := query.Limit(1).Scan(ctx, &leaves); err != nil && !postgres.NoRows(err) {
		return 0, fmt.Errorf("look when a window has room again: %w", err)
	}
	wait := leaves.Add(one.Length()).Sub(now)
	if one.Measure == "minutes" {
		wait += time.Duration((one.Value - one.Limit) * float64(time.Minute))
	}
	return max(wait, 0).Truncate(time.Second) + time.Second, nil
}

// alertKey is a measure of a window.
type alertKey struct {
	Seconds int64
	Measure string
}

func (a Alert) key() alertKey { return alertKey{int64(a.Length() / time.Second), a.Measure} }

// announced is an alert of before.
type announced struct {
	Seconds int64     `bun:"window_seconds"`
	Measure string    `bun:"measure"`
	FiredAt time.Time `bun:"fired_at"`
}

// Observe announces the windows that a user has used up with a turn that began at begun, and
// returns them: those that were not announced since they had cooled down. Of turns that end side by
// side one announces a window.
func Observe(
	ctx context.Context, db *postgres.DB, user User, sessionID string, windows []agents.FatigueWindow, begun, now time.Time,
) ([]Alert, error) {
	// What was announced is read first, and a count up to a time before it is of no use: both would
	// look like a window that has cooled down since.
	var before []announced
	err := db.NewRaw(`
		SELECT window_seconds,
		       measure,
		       fired_at
		FROM fatigue_alerts
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND agent_id = ?
		  AND user_id = ?`, user.Ref.TenantID, user.Ref.ID, user.AgentID, user.UserID).Scan(ctx, &before)
	if err != nil {
		return nil, fmt.Errorf("read what was announced of a user: %w", err)
	}
	all, err := used(ctx, db, user, windows, now, begun)
	if err != nil {
		return nil, err
	}
	fired := map[alertKey]time.Time{}
	for _, one := range before {
		fired[alertKey{one.Seconds, one.Measure}] = one.FiredAt
	}
	var mine []Alert
	for _, one := range all {
		last, known := fired[one.key()]
		if known && now.After(last) && one.Value <= cooledDown*one.Limit {
			err = coolDown(ctx, db, user, one, last)
		}
		if one.Value >= one.Limit && (!known || begun.After(last) && one.before <= cooledDown*one.Limit) {
			var isMine bool
			if isMine, err = fire(ctx, db, user, sessionID, one, last, now); isMine {
				mine = append(mine, one)
			}
		}
		if err != nil {
			return mine, err
		}
	}
	return mine, nil
}

// coolDown forgets an announcement of last, unless there is another by now.
func coolDown(ctx context.Context, db bun.IDB, user User, one Alert, last time.Time) error {
	_, err := db.ExecContext(ctx, `
		DELETE FROM fatigue_alerts
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND agent_id = ?
		  AND user_id = ?
		  AND window_seconds = ?
		  AND measure = ?
		  AND fired_at = ?`,
		user.Ref.TenantID, user.Ref.ID, user.AgentID, user.UserID, one.key().Seconds, one.Measure, last)
	if err != nil {
		return fmt.Errorf("let a window cool down: %w", err)
	}
	return nil
}

// fire announces a window that was announced last at last; zero: never. mine is false when another
// turn has done so.
func fire(
	ctx context.Context, db *postgres.DB, user User, sessionID string, one Alert, last, now time.Time,
) (mine bool, err error) {
	err = postgres.InTx(ctx, db, func(ctx context.Context, tx bun.Tx) error {
		mine, err = postgres.Changed(tx.ExecContext(ctx, `
			INSERT INTO fatigue_alerts (tenant_id, workspace_id, agent_id, user_id, window_seconds, measure, fired_at)
			VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (workspace_id, agent_id, user_id, window_seconds, measure) DO UPDATE
			SET fired_at = EXCLUDED.fired_at
			WHERE fatigue_alerts.tenant_id = EXCLUDED.tenant_id
			  AND fatigue_alerts.fired_at = ?`,
			user.Ref.TenantID, user.Ref.ID, user.AgentID, user.UserID, one.key().Seconds, one.Measure, now, last))
		if err != nil || !mine {
			return err
		}
		_, err := events.Append(ctx, tx, events.Event{
			TenantID: string(user.Ref.TenantID), WorkspaceID: string(user.Ref.ID), Type: events.FatigueAlert,
			Subject: sessionID, CreatedAt: now,
			Payload: &events.FatigueAlertData{
				UserId: user.UserID, AgentId: string(user.AgentID), SessionId: sessionID, Window: one.Window,
				Measure: one.Measure, Value: one.Value, Limit: one.Limit,
			},
		})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("announce fatigue: %w", err)
	}
	return mine, nil
}
