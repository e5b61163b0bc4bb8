package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"parlance.dev/parlance/agents"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/telephony/numbers"
)

// phoneNumbersServer serves the methods of TelephonyService that are about numbers.
type phoneNumbersServer struct {
	numbers *numbers.Service
}

func (s *phoneNumbersServer) CreatePhoneNumber(
	ctx context.Context, req *parlancev1.CreatePhoneNumberRequest,
) (*parlancev1.PhoneNumber, error) {
	minted, err := s.numbers.Create(ctx, refOf(ctx), numbers.CreateParams{
		PhoneNumber: req.GetPhoneNumber(), AgentID: agents.ID(req.GetAgentId()), Name: req.GetName(), LookupURL: req.GetLookupUrl(),
		DynamicVariables: req.GetDynamicVariables(), Disabled: req.Enabled != nil && !req.GetEnabled(),
	})
	return mintedNumberProto(minted), err
}

func (s *phoneNumbersServer) ListPhoneNumbers(
	ctx context.Context, req *parlancev1.ListPhoneNumbersRequest,
) (*parlancev1.ListPhoneNumbersResponse, error) {
	list, next, err := s.numbers.List(ctx, refOf(ctx), pageParams(req))
	return &parlancev1.ListPhoneNumbersResponse{PhoneNumbers: each(list, numberProto), NextPageToken: next}, err
}

func (s *phoneNumbersServer) GetPhoneNumber(ctx context.Context, req *parlancev1.GetPhoneNumberRequest) (*parlancev1.PhoneNumber, error) {
	found, err := s.numbers.Get(ctx, refOf(ctx), numbers.ID(req.GetNumberId()))
	return numberProto(found), err
}

func (s *phoneNumbersServer) UpdatePhoneNumber(
	ctx context.Context, req *parlancev1.UpdatePhoneNumberRequest,
) (*parlancev1.PhoneNumber, error) {
	changed, err := s.numbers.Update(ctx, refOf(ctx), numbers.ID(req.GetNumberId()), numberUpdate(req))
	return numberProto(changed), err
}

func (s *phoneNumbersServer) DeletePhoneNumber(ctx context.Context, req *parlancev1.DeletePhoneNumberRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.numbers.Delete(ctx, refOf(ctx), numbers.ID(req.GetNumberId()))
}

func (s *phoneNumbersServer) RotatePhoneNumberSecret(
	ctx context.Context, req *parlancev1.RotatePhoneNumberSecretRequest,
) (*parlancev1.PhoneNumber, error) {
	minted, err := s.numbers.RotateSecret(ctx, refOf(ctx), numbers.ID(req.GetNumberId()))
	return mintedNumberProto(minted), err
}

// numberUpdate returns the fields sent; a field sent without a value is cleared.
func numberUpdate(req *parlancev1.UpdatePhoneNumberRequest) numbers.UpdateParams {
	mask := req.GetUpdateMask()
	return numbers.UpdateParams{
		AgentID: (*agents.ID)(changed(mask, "agent_id", req.AgentId)), Name: changed(mask, "name", req.Name),
		LookupURL:        changed(mask, "lookup_url", req.LookupUrl),
		DynamicVariables: changedList(mask, "dynamic_variables", req.GetDynamicVariables()),
		Enabled:          changed(mask, "enabled", req.Enabled),
	}
}

func numberProto(n numbers.Number) *parlancev1.PhoneNumber {
	return &parlancev1.PhoneNumber{
		Id: string(n.ID), WorkspaceId: string(n.WorkspaceID), PhoneNumber: n.PhoneNumber, AgentId: string(n.AgentID), Name: n.Name,
		Enabled: n.Enabled, LookupUrl: n.LookupURL, LookupSecretHint: n.SecretHint, DynamicVariables: n.DynamicVariables,
		Configured: n.Configured, ConfigureUrl: n.ConfigureURL,
		CreatedAt: timestamp(n.CreatedAt), UpdatedAt: timestamp(n.UpdatedAt),
	}
}

// mintedNumberProto is the only answer that contains the secret.
func mintedNumberProto(m numbers.Minted) *parlancev1.PhoneNumber {
	number := numberProto(m.Number)
	number.LookupSecret = m.Secret.Reveal()
	return number
}
