package rpc

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

func (s *sessionsServer) GetTurnReceipt(ctx context.Context, req *parlancev1.GetTurnReceiptRequest) (*parlancev1.TurnReceipt, error) {
	receipt, hash, err := s.Sessions.Receipt(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()),
		sessions.TurnID(req.GetTurnId()))
	if err != nil {
		return nil, err
	}
	return receiptProto(receipt, hash)
}

// receiptProto must lose and add nothing: the hash is over the JSON of its result, which is that of
// the receipt.
func receiptProto(r sessions.Receipt, hash string) (*parlancev1.TurnReceipt, error) {
	encoded, err := r.Canonical()
	if err != nil {
		return nil, err
	}
	receipt := new(parlancev1.TurnReceipt)
	if err := protojson.Unmarshal(encoded, receipt); err != nil {
		return nil, fmt.Errorf("read the receipt of %s: %w", r.TurnID, err)
	}
	receipt.Hash = hash
	return receipt, nil
}
