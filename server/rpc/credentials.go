package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/workspaces"
)

type credentialsServer struct {
	credentials *workspaces.Credentials
	tester      workspaces.CredentialTester
}

// NewCredentials serves ProviderCredentialService; tester makes the calls of test.
func NewCredentials(
	service *workspaces.Credentials, tester workspaces.CredentialTester,
) parlancev1connect.ProviderCredentialServiceHandler {
	return &credentialsServer{credentials: service, tester: tester}
}

func (s *credentialsServer) CreateProviderCredential(
	ctx context.Context, req *parlancev1.CreateProviderCredentialRequest,
) (*parlancev1.ProviderCredential, error) {
	made, err := s.credentials.Create(ctx, refOf(ctx), workspaces.CreateCredentialParams{
		Kind: workspaces.CredentialKind(req.GetKind()), Provider: req.GetProvider(), Name: req.GetName(), BaseURL: req.GetBaseUrl(),
		AccountID: req.GetAccountId(), DefaultModel: req.GetDefaultModel(), APIKey: seal.Secret(req.GetApiKey()),
	})
	return credentialProto(made), err
}

func (s *credentialsServer) ListProviderCredentials(
	ctx context.Context, req *parlancev1.ListProviderCredentialsRequest,
) (*parlancev1.ListProviderCredentialsResponse, error) {
	list, next, err := s.credentials.List(ctx, refOf(ctx), pageParams(req))
	return &parlancev1.ListProviderCredentialsResponse{ProviderCredentials: each(list, credentialProto), NextPageToken: next}, err
}

func (s *credentialsServer) GetProviderCredential(
	ctx context.Context, req *parlancev1.GetProviderCredentialRequest,
) (*parlancev1.ProviderCredential, error) {
	found, err := s.credentials.Get(ctx, refOf(ctx), workspaces.CredentialID(req.GetCredentialId()))
	return credentialProto(found), err
}

func (s *credentialsServer) UpdateProviderCredential(
	ctx context.Context, req *parlancev1.UpdateProviderCredentialRequest,
) (*parlancev1.ProviderCredential, error) {
	changed, err := s.credentials.Update(ctx, refOf(ctx), workspaces.CredentialID(req.GetCredentialId()), credentialUpdate(req))
	return credentialProto(changed), err
}

func (s *credentialsServer) DeleteProviderCredential(
	ctx context.Context, req *parlancev1.DeleteProviderCredentialRequest,
) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.credentials.Delete(ctx, refOf(ctx), workspaces.CredentialID(req.GetCredentialId()))
}

func (s *credentialsServer) TestProviderCredential(
	ctx context.Context, req *parlancev1.TestProviderCredentialRequest,
) (*parlancev1.TestProviderCredentialResponse, error) {
	tried, err := s.credentials.Test(ctx, refOf(ctx), workspaces.CredentialID(req.GetCredentialId()), s.tester)
	return &parlancev1.TestProviderCredentialResponse{
		Ok: tried.OK, Detail: tried.Detail, Model: tried.Model, LatencyMs: int32(tried.Took.Milliseconds()),
	}, err
}

// credentialUpdate holds what the request changes.
func credentialUpdate(req *parlancev1.UpdateProviderCredentialRequest) workspaces.UpdateCredentialParams {
	mask := req.GetUpdateMask()
	return workspaces.UpdateCredentialParams{
		Name: changed(mask, "name", req.Name), BaseURL: changed(mask, "base_url", req.BaseUrl),
		AccountID: changed(mask, "account_id", req.AccountId), DefaultModel: changed(mask, "default_model", req.DefaultModel),
		APIKey: (*seal.Secret)(changed(mask, "api_key", req.ApiKey)),
	}
}

func credentialProto(c workspaces.Credential) *parlancev1.ProviderCredential {
	return &parlancev1.ProviderCredential{
		Id: string(c.ID), WorkspaceId: string(c.WorkspaceID), Kind: string(c.Kind), Provider: c.Provider, Name: c.Name, BaseUrl: c.BaseURL,
		AccountId: c.AccountID, DefaultModel: c.DefaultModel, ApiKeySet: len(c.SealedKey) > 0, ApiKeyHint: c.APIKeyHint,
		CreatedAt: timestamp(c.CreatedAt), UpdatedAt: timestamp(c.UpdatedAt),
	}
}
