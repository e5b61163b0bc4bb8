package callbacks

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// Bounds of a calendar. Source: callbacks.proto.
const (
	calendarDays   = 28 * 24 * time.Hour
	maxCalendar    = 92 * 24 * time.Hour
	maxEntries     = 1000
	callLength     = 15 * time.Minute // how long an entry is shown
	maxFoldedBytes = 73               // of a line of iCalendar before it is folded. Source: RFC 5545, 3.1
)

// Entry is a callback in the calendar, or a run of a schedule that is none yet.
type Entry struct {
	At time.Time
	// CallbackID is empty for a run to come.
	CallbackID ID
	ScheduleID ScheduleID
	// RunAt is when the run of a schedule is by its cron expression, also when it was moved; zero
	// where no schedule made the callback.
	RunAt    time.Time
	AgentID  agents.ID
	UserID   string
	Status   Status
	Timezone string
	Reason   string
}

// uid names an entry of the calendar for as long as there is one. The callback of a schedule's run
// has the name that the run had. Source: RFC 5545, 3.8.4.7.
func (e Entry) uid() string {
	name := string(e.CallbackID)
	if !e.RunAt.IsZero() {
		name = string(e.ScheduleID) + "-" + utc(e.RunAt)
	}
	return name + "@parlance"
}

// Span is a span of time. Zero ends are the calendar's own: four weeks from now.
type Span struct{ From, Until time.Time }

// Calendar lists what is planned in a span, in the order of time. truncated says that there is more
// than maxEntries. Errors: Invalid invalid-request.
func (s *Service) Calendar(ctx context.Context, ref workspaces.Ref, span Span) (entries []Entry, truncated bool, err error) {
	if span.From.IsZero() {
		span.From = s.now().Truncate(24 * time.Hour)
	}
	if span.Until.IsZero() {
		span.Until = span.From.Add(calendarDays)
	}
	if !span.Until.After(span.From) || span.Until.Sub(span.From) > maxCalendar {
		return nil, false, fault.InvalidField("until", "range", "until must be after from, and at most 92 days.")
	}
	var callbacks []Callback
	query := s.DB.NewSelect().Model(&callbacks).Where("cb.tenant_id = ?", ref.TenantID).Where("cb.workspace_id = ?", ref.ID).
		Where("cb.status <> ?", Canceled).OrderExpr("cb.at, cb.id").Limit(maxEntries + 1)
	within(query, span.From, span.Until)
	if err := query.Scan(ctx); err != nil {
		return nil, false, fmt.Errorf("read the calendar: %w", err)
	}
	for _, c := range callbacks {
		entries = append(entries, Entry{c.At, c.ID, c.ScheduleID, c.RunAt, c.AgentID, c.UserID, c.Status, c.Timezone, c.Reason})
	}
	var schedules []Schedule
	err = s.DB.NewSelect().Model(&schedules).Where("sch.tenant_id = ?", ref.TenantID).Where("sch.workspace_id = ?", ref.ID).
		Where("sch.enabled").Where("sch.due_at < ?", span.Until).OrderExpr("sch.due_at, sch.id").Limit(maxEntries).Scan(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("read the schedules of the calendar: %w", err)
	}
	for _, sch := range schedules {
		for i, at := range sch.NextRuns(maxEntries+1, span.Until) {
			run := at
			if i == 0 {
				run = sch.RunAt
			}
			if !at.Before(span.From) {
				entries = append(entries, Entry{at, "", sch.ID, run, sch.AgentID, sch.UserID, Scheduled, sch.Timezone, sch.Reason})
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.CallbackID, b.CallbackID), cmp.Compare(a.ScheduleID, b.ScheduleID))
	})
	if len(entries) > maxEntries {
		return entries[:maxEntries], true, nil
	}
	return entries, false, nil
}

// ExportCalendar writes the calendar as an iCalendar file. Source: RFC 5545. Errors: as of
// Calendar, the writer's.
func (s *Service) ExportCalendar(ctx context.Context, ref workspaces.Ref, span Span, w io.Writer) error {
	entries, _, err := s.Calendar(ctx, ref, span)
	if err != nil {
		return err
	}
	var out strings.Builder
	line := func(text string) { out.WriteString(fold(text)) }
	line("BEGIN:VCALENDAR")
	line("VERSION:2.0")
	line("PRODID:-//Parlance//Callbacks//EN")
	line("CALSCALE:GREGORIAN")
	line("METHOD:PUBLISH")
	line("X-WR-CALNAME:Callbacks")
	stamp := utc(s.now())
	for _, e := range entries {
		line("BEGIN:VEVENT")
		line("UID:" + e.uid())
		line("DTSTAMP:" + stamp)
		line("DTSTART:" + utc(e.At))
		line("DTEND:" + utc(e.At.Add(callLength)))
		line("SUMMARY:" + escape(strings.TrimSpace("Call "+e.UserID+" ("+strings.ReplaceAll(string(e.Status), "_", " ")+")")))
		if e.Reason != "" {
			line("DESCRIPTION:" + escape(e.Reason))
		}
		line("CATEGORIES:" + strings.ToUpper(string(e.Status)))
		line("STATUS:" + map[bool]string{true: "CANCELLED", false: "CONFIRMED"}[e.Status == Canceled])
		line("END:VEVENT")
	}
	line("END:VCALENDAR")
	_, err = io.WriteString(w, out.String())
	return err
}

func utc(at time.Time) string { return at.UTC().Format("20060102T150405Z") }

// escape writes a text as RFC 5545, 3.3.11 has it.
func escape(text string) string {
	return strings.NewReplacer("\\", "\\\\", ";", "\\;", ",", "\\,", "\r\n", "\\n", "\n", "\\n", "\r", "\\n").Replace(text)
}

// fold breaks a line into lines of at most 75 bytes, never inside a character.
func fold(text string) string {
	var out strings.Builder
	n := 0
	for _, r := range text {
		size := len(string(r))
		if n+size > maxFoldedBytes {
			out.WriteString("\r\n ")
			n = 1
		}
		out.WriteRune(r)
		n += size
	}
	out.WriteString("\r\n")
	return out.String()
}
