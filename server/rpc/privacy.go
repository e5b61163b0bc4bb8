package rpc

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/privacy"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/workspaces"
)

type privacyServer struct {
	privacy *privacy.Service
}

// NewPrivacy serves PrivacyService.
func NewPrivacy(service *privacy.Service) parlancev1connect.PrivacyServiceHandler {
	return &privacyServer{privacy: service}
}

func (s *privacyServer) CreatePrivacyRequest(
	ctx context.Context, req *parlancev1.CreatePrivacyRequestRequest,
) (*parlancev1.PrivacyRequest, error) {
	request, err := s.privacy.Create(ctx, refOf(ctx), privacy.CreateParams{
		UserID: req.GetUserId(), Kind: privacy.Kind(req.GetKind()), DryRun: req.GetDryRun(), By: workspaces.PrincipalFrom(ctx),
	})
	return s.proto(ctx, request), err
}

func (s *privacyServer) GetPrivacyRequest(
	ctx context.Context, req *parlancev1.GetPrivacyRequestRequest,
) (*parlancev1.PrivacyRequest, error) {
	request, err := s.privacy.Get(ctx, refOf(ctx), privacy.ID(req.GetRequestId()))
	return s.proto(ctx, request), err
}

func (s *privacyServer) ListPrivacyRequests(
	ctx context.Context, req *parlancev1.ListPrivacyRequestsRequest,
) (*parlancev1.ListPrivacyRequestsResponse, error) {
	requests, next, err := s.privacy.List(ctx, refOf(ctx), privacy.ListParams{
		Page: pageParams(req), Kind: privacy.Kind(req.GetKind()), Status: privacy.Status(req.GetStatus()),
		UserID: req.GetUserId(),
	})
	return &parlancev1.ListPrivacyRequestsResponse{
		Requests:      each(requests, func(r privacy.Request) *parlancev1.PrivacyRequest { return s.proto(ctx, r) }),
		NextPageToken: next,
	}, err
}

// proto converts a request. Only callers who may ask for exports get the URL of the file.
func (s *privacyServer) proto(ctx context.Context, r privacy.Request) *parlancev1.PrivacyRequest {
	converted := &parlancev1.PrivacyRequest{
		Id: string(r.ID), WorkspaceId: string(r.WorkspaceID), UserId: r.UserID, UserHash: r.UserHash, Kind: string(r.Kind),
		Status: string(r.Status), DryRun: r.DryRun, Counts: countsProto(r.Counts), Error: r.Error, RequestedBy: r.RequestedBy,
		ExpiresAt: timestamp(r.ExpiresAt), SizeBytes: float64(r.SizeBytes), Sha256: r.SHA256,
		CreatedAt: timestamp(r.CreatedAt), StartedAt: timestamp(r.StartedAt), FinishedAt: timestamp(r.FinishedAt),
	}
	if workspaces.PrincipalFrom(ctx).Require(workspaces.ScopeOperator) == nil {
		converted.DownloadUrl = s.privacy.DownloadURL(r)
	}
	if r.Remaining != nil {
		converted.Certificate = &parlancev1.ErasureCertificate{
			RequestId: string(r.ID), ErasedAt: timestamp(r.FinishedAt), Erased: countsProto(r.Counts), Remaining: countsProto(*r.Remaining),
			NotCovered: privacy.NotCovered,
		}
	}
	return converted
}

func countsProto(c privacy.Counts) *parlancev1.PrivacyCounts {
	return &parlancev1.PrivacyCounts{
		Sessions: int32(c.Sessions), Turns: int32(c.Turns), ToolCalls: int32(c.ToolCalls), Memories: int32(c.Memories),
		Events: int32(c.Events), Undelivered: int32(c.Undelivered), Answers: int32(c.Answers), Exports: int32(c.Exports),
		Callbacks: int32(c.Callbacks), Recordings: int32(c.Recordings),
	}
}

// NewExports serves the files of exports by their signed URLs, which need no key.
func NewExports(service *privacy.Service, problems problem.Writer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Cache-Control", "private, no-store")
		header.Set("Referrer-Policy", "no-referrer")
		id, _ := strings.CutPrefix(r.URL.Path, privacy.DownloadPath)
		file, err := service.Open(r.Context(), privacy.ID(id), r.URL.Query())
		if err != nil {
			problems.Write(w, r, err)
			return
		}
		defer func() { _ = file.Content.Close() }() // only read
		header.Set("Content-Type", "application/zip")
		header.Set("Content-Disposition", disposition(file.Name))
		header.Set("ETag", strconv.Quote(file.SHA256))
		header.Set("X-Content-Type-Options", "nosniff")
		serveContent(w, r, time.Time{}, file.SizeBytes, file.Content)
	})
}
