package rpc

import (
	"context"
	"encoding/hex"
	"math"
	"net/http"
	"strconv"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/audit"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/workspaces"
)

// lineType is the media type of an export: JSON objects, one a line.
const lineType = "application/x-ndjson"

// AuditReader reads the audit log.
type AuditReader struct {
	Access  Access
	Entries *audit.Service
	Users   *workspaces.UserHashes
}

type auditServer struct{ AuditReader }

// NewAudit serves AuditService.
func NewAudit(r AuditReader) parlancev1connect.AuditServiceHandler { return &auditServer{r} }

func (s *auditServer) ListAuditEntries(
	ctx context.Context, req *parlancev1.ListAuditEntriesRequest,
) (*parlancev1.ListAuditEntriesResponse, error) {
	if err := workspaces.PrincipalFrom(ctx).RequireWholeTenant(); err != nil {
		return nil, err
	}
	entries, next, err := s.list(ctx, req, workspaces.ID(req.GetWorkspaceId()))
	return &parlancev1.ListAuditEntriesResponse{Entries: entries, NextPageToken: next}, err
}

func (s *auditServer) ListWorkspaceAuditEntries(
	ctx context.Context, req *parlancev1.ListWorkspaceAuditEntriesRequest,
) (*parlancev1.ListWorkspaceAuditEntriesResponse, error) {
	ref, err := s.Access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	entries, next, err := s.list(ctx, req, ref.ID)
	return &parlancev1.ListWorkspaceAuditEntriesResponse{Entries: entries, NextPageToken: next}, err
}

// auditFilter is what the two lists have in common.
type auditFilter interface {
	pageRequest
	GetActor() string
	GetAction() string
	GetResourceId() string
	GetUserId() string
	GetSince() *timestamppb.Timestamp
	GetUntil() *timestamppb.Timestamp
}

func (s *auditServer) list(ctx context.Context, f auditFilter, workspace workspaces.ID) ([]*parlancev1.AuditEntry, string, error) {
	tenant := workspaces.PrincipalFrom(ctx).TenantID
	user, err := s.Users.Hash(ctx, tenant, f.GetUserId())
	if err != nil {
		return nil, "", err
	}
	entries, next, err := s.Entries.List(ctx, tenant, audit.ListParams{
		WorkspaceID: workspace, ActorID: f.GetActor(), Action: f.GetAction(), ResourceID: f.GetResourceId(), UserHash: user,
		Since: timeOf(f.GetSince()), Until: timeOf(f.GetUntil()), Page: pageParams(f),
	})
	return each(entries, auditEntryProto), next, err
}

func (s *auditServer) ExportAuditLog(
	ctx context.Context, req *parlancev1.ExportAuditLogRequest, stream *connect.ServerStream[parlancev1.ExportAuditLogResponse],
) error {
	return s.export(ctx, int64(req.GetAfterNumber()), func(line []byte) error {
		return stream.Send(&parlancev1.ExportAuditLogResponse{Line: line})
	})
}

// export sends the lines of the caller's tenant.
func (r AuditReader) export(ctx context.Context, after int64, send func(line []byte) error) error {
	caller := workspaces.PrincipalFrom(ctx)
	if err := caller.RequireWholeTenant(); err != nil {
		return err
	}
	return r.Entries.Each(ctx, caller.TenantID, after, func(e audit.Entry) error {
		line, err := e.Line()
		if err != nil {
			return err
		}
		return send(line)
	})
}

type auditExport struct {
	FileDeps
	reader AuditReader
}

// NewAuditExport makes the REST route of ExportAuditLog.
func NewAuditExport(d FileDeps, r AuditReader) http.Handler { return &auditExport{d, r} }

// ServeHTTP implements http.Handler.
func (h *auditExport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const procedure = parlancev1connect.AuditServiceExportAuditLogProcedure
	ctx, err := h.Admit(r.Context(), procedure, r.Header, w.Header())
	if err != nil {
		h.refuse(w, r, procedure, err)
		return
	}
	after, err := afterNumber(r)
	if err == nil {
		call := interceptor.AuditedCall{Procedure: procedure, Header: r.Header, Request: &parlancev1.ExportAuditLogRequest{}}
		err = h.Audit.Do(ctx, call, func(context.Context) (proto.Message, error) {
			return nil, workspaces.PrincipalFrom(ctx).RequireWholeTenant()
		})
	}
	if err != nil {
		h.refuse(w, r, procedure, err)
		return
	}
	w.Header().Set("Content-Type", lineType)
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return
	}
	sent := false
	err = h.reader.export(ctx, after, func(line []byte) error {
		sent = true
		_, err := w.Write(line)
		return err
	})
	switch {
	case err != nil && !sent:
		h.refuse(w, r, procedure, err)
	case err != nil:
		panic(http.ErrAbortHandler) // the status is sent: a connection that breaks off is the only sign of an error
	}
}

// afterNumber reads the query parameter after_number. Errors: Invalid invalid-request.
func afterNumber(r *http.Request) (int64, error) {
	for name, values := range r.URL.Query() {
		if name != "after_number" || len(values) != 1 {
			return 0, fault.InvalidField(name, "unknown", "The one query parameter is after_number, given once.")
		}
		after, err := strconv.ParseUint(values[0], 10, 32)
		if err != nil {
			return 0, fault.InvalidField(name, "invalid", "after_number must be the number of an entry.")
		}
		return int64(after), nil
	}
	return 0, nil
}

func auditEntryProto(e audit.Entry) *parlancev1.AuditEntry {
	return &parlancev1.AuditEntry{
		Id: string(e.ID), Number: uint32(min(e.Number, math.MaxUint32)),
		At: timestamp(e.At), BegunAt: timestamp(e.BegunAt),
		WorkspaceId: string(e.WorkspaceID), ActorKind: string(e.ActorKind), ActorId: e.ActorID, ActorName: e.ActorName,
		Action: e.Action, ResourceType: e.ResourceType, ResourceId: e.ResourceID, ParentId: e.ParentID, UserHash: e.UserHash,
		RemoteAddress: e.RemoteAddress, UserAgent: e.UserAgent, RequestId: e.RequestID, Outcome: string(e.Outcome),
		Before: structOf(e.Before), After: structOf(e.After),
		PreviousHash: hex.EncodeToString(e.PreviousHash), Hash: hex.EncodeToString(e.Hash),
	}
}
