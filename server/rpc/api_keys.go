package rpc

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/workspaces"
)

type apiKeysServer struct {
	workspaces *workspaces.Service
}

// NewAPIKeys serves ApiKeyService.
func NewAPIKeys(service *workspaces.Service) parlancev1connect.ApiKeyServiceHandler {
	return &apiKeysServer{workspaces: service}
}

func (s *apiKeysServer) CreateApiKey(ctx context.Context, req *parlancev1.CreateApiKeyRequest) (*parlancev1.ApiKey, error) {
	key, err := s.workspaces.CreateKey(ctx, workspaces.PrincipalFrom(ctx), workspaces.CreateKeyParams{
		Name: req.GetName(), Scope: req.GetScope(), WorkspaceID: workspaces.ID(req.GetWorkspaceId()), ExpiresAt: timeOf(req.GetExpiresAt()),
	})
	return mintedKeyProto(key), err
}

func (s *apiKeysServer) ListApiKeys(ctx context.Context, req *parlancev1.ListApiKeysRequest) (*parlancev1.ListApiKeysResponse, error) {
	keys, next, err := s.workspaces.ListKeys(ctx, workspaces.PrincipalFrom(ctx), pageParams(req))
	return &parlancev1.ListApiKeysResponse{ApiKeys: each(keys, keyProto), NextPageToken: next}, err
}

func (s *apiKeysServer) GetApiKey(ctx context.Context, req *parlancev1.GetApiKeyRequest) (*parlancev1.ApiKey, error) {
	key, err := s.workspaces.Key(ctx, workspaces.PrincipalFrom(ctx), workspaces.KeyID(req.GetApiKeyId()))
	return keyProto(key), err
}

func (s *apiKeysServer) UpdateApiKey(ctx context.Context, req *parlancev1.UpdateApiKeyRequest) (*parlancev1.ApiKey, error) {
	params := workspaces.UpdateKeyParams{Name: changed(req.GetUpdateMask(), "name", req.Name)}
	if sent(req.GetUpdateMask(), "expires_at", req.GetExpiresAt() != nil) {
		params.ExpiresAt = new(timeOf(req.GetExpiresAt()))
	}
	key, err := s.workspaces.UpdateKey(ctx, workspaces.PrincipalFrom(ctx), workspaces.KeyID(req.GetApiKeyId()), params)
	return keyProto(key), err
}

func (s *apiKeysServer) DeleteApiKey(ctx context.Context, req *parlancev1.DeleteApiKeyRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.workspaces.DeleteKey(ctx, workspaces.PrincipalFrom(ctx), workspaces.KeyID(req.GetApiKeyId()))
}

func (s *apiKeysServer) RotateApiKey(ctx context.Context, req *parlancev1.RotateApiKeyRequest) (*parlancev1.ApiKey, error) {
	overlap := time.Duration(req.GetOverlapSeconds()) * time.Second
	key, err := s.workspaces.RotateKey(ctx, workspaces.PrincipalFrom(ctx), workspaces.KeyID(req.GetApiKeyId()), overlap)
	return mintedKeyProto(key), err
}

func keyProto(k workspaces.Key) *parlancev1.ApiKey {
	return &parlancev1.ApiKey{
		Id: string(k.ID), Name: k.Name, Scope: k.Scope, WorkspaceId: string(k.WorkspaceID), SecretHint: k.SecretHint,
		CreatedAt: timestamp(k.CreatedAt), ExpiresAt: timestamp(k.ExpiresAt), LastUsedAt: timestamp(k.LastUsedAt),
		OldSecretExpiresAt: timestamp(k.OldSecretExpiresAt),
	}
}

func mintedKeyProto(k workspaces.MintedKey) *parlancev1.ApiKey {
	key := keyProto(k.Key)
	key.Secret = new(k.Secret.Reveal())
	return key
}
