package knowledge

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// FetchError says why a URL did not give its content.
type FetchError struct {
	// Message is a sentence for the person who named the URL.
	Message string
	// Passing says that another try may help, after RetryAfter if that is set.
	Passing    bool
	RetryAfter time.Duration
}

// Error implements error.
func (e *FetchError) Error() string { return e.Message }

// ErrTakenOver says that a source got other content while its URL was fetched for it.
var ErrTakenOver = errors.New("the source has other content by now")

// CodeFetchFailed is the error code of a source whose URL never gave a content.
const CodeFetchFailed = "fetch-failed"

// Bounds of refresh_every.
const (
	minRefresh = 15 * time.Minute
	maxRefresh = 30 * 24 * time.Hour
)

var refreshPattern = regexp.MustCompile(`^([0-9]{1,5})([mhd])$`)

// parseRefresh reads a number of minutes, hours or days; empty is 0. Errors: Invalid
// invalid-request.
func parseRefresh(text string) (seconds int, err error) {
	if text == "" {
		return 0, nil
	}
	parts := refreshPattern.FindStringSubmatch(text)
	if parts != nil {
		n, _ := strconv.Atoi(parts[1]) // digits only
		every := time.Duration(n) * map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[parts[2]]
		if every >= minRefresh && every <= maxRefresh {
			return int(every.Seconds()), nil
		}
	}
	return 0, fault.InvalidField("refresh_every", "range",
		`refresh_every is a number of minutes, hours or days from "15m" to "30d", such as "24h", or empty for once.`)
}

// RefreshEvery is how often the source is fetched, as refresh_every has it; empty: not by itself.
func (s Source) RefreshEvery() string {
	every := time.Duration(s.RefreshEverySeconds) * time.Second
	switch {
	case every == 0:
		return ""
	case every%time.Hour == 0:
		return fmt.Sprintf("%dh", every/time.Hour)
	default:
		return fmt.Sprintf("%dm", every/time.Minute)
	}
}

// NextFetch is when the URL is asked next; zero: not by itself.
func (s Source) NextFetch() time.Time {
	if s.Status == StatusQueued && s.Stage == StageFetching {
		return s.DueAt
	}
	return s.FetchDueAt
}

// URLParams names what is fetched.
type URLParams struct {
	// URL is usable and public, as far as can be told from it; see package webpages.
	URL string
	// Name is the display name; empty: the URL without its scheme.
	Name         string
	RefreshEvery string
	Tags         []string
}

// source makes the row of a source that is to be fetched. Errors: Invalid invalid-request.
func (p URLParams) source() (source Source, err error) {
	if p.Name == "" {
		_, rest, _ := strings.Cut(p.URL, "://")
		runes := []rune(strings.Map(dropControl, strings.TrimSuffix(rest, "/")))
		p.Name = string(runes[:min(len(runes), maxNameRunes)])
	}
	source = Source{Kind: KindFile, URL: p.URL, Status: StatusQueued, Stage: StageFetching}
	if source.Name, err = cleanName(p.Name); err != nil {
		return Source{}, err
	}
	if source.Tags, err = cleanTags(p.Tags); err != nil {
		return Source{}, err
	}
	source.RefreshEverySeconds, err = parseRefresh(p.RefreshEvery)
	return source, err
}

// Check refuses what cannot be stored. Errors: Invalid invalid-request.
func (p URLParams) Check() error {
	_, err := p.source()
	return err
}

// CreateFromURLs makes a source of each URL that the workspace does not have, to be fetched in the
// background, and returns those that the request has made. Errors: NotFound (the workspace),
// Invalid invalid-request.
func (s *Service) CreateFromURLs(ctx context.Context, ref workspaces.Ref, urls []URLParams) ([]Source, error) {
	if _, err := s.workspaces.Workspace(ctx, ref); err != nil {
		return nil, err
	}
	now, origin := s.moment(), telemetry.OriginOf(ctx)
	all := make([]Source, len(urls))
	for i, one := range urls {
		source, err := one.source()
		if err != nil {
			return nil, err
		}
		source.ID, source.TenantID, source.WorkspaceID = SourceID(idgen.InFor(ctx, idgen.Source, one.URL)), ref.TenantID, ref.ID
		source.DueAt, source.FetchDueAt, source.CreatedAt, source.UpdatedAt = now, now, now, now
		source.Traceparent, source.RequestID = origin.Traceparent, origin.RequestID
		all[i] = source
	}
	ids := make([]SourceID, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	var made []SourceID // now, or the first time that this request was done
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		for i := range all {
			inserted, err := postgres.Changed(tx.NewInsert().Model(&all[i]).
				On("CONFLICT (workspace_id, url) WHERE url <> '' DO NOTHING").Exec(ctx))
			if err != nil {
				return fmt.Errorf("insert source of a URL: %w", err)
			}
			if !inserted {
				continue
			}
			if err := appendQueued(ctx, tx, all[i], now); err != nil {
				return err
			}
		}
		return tx.NewSelect().Model((*Source)(nil)).Column("id").Where("s.workspace_id = ?", ref.ID).
			Where("s.id IN (?)", bun.List(ids)).Scan(ctx, &made)
	})
	return slices.DeleteFunc(all, func(one Source) bool { return !slices.Contains(made, one.ID) }), err
}

// FindByURL is the workspace's source of a URL. Errors: NotFound.
func (s *Service) FindByURL(ctx context.Context, ref workspaces.Ref, url string) (Source, error) {
	var source Source
	err := s.db.NewSelect().Model(&source).Where("s.tenant_id = ?", ref.TenantID).
		Where("s.workspace_id = ?", ref.ID).Where("s.url = ?", url).Scan(ctx)
	return source, postgres.OrNoSuch(err, "source of the URL", url)
}

// Refresh has a source with a URL fetched now, or as soon as the run at work on it has ended.
// Errors: NotFound, Precondition kb-no-url.
func (s *Service) Refresh(ctx context.Context, ref workspaces.Ref, id SourceID) (Source, error) {
	now := s.moment()
	var source Source
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
		if source, err = selectSource(ctx, tx, ref, id, forUpdate); err != nil {
			return err
		}
		if source.URL == "" {
			return errNoURL()
		}
		origin := telemetry.OriginOf(ctx)
		source.FetchDueAt, source.UpdatedAt = now, now
		source.Traceparent, source.RequestID = origin.Traceparent, origin.RequestID
		switch source.Status {
		case StatusReady, StatusFailed:
			source.Status, source.Stage, source.Attempt = StatusQueued, StageFetching, 0
			source.DueAt, source.QueuedUntil = now, time.Time{}
		case StatusQueued:
			source.DueAt = now
		case StatusProcessing:
		}
		_, err = tx.NewUpdate().Model(&source).
			Column("fetch_due_at", "updated_at", "traceparent", "request_id", "status", "stage", "attempt", "due_at", "queued_until").
			Where("tenant_id = ?", ref.TenantID).Where("workspace_id = ?", ref.ID).Where("id = ?", id).Exec(ctx)
		if err != nil {
			return fmt.Errorf("have a source fetched: %w", err)
		}
		return appendQueued(ctx, tx, source, now)
	})
	return source, err
}

func errNoURL() error {
	return fault.New(fault.KBNoURL, "The source was uploaded or pasted; only a source with a URL is fetched.")
}

// setRefresh changes how often a source with a URL is fetched. Errors: Precondition kb-no-url.
func setRefresh(ctx context.Context, tx bun.IDB, source *Source, seconds int, now time.Time) error {
	if source.URL == "" {
		return errNoURL()
	}
	due := time.Time{}
	switch {
	case source.FetchedAt.IsZero():
		due = source.FetchDueAt
	case seconds > 0:
		due = source.FetchedAt.Add(time.Duration(seconds) * time.Second)
	}
	source.RefreshEverySeconds, source.FetchDueAt, source.UpdatedAt = seconds, due, now
	_, err := tx.NewUpdate().Model(source).Column("refresh_every_seconds", "fetch_due_at", "updated_at").
		Where("tenant_id = ?", source.TenantID).Where("workspace_id = ?", source.WorkspaceID).Where("id = ?", source.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("change how often a source is fetched: %w", err)
	}
	return nil
}
