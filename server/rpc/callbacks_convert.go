package rpc

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/agents"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
)

func callbackProto(c callbacks.Callback) *parlancev1.Callback {
	converted := &parlancev1.Callback{
		Id: string(c.ID), WorkspaceId: string(c.WorkspaceID), AgentId: string(c.AgentID), UserId: c.UserID, PhoneNumber: c.PhoneNumber,
		Status: string(c.Status), At: timestamp(c.At), Timezone: c.Timezone, Reason: c.Reason, CreatedBy: c.CreatedBy,
		OriginSessionId: c.OriginSessionID, ScheduleId: string(c.ScheduleID), BatchId: string(c.BatchID), SessionId: string(c.SessionID),
		Attempts: each(c.Calls, attemptProto), MaxAttempts: callbacks.MaxAttempts, EndReason: c.EndReason, WaitsFor: c.WaitsFor,
		DynamicVariables: c.DynamicVariables, CreatedAt: timestamp(c.CreatedAt), UpdatedAt: timestamp(c.UpdatedAt), EndedAt: timestamp(c.EndedAt),
	}
	if c.Status == callbacks.Scheduled {
		converted.NextAttemptAt = timestamp(c.DueAt)
	}
	return converted
}

func attemptProto(c telephony.Call) *parlancev1.CallbackAttempt {
	return &parlancev1.CallbackAttempt{
		Number: int32(c.Attempt), CallId: string(c.ID), SessionId: string(c.SessionID), Status: string(c.Status), EndReason: c.EndReason,
		StartedAt: timestamp(c.CreatedAt), AnsweredAt: timestamp(c.AnsweredAt), EndedAt: timestamp(c.EndedAt),
		DurationSeconds: int32(c.DurationSeconds),
	}
}

func calendarEntryProto(e callbacks.Entry) *parlancev1.CalendarEntry {
	return &parlancev1.CalendarEntry{
		At: timestamp(e.At), CallbackId: string(e.CallbackID), ScheduleId: string(e.ScheduleID), AgentId: string(e.AgentID), UserId: e.UserID,
		Status: string(e.Status), Timezone: e.Timezone, Reason: e.Reason,
	}
}

func newSchedule(req *parlancev1.CreateCallbackScheduleRequest) callbacks.ScheduleParams {
	return callbacks.ScheduleParams{
		AgentID: new(agents.ID(req.GetAgentId())), UserID: req.GetUserId(), PhoneNumber: new(req.GetPhoneNumber()), Cron: new(req.GetCron()),
		Timezone: new(req.GetTimezone()), Reason: new(req.GetReason()), StartsAt: new(timeOf(req.GetStartsAt())),
		EndsAt: new(timeOf(req.GetEndsAt())), Exceptions: new(req.GetExceptions()), Enabled: req.Enabled,
		DynamicVariables: new(req.GetDynamicVariables()),
	}
}

func scheduleUpdate(req *parlancev1.UpdateCallbackScheduleRequest) callbacks.ScheduleParams {
	mask := req.GetUpdateMask()
	p := callbacks.ScheduleParams{
		PhoneNumber: changed(mask, "phone_number", req.PhoneNumber), Cron: changed(mask, "cron", req.Cron),
		Timezone: changed(mask, "timezone", req.Timezone), Reason: changed(mask, "reason", req.Reason),
		Enabled: changed(mask, "enabled", req.Enabled), Exceptions: changedList(mask, "exceptions", req.GetExceptions()),
		DynamicVariables: changedList(mask, "dynamic_variables", req.GetDynamicVariables()),
	}
	if agent := changed(mask, "agent_id", req.AgentId); agent != nil {
		p.AgentID = new(agents.ID(*agent))
	}
	if p.Enabled != nil && req.Enabled == nil { // null is as in create
		p.Enabled = new(true)
	}
	if sent(mask, "starts_at", req.GetStartsAt() != nil) {
		p.StartsAt = new(timeOf(req.GetStartsAt()))
	}
	if sent(mask, "ends_at", req.GetEndsAt() != nil) {
		p.EndsAt = new(timeOf(req.GetEndsAt()))
	}
	return p
}

func scheduleProto(s callbacks.Schedule) *parlancev1.CallbackSchedule {
	return &parlancev1.CallbackSchedule{
		Id: string(s.ID), WorkspaceId: string(s.WorkspaceID), AgentId: string(s.AgentID), UserId: s.UserID, PhoneNumber: s.PhoneNumber,
		Cron: s.Cron, Timezone: s.Timezone, Reason: s.Reason, StartsAt: timestamp(s.StartsAt), EndsAt: timestamp(s.EndsAt),
		Exceptions: s.Exceptions, Enabled: s.Enabled, NextRuns: each(s.Shown(), timestamppb.New), SkippedRuns: int32(s.SkippedRuns),
		LastSkippedAt: timestamp(s.LastSkippedAt), DynamicVariables: s.DynamicVariables, CreatedAt: timestamp(s.CreatedAt),
		UpdatedAt: timestamp(s.UpdatedAt),
	}
}

func recipient(r *parlancev1.CallbackRecipient) callbacks.Recipient {
	return callbacks.Recipient{
		PhoneNumber: r.GetPhoneNumber(), UserID: r.GetUserId(), DynamicVariables: r.GetDynamicVariables(), Timezone: r.GetTimezone(),
	}
}

func batchProto(b callbacks.Batch) *parlancev1.CallbackBatch {
	progress := &parlancev1.CallbackBatchProgress{
		Scheduled: int32(b.Progress[callbacks.Scheduled]), Dialing: int32(b.Progress[callbacks.Dialing]),
		InProgress: int32(b.Progress[callbacks.InProgress]), Completed: int32(b.Progress[callbacks.Completed]),
		NoAnswer: int32(b.Progress[callbacks.NoAnswer]), Failed: int32(b.Progress[callbacks.Failed]),
		Canceled: int32(b.Progress[callbacks.Canceled]),
	}
	for _, n := range b.Progress {
		progress.Total += int32(n)
	}
	return &parlancev1.CallbackBatch{
		Id: string(b.ID), WorkspaceId: string(b.WorkspaceID), AgentId: string(b.AgentID), Name: b.Name, Status: string(b.Status),
		Reason:   b.Reason,
		StartsAt: timestamp(b.StartsAt), WindowFrom: b.WindowFrom, WindowUntil: b.WindowUntil, Timezone: b.Timezone,
		Concurrency: int32(b.Concurrency), Progress: progress, CreatedAt: timestamp(b.CreatedAt), UpdatedAt: timestamp(b.UpdatedAt),
		EndedAt: timestamp(b.EndedAt),
	}
}

func consentProto(c callbacks.Consent) *parlancev1.CallConsent {
	return &parlancev1.CallConsent{
		WorkspaceId: string(c.WorkspaceID), UserId: c.UserID, Granted: c.Granted, Note: c.Note, RecordedAt: timestamp(c.RecordedAt),
	}
}
