package webhooks

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// begunWait is how long deliveries that FanOut has claimed may wait for their task and for the
// endpoint's slot, a full batch of them; after that they are given back.
const begunWait = 5 * time.Second

// begun holds what FanOut has claimed in the transaction that made it, until its task takes it: the
// first attempt of most deliveries needs no statement of its own to begin.
type begun struct {
	mu   sync.Mutex
	byID map[int64]first
}

// first is a first attempt that was claimed as its delivery was made.
type first struct {
	claimed
	tenantID   workspaces.TenantID
	endpointID EndpointID
	agentID    string
	leaseUntil time.Time
}

func (b *begun) add(firsts []first) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byID == nil {
		b.byID = map[int64]first{}
	}
	for _, one := range firsts {
		b.byID[one.DeliveryID] = one
	}
}

// take takes those of the ids that there are, and returns the other ids.
func (b *begun) take(ids []int64) (firsts []first, rest []int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		one, ok := b.byID[id]
		if !ok {
			rest = append(rest, id)
			continue
		}
		delete(b.byID, id)
		firsts = append(firsts, one)
	}
	return firsts, rest
}

// beginnings are first attempts at deliveries that were made in a transaction. Their events' bodies
// are read in it, once for all endpoints.
func beginnings(ctx context.Context, tx bun.IDB, rows []events.Row, made []madeDelivery, now, lease time.Time) ([]first, error) {
	bySeq := make(map[int64]events.Row, len(rows))
	for _, row := range rows {
		bySeq[row.Seq] = row
	}
	var wantedSeqs []int64
	bodies := map[int64][]byte{}
	for _, one := range made {
		if _, there := bodies[one.EventSeq]; one.Begun && !there {
			bodies[one.EventSeq] = nil
			wantedSeqs = append(wantedSeqs, one.EventSeq)
		}
	}
	if len(wantedSeqs) == 0 {
		return nil, nil
	}
	var read []events.Row
	err := tx.NewSelect().Model(&read).Comment(postgres.AllTenants("the relay serves all")).Column("seq", "body").Where("e.seq IN (?)", bun.List(wantedSeqs)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what is sent: %w", err)
	}
	for _, row := range read {
		bodies[row.Seq] = row.Body
	}
	var firsts []first
	for _, one := range made {
		if !one.Begun {
			continue
		}
		event := bySeq[one.EventSeq]
		firsts = append(firsts, first{
			claimed: claimed{
				DeliveryID: one.ID, AttemptID: AttemptID(idgen.New(idgen.Delivery)), Attempt: one.Attempt, EventID: event.EventID, EventType: event.Type,
				Body: bodies[one.EventSeq], Traceparent: event.Traceparent, RequestID: event.RequestID, BeganAt: now,
			},
			tenantID: one.TenantID, endpointID: one.EndpointID, agentID: one.AgentID, leaseUntil: lease,
		})
	}
	return firsts, nil
}

// usable says whether first attempts may be made now: the endpoint is as it was when they were
// claimed, as far as they are concerned, and their lease lasts until needed.
func usable(endpoint Endpoint, firsts []first, needed time.Time) bool {
	for _, one := range firsts {
		if endpoint.Status != Enabled || !endpoint.subscribes(one.EventType) || !endpoint.hears(one.agentID) || one.leaseUntil.Before(needed) {
			return false
		}
	}
	return true
}

// GiveBack takes back that FanOut has claimed deliveries of a batch: none of them has been sent, and
// none counts as an attempt. What was not claimed by FanOut, or has a task by now, stays as it is.
func (s *Service) GiveBack(ctx context.Context, batch Batch) error {
	firsts, _ := s.begun.take(batch.IDs)
	return s.giveBack(ctx, firsts)
}

func (s *Service) giveBack(ctx context.Context, firsts []first) error {
	if len(firsts) == 0 {
		return nil
	}
	ids := make([]int64, len(firsts))
	for i, one := range firsts {
		ids[i] = one.DeliveryID
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.policy.RecordTimeout)
	defer cancel()
	// Those of a batch are of one endpoint, and claimed together.
	_, err := s.db.ExecContext(ctx, `
UPDATE webhook_deliveries
SET attempt = attempt - 1,
    claimed_at = NULL,
    lease_until = NULL
WHERE tenant_id = ?
  AND endpoint_id = ?
  AND id IN (?)
  AND status = 'pending'
  AND attempt = ?
  AND lease_until = ?`, firsts[0].tenantID, firsts[0].endpointID, bun.List(ids), firsts[0].Attempt, firsts[0].leaseUntil)
	if err != nil {
		return postgres.MapError(fmt.Errorf("give deliveries back: %w", err))
	}
	return nil
}
