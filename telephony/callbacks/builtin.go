package callbacks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/localtime"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// The built-in tools. Source: interface, Tool.
const (
	toolSchedule = "schedule_callback"
	toolManage   = "manage_callback"
)

// listedForModel bounds what manage_callback lists.
const listedForModel = 20

// Builtins are the tools of this package by their names.
func (s *Service) Builtins() map[string]tools.Builtin {
	return map[string]tools.Builtin{toolSchedule: tools.BuiltinFunc(s.runSchedule), toolManage: tools.BuiltinFunc(s.runManage)}
}

// variables of a session that calls a tool.
const (
	variableUser     = tools.SystemPrefix + "user_id"
	variableAgent    = tools.SystemPrefix + "agent_id"
	variableTimezone = tools.SystemPrefix + "timezone"
)

// planned is a callback or schedule as a model sees it.
type planned struct {
	ID string `json:"callback_id"`
	// LocalTime is in Timezone, with the day of the week: models are bad at calendars.
	LocalTime   string `json:"local_time"`
	At          string `json:"at,omitempty"`
	Timezone    string `json:"timezone"`
	PhoneNumber string `json:"phone_number"`
	Reason      string `json:"reason,omitempty"`
	Status      string `json:"status"`
	// Cron is of a schedule, whose next run is At.
	Cron string `json:"cron,omitempty"`
}

func plannedOf(c Callback) planned {
	return planned{
		ID: string(c.ID), LocalTime: spell(c.DueAt, c.Timezone), At: inZone(c.DueAt, c.Timezone).Format(time.RFC3339), Timezone: c.Timezone,
		PhoneNumber: c.PhoneNumber, Reason: c.Reason, Status: string(c.Status),
	}
}

func plannedSchedule(s Schedule) planned {
	p := planned{
		ID: string(s.ID), Timezone: s.Timezone, PhoneNumber: s.PhoneNumber, Reason: s.Reason, Status: "repeats", Cron: s.Cron, LocalTime: "never",
	}
	if !s.Enabled {
		p.Status = "off"
	}
	if s.Enabled && !s.DueAt.IsZero() {
		p.LocalTime, p.At = spell(s.DueAt, s.Timezone), inZone(s.DueAt, s.Timezone).Format(time.RFC3339)
	}
	return p
}

func inZone(at time.Time, timezone string) time.Time {
	if zone, known := localtime.Zone(timezone); known {
		return at.In(zone)
	}
	return at.UTC()
}

func spell(at time.Time, timezone string) string {
	return inZone(at, timezone).Format("Monday, 2 January 2006, 15:04")
}

// runSchedule is schedule_callback.
func (s *Service) runSchedule(ctx context.Context, call tools.BuiltinCall) (string, error) {
	var asked struct {
		PhoneNumber string `json:"phone_number"`
		At          string `json:"at"`
		InMinutes   int    `json:"in_minutes"`
		Timezone    string `json:"timezone"`
		Reason      string `json:"reason"`
	}
	if err := json.Unmarshal(call.Arguments, &asked); err != nil {
		return "", fault.Wrap(err, fault.InvalidRequest, "The arguments are not those of schedule_callback.")
	}
	if asked.At == "" && asked.InMinutes == 0 {
		return "", fault.New(fault.InvalidRequest, "Give at or in_minutes. Ask the user when to call.")
	}
	timezone := asked.Timezone
	if timezone == "" && call.Variables[variableTimezone] != "UTC" {
		timezone = call.Variables[variableTimezone]
	}
	callback, err := s.Create(ctx, call.Ref, CreateParams{
		AgentID: agents.ID(call.Variables[variableAgent]), UserID: call.Variables[variableUser], PhoneNumber: asked.PhoneNumber,
		At: asked.At, InMinutes: asked.InMinutes, Timezone: timezone, Reason: asked.Reason, CreatedBy: ByAgent, OriginSessionID: call.SessionID,
		DynamicVariables: ownVariables(call.Variables),
	})
	if err != nil {
		return "", forModel(err)
	}
	return answer(map[string]any{"scheduled": plannedOf(callback)})
}

// ownVariables are the variables of a session but those that the service sets: what the agent knows
// of the user in the chat it knows in the call. At most as many as a session may have are kept, in
// alphabetical order: with those that tools have set there may be more.
func ownVariables(session map[string]string) map[string]string {
	own := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(session)) {
		if len(own) < sessions.MaxVariables && !strings.HasPrefix(name, tools.SystemPrefix) {
			own[name] = session[name]
		}
	}
	return own
}

// runManage is manage_callback.
func (s *Service) runManage(ctx context.Context, call tools.BuiltinCall) (string, error) {
	var asked struct {
		Action     string `json:"action"`
		CallbackID string `json:"callback_id"`
		At         string `json:"at"`
		Cron       string `json:"cron"`
	}
	if err := json.Unmarshal(call.Arguments, &asked); err != nil {
		return "", fault.Wrap(err, fault.InvalidRequest, "The arguments are not those of manage_callback.")
	}
	userID := call.Variables[variableUser]
	if asked.Action == "list" {
		return s.listForModel(ctx, call, userID)
	}
	if asked.CallbackID == "" {
		return "", fault.New(fault.InvalidRequest, "Give callback_id; the action list shows the ids.")
	}
	schedule := isSchedule(asked.CallbackID)
	switch {
	case asked.Action == "cancel" && schedule:
		off, err := s.UpdateSchedule(ctx, call.Ref, ScheduleID(asked.CallbackID), ScheduleParams{Owner: userID, Enabled: new(bool)})
		if err != nil {
			return "", forModel(err)
		}
		return answer(map[string]any{"canceled": plannedSchedule(off)})
	case asked.Action == "cancel":
		callback, err := s.Cancel(ctx, call.Ref, ID(asked.CallbackID), userID)
		if err != nil {
			return "", forModel(err)
		}
		return answer(map[string]any{"canceled": plannedOf(callback)})
	case asked.At == "" && asked.Cron == "":
		return "", fault.New(fault.InvalidRequest, "Give at, or cron for a schedule. Ask the user for the new time.")
	case schedule:
		p := ScheduleParams{Owner: userID}
		if asked.Cron != "" {
			p.Cron = &asked.Cron
		}
		if asked.At != "" {
			p.RunAt = &asked.At
		}
		changed, err := s.UpdateSchedule(ctx, call.Ref, ScheduleID(asked.CallbackID), p)
		if err != nil {
			return "", forModel(err)
		}
		return answer(map[string]any{"rescheduled": plannedSchedule(changed)})
	case asked.Cron != "":
		return "", fault.New(fault.InvalidRequest, "This is a single call, which takes at and no cron.")
	}
	callback, err := s.Update(ctx, call.Ref, ID(asked.CallbackID), UpdateParams{At: &asked.At, UserID: userID})
	if err != nil {
		return "", forModel(err)
	}
	return answer(map[string]any{"rescheduled": plannedOf(callback)})
}

func isSchedule(id string) bool { return len(id) > 4 && id[:4] == "sch_" }

// listForModel lists what is planned for the user.
func (s *Service) listForModel(ctx context.Context, call tools.BuiltinCall, userID string) (string, error) {
	callbacks, _, err := s.List(ctx, call.Ref, ListParams{
		UserID: userID, Status: Scheduled, Page: postgres.PageParams{Size: listedForModel},
	})
	if err != nil {
		return "", err
	}
	schedules, _, err := s.ListSchedules(ctx, call.Ref, postgres.PageParams{Size: listedForModel}, "", userID)
	if err != nil {
		return "", err
	}
	list := []planned{}
	for i := len(callbacks) - 1; i >= 0; i-- { // the next one first
		list = append(list, plannedOf(callbacks[i]))
	}
	for _, schedule := range schedules {
		if !schedule.Enabled {
			continue
		}
		list = append(list, plannedSchedule(schedule))
	}
	return answer(map[string]any{"callbacks": list})
}

// forModel is an error whose message tells the model what to do. The fields of a request are in it.
func forModel(err error) error {
	decided := postgres.Decide(err)
	if len(decided.Fields) == 0 {
		return err
	}
	said := ""
	for _, f := range decided.Fields {
		said = cmp.Or(said, f.Message)
	}
	return fault.New(decided.Reason, "%s", said)
}

func answer(value any) (string, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode the answer of a tool: %w", err)
	}
	return string(encoded), nil
}
