package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Receipt is the receipt of a turn, and its hash. Errors: NotFound not-found: the session, the turn, or
// a receipt, which turns in progress and those of before version 0.3.0 do not have.
func (s *Service) Receipt(ctx context.Context, p workspaces.Principal, id ID, turn TurnID) (Receipt, string, error) {
	session, err := s.Get(ctx, p, id)
	if err != nil {
		return Receipt{}, "", err
	}
	if !idgen.Valid(idgen.Turn, string(turn)) {
		return Receipt{}, "", fault.NoSuch("turn", string(turn))
	}
	var row struct {
		Receipt []byte `bun:"receipt"`
		Hash    string `bun:"receipt_hash"`
	}
	err = s.db.NewSelect().Model((*Turn)(nil)).Column("receipt_hash").ColumnExpr("t.receipt").
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Where("t.id = ?", turn).Scan(ctx, &row)
	if postgres.NoRows(err) {
		return Receipt{}, "", fault.NoSuch("turn", string(turn))
	}
	if err != nil {
		return Receipt{}, "", fmt.Errorf("reading receipt: %w", err)
	}
	if row.Hash == "" {
		return Receipt{}, "", fault.New(fault.ResourceNotFound, "The turn %s has no receipt yet: it gets one when it is over. Turns of before version 0.3.0 have none.", turn)
	}
	var receipt Receipt
	if err := json.Unmarshal(row.Receipt, &receipt); err != nil {
		return Receipt{}, "", fmt.Errorf("decoding receipt: %w", err)
	}
	return receipt, row.Hash, nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *ReceiptTime) UnmarshalJSON(text []byte) error {
	var at time.Time
	if err := json.Unmarshal(text, &at); err != nil {
		return fmt.Errorf("reading a receipt's time: %w", err)
	}
	t.Time = at.UTC()
	return nil
}
