package callbacks

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/localtime"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// BatchStatus is where a batch is.
type BatchStatus string

// The statuses. Stopped and BatchCompleted are final.
const (
	Running        BatchStatus = "running"
	Paused         BatchStatus = "paused"
	Stopped        BatchStatus = "stopped"
	BatchCompleted BatchStatus = "completed"
)

// IsOver reports whether a batch with the status calls nobody any more.
func (s BatchStatus) IsOver() bool { return s == Stopped || s == BatchCompleted }

// What can be done with a batch.
const (
	ActionPause  = "pause"
	ActionResume = "resume"
	ActionStop   = "stop"
)

// Bounds of a batch. Source: callbacks.proto.
const (
	maxRecipients      = 10_000
	defaultConcurrency = 5
	insertAtOnce       = 500
	maxShownFields     = 50
)

// Batch is calls to many numbers; its recipients are callbacks.
type Batch struct {
	bun.BaseModel `bun:"table:callback_batches,alias:bat"`

	ID          BatchID             `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	AgentID     agents.ID           `bun:"agent_id"`
	Name        string              `bun:"name"`
	Status      BatchStatus         `bun:"status"`
	Reason      string              `bun:"reason"`
	StartsAt    time.Time           `bun:"starts_at"`
	// WindowFrom and WindowUntil are local times of Timezone between which it calls; both empty: all
	// day.
	WindowFrom  string `bun:"window_from"`
	WindowUntil string `bun:"window_until"`
	Timezone    string `bun:"timezone"`
	// Concurrency is the most calls at once.
	Concurrency int       `bun:"concurrency"`
	CreatedAt   time.Time `bun:"created_at"`
	UpdatedAt   time.Time `bun:"updated_at"`
	EndedAt     time.Time `bun:"ended_at,nullzero"`

	// Progress counts its callbacks by their status.
	Progress map[Status]int `bun:"-"`
}

// Recipient is somebody whom a batch calls.
type Recipient struct {
	PhoneNumber string
	// UserID is the number when it is empty, Timezone the batch's.
	UserID           string
	DynamicVariables map[string]string
	Timezone         string
}

// BatchParams describe a batch.
type BatchParams struct {
	AgentID    agents.ID
	Name       string
	Recipients []Recipient
	Reason     string
	// StartsAt is now when it is zero.
	StartsAt                time.Time
	WindowFrom, WindowUntil string
	Timezone                string
	// Concurrency 0 is the default.
	Concurrency int
}

// CreateBatch plans calls to many numbers: to all or to none. Errors: NotFound (the agent),
// Precondition provider-not-configured, QuotaExceeded quota-exceeded-usage (of the month in which
// it starts), Invalid invalid-request, with a field for each bad recipient.
func (s *Service) CreateBatch(ctx context.Context, ref workspaces.Ref, p BatchParams) (Batch, error) {
	agent, err := s.Agents.Get(ctx, ref, p.AgentID)
	if err != nil {
		return Batch{}, err
	}
	now := s.now()
	batch := Batch{
		ID: BatchID(idgen.In(ctx, idgen.Batch)), TenantID: ref.TenantID, WorkspaceID: ref.ID, AgentID: agent.ID, Name: p.Name, Status: Running,
		Reason: p.Reason, StartsAt: p.StartsAt, WindowFrom: p.WindowFrom, WindowUntil: p.WindowUntil, Timezone: p.Timezone,
		Concurrency: cmp.Or(p.Concurrency, defaultConcurrency), CreatedAt: now, UpdatedAt: now,
	}
	if batch.StartsAt.Before(now) {
		batch.StartsAt = now
	}
	callbacks, err := batch.callbacks(p.Recipients, agent.Config.Callbacks)
	if err != nil {
		return Batch{}, err
	}
	if _, _, err := s.Calls.Outbound(ctx, ref, agent); err != nil {
		return Batch{}, err
	}
	if err := s.Calls.Admit(ctx, ref, batch.StartsAt); err != nil {
		return Batch{}, err
	}
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		if made, err := findBatch(ctx, tx, ref, batch.ID, ""); err == nil { // the request is repeated
			batch = made
			return nil
		}
		if _, err := tx.NewInsert().Model(&batch).Exec(ctx); err != nil {
			return fmt.Errorf("store a batch: %w", err)
		}
		for some := range slices.Chunk(callbacks, insertAtOnce) {
			if err := insert(ctx, tx, some...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Batch{}, err
	}
	return s.GetBatch(ctx, ref, batch.ID)
}

// callbacks are those of the recipients, in their order. The error names all bad recipients, in at
// most maxShownFields fields.
func (b Batch) callbacks(recipients []Recipient, settings agents.Callbacks) ([]*Callback, error) {
	var wrong violations
	if (b.WindowFrom == "") != (b.WindowUntil == "") || b.WindowFrom != "" && b.WindowFrom == b.WindowUntil {
		wrong.add("", fault.InvalidField("window_until", "range", "Give both window_from and window_until, and not the same."))
		b.WindowFrom, b.WindowUntil = "", "" // it is not the fault of each recipient
	}
	if n := len(recipients); n == 0 || n > maxRecipients {
		wrong.add("", fault.InvalidField("recipients", "range", "A batch has 1 to %d recipients.", maxRecipients))
	}
	if b.Timezone != "" {
		if _, known := localtime.Zone(b.Timezone); !known {
			wrong.add("", fault.InvalidField("timezone", "timezone", "timezone must be an IANA time zone, e.g. Europe/Berlin."))
			b.Timezone = "" // nor is this
		}
	}
	callbacks := make([]*Callback, 0, len(recipients))
	type person struct{ number, userID string }
	places := map[person]int{}
	reached := map[string]bool{} // by time zone, of which there are few
	for i, r := range recipients {
		at := "recipients[" + strconv.Itoa(i) + "]."
		callback, err := b.callback(i, r, settings)
		wrong.add(at, err)
		if callback.PhoneNumber == "" {
			continue
		}
		who := person{callback.PhoneNumber, callback.UserID}
		if first, twice := places[who]; twice {
			wrong.add(at, fault.InvalidField("phone_number", "duplicate", "This is recipients[%d] again.", first))
		} else {
			places[who] = i
		}
		if _, seen := reached[callback.Timezone]; !seen {
			reached[callback.Timezone] = b.reaches(callback.Timezone, settings)
		}
		if !reached[callback.Timezone] {
			wrong.add(at, fault.InvalidField("timezone", "window",
				"The batch would never call: its window is within the quiet hours of %s.", callback.Timezone))
		}
		callbacks = append(callbacks, callback)
	}
	return callbacks, wrong[:min(len(wrong), maxShownFields)].err()
}

// callback is that of the recipient at a place. The error names all that is wrong; PhoneNumber is
// empty if the number is, Timezone if that is.
func (b Batch) callback(place int, r Recipient, settings agents.Callbacks) (*Callback, error) {
	var wrong violations
	number, zone, err := readNumber(r.PhoneNumber, cmp.Or(r.Timezone, b.Timezone))
	wrong.add("", err)
	if number.E164 != "" && !mayCall(settings, number) {
		wrong.add("", fault.InvalidField("phone_number", "country", "The agent may not call numbers of %s.", countryName(number)))
	}
	userID := cmp.Or(r.UserID, number.E164)
	if userID != "" { // else the number is bad
		wrong.add("", checkTexts(userID, b.Reason))
	}
	wrong.add("", sessions.CheckVariables(r.DynamicVariables))
	wrong.add("", checkSecrets(r.DynamicVariables))
	callback := &Callback{
		ID: ID(idgen.New(idgen.Callback)), TenantID: b.TenantID, WorkspaceID: b.WorkspaceID, AgentID: b.AgentID, UserID: userID,
		PhoneNumber: number.E164, Reason: b.Reason, Status: Scheduled, CreatedBy: ByBatch, BatchID: b.ID, Place: place,
		DynamicVariables: r.DynamicVariables, At: b.StartsAt, DueAt: b.StartsAt, CreatedAt: b.CreatedAt, UpdatedAt: b.CreatedAt,
	}
	if zone != nil {
		callback.Timezone = zone.String()
	}
	if round := place / b.Concurrency; round > 0 { // the end of a call wakes the next one earlier
		callback.DueAt, callback.WaitsFor = b.StartsAt.Add(time.Duration(round)*fullPause), WaitsBatchFull
	}
	return callback, wrong.err()
}

// outside is when a batch calls nobody.
func (b Batch) outside() Window { return Window{b.WindowUntil, b.WindowFrom} }

// reaches reports whether there is a time within a year at which a batch calls recipients of a time
// zone: in its window, and out of their quiet hours.
func (b Batch) reaches(timezone string, settings agents.Callbacks) bool {
	zone, known := localtime.Zone(timezone)
	own, ownKnown := localtime.Zone(cmp.Or(b.Timezone, timezone))
	if !known || !ownKnown {
		return true // another error says so
	}
	from, until := settings.Quiet()
	for at, end := b.StartsAt, b.StartsAt.Add(maxAhead); at.Before(end); {
		next, closed := Window{from, until}.contains(at, zone)
		if !closed {
			next, closed = b.outside().contains(at, own)
		}
		if !closed {
			return true
		}
		at = next
	}
	return false
}

// batchAdmits returns now when the batch of a callback has room for another call, or when to look
// again and what the callback waits for. The batch's row is locked, so that two calls do not take
// the last place.
func (s *Service) batchAdmits(ctx context.Context, tx bun.Tx, callback Callback, now time.Time) (time.Time, string, error) {
	batch, err := findBatch(ctx, tx, callback.Ref(), callback.BatchID, "UPDATE")
	if err != nil {
		return time.Time{}, "", err
	}
	if batch.Status == Paused {
		return now.Add(pausedPause), WaitsBatchPaused, nil
	}
	if zone, known := localtime.Zone(cmp.Or(batch.Timezone, callback.Timezone)); known {
		if opens, closed := batch.outside().contains(now, zone); closed {
			return opens, WaitsBatchWindow, nil
		}
	}
	busy, err := tx.NewSelect().Model((*Callback)(nil)).Where("cb.tenant_id = ?", batch.TenantID).Where("cb.batch_id = ?", batch.ID).
		Where("cb.status IN (?, ?)", Dialing, InProgress).Count(ctx)
	if err != nil {
		return time.Time{}, "", fmt.Errorf("count the calls of a batch: %w", err)
	}
	if int(busy) >= batch.Concurrency {
		return now.Add(fullPause), WaitsBatchFull, nil
	}
	return now, "", nil
}

// settleBatch ends a batch with its last callback, or has its next ones dialed in the place of one
// whose call is over, or that is gone.
func settleBatch(ctx context.Context, tx bun.Tx, ref workspaces.Ref, id BatchID, now time.Time) error {
	batch, err := findBatch(ctx, tx, ref, id, "UPDATE")
	if err != nil || batch.Status.IsOver() {
		return err
	}
	if err := wakeNext(ctx, tx, batch, now); err != nil {
		return err
	}
	left, err := tx.NewSelect().Model((*Callback)(nil)).Where("cb.tenant_id = ?", batch.TenantID).Where("cb.batch_id = ?", batch.ID).
		Where("cb.ended_at IS NULL").Exists(ctx)
	if err != nil {
		return fmt.Errorf("look for open callbacks of a batch: %w", err)
	}
	if left {
		return nil
	}
	batch.Status, batch.EndedAt, batch.UpdatedAt = BatchCompleted, now, now
	return updateBatch(ctx, tx, batch)
}

// GetBatch returns a batch with its progress. Errors: NotFound.
func (s *Service) GetBatch(ctx context.Context, ref workspaces.Ref, id BatchID) (Batch, error) {
	batch, err := findBatch(ctx, s.DB, ref, id, "")
	if err != nil {
		return Batch{}, err
	}
	list := []Batch{batch}
	err = s.addProgress(ctx, ref, list)
	return list[0], err
}

// ListBatches lists batches, newest first, and returns the token of the next page.
func (s *Service) ListBatches(ctx context.Context, ref workspaces.Ref, page postgres.PageParams) ([]Batch, string, error) {
	page.Order = postgres.NewestFirst
	page.Filters = []string{string(ref.TenantID), string(ref.ID)}
	var batches []Batch
	query := s.DB.NewSelect().Model(&batches).Where("bat.tenant_id = ?", ref.TenantID).Where("bat.workspace_id = ?", ref.ID)
	batches, next, err := postgres.List(ctx, page, query, &batches, func(b Batch) postgres.Key {
		return postgres.Key{CreatedAt: b.CreatedAt, ID: string(b.ID)}
	})
	if err != nil {
		return nil, "", err
	}
	return batches, next, s.addProgress(ctx, ref, batches)
}

// ControlBatch pauses, resumes or stops a batch. Doing it again changes nothing. Errors: NotFound,
// Precondition callback-batch-over.
func (s *Service) ControlBatch(ctx context.Context, ref workspaces.Ref, id BatchID, action string) (Batch, error) {
	now := s.now()
	err := postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		// Its callbacks first, as where they are dialed and where they end.
		if err := lockCallbacks(ctx, tx, ref, id); err != nil {
			return err
		}
		batch, err := findBatch(ctx, tx, ref, id, "UPDATE")
		if err != nil {
			return err
		}
		wanted := map[string]BatchStatus{ActionPause: Paused, ActionResume: Running, ActionStop: Stopped}[action]
		over := batch.Status.IsOver()
		switch {
		case wanted == "":
			return fault.InvalidField("action", "in", "action must be pause, resume or stop.")
		case batch.Status == wanted || over && wanted == Stopped:
			return nil
		case over:
			return fault.New(fault.CallbackBatchOver, "The batch is %s.", batch.Status)
		}
		batch.Status, batch.UpdatedAt = wanted, now
		switch wanted {
		case Stopped:
			batch.EndedAt = now
			err = s.cancelScheduled(ctx, tx, ref, "batch_id", string(id), now)
		case Running:
			err = wake(ctx, tx, ref, id, now)
		case Paused, BatchCompleted:
		}
		if err != nil {
			return err
		}
		return updateBatch(ctx, tx, batch)
	})
	if err != nil {
		return Batch{}, err
	}
	return s.GetBatch(ctx, ref, id)
}

// ExportBatch writes the results of a batch as CSV. Errors: NotFound, the writer's.
func (s *Service) ExportBatch(ctx context.Context, ref workspaces.Ref, id BatchID, w io.Writer) error {
	if _, err := findBatch(ctx, s.DB, ref, id, ""); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	header := []string{
		"callback_id", "phone_number", "user_id", "status", "end_reason", "attempts", "session_id", "duration_seconds",
		"last_attempt_at", "ended_at",
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for last := -1; ; {
		rows, err := resultRows(ctx, s.DB, ref, id, last)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			if err := out.Write(row.fields()); err != nil {
				return err
			}
			last = row.Place
		}
	}
	out.Flush()
	return out.Error()
}

// e164 matches telephone numbers as they are stored.
var e164 = regexp.MustCompile(`^\+[0-9]+$`)

// plainCell keeps a spreadsheet from taking a cell for a formula. A telephone number is no formula
// although it begins with a plus.
func plainCell(text string) string {
	if text != "" && strings.ContainsRune("=+@-\t\r", rune(text[0])) && !e164.MatchString(text) {
		return "'" + text
	}
	return text
}
