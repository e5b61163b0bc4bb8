package privacy

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/recordings"
	"parlance.dev/parlance/sessions"
)

//go:embed archive_readme.txt
var readme string

// archive writes the files of an export and notes their hashes.
type archive struct {
	zip        *zip.Writer
	recordings *recordings.Service
	files      []entry
}

// writeArchive writes the archive of a user as the transaction sees the database.
func (s *Service) writeArchive(ctx context.Context, tx bun.Tx, request Request, to io.Writer) (Counts, error) {
	ref := request.Ref()
	counts, err := s.count(ctx, tx, ref, request.UserID)
	if err != nil {
		return Counts{}, err
	}
	asOf, err := postgres.Now(ctx, tx)
	if err != nil {
		return Counts{}, err
	}
	a := &archive{zip: zip.NewWriter(to), recordings: s.Recordings}
	if err := a.file("README.txt", func(f *archiveFile) error { return f.text(readme) }); err != nil {
		return Counts{}, err
	}
	if err := a.sessions(ctx, tx, request); err != nil {
		return Counts{}, err
	}
	for _, p := range parts {
		if err := a.array(ctx, tx, p.name, p.rows, ref.TenantID, ref.ID, request.UserID); err != nil {
			return Counts{}, err
		}
	}
	condition, args := events.About{TenantID: string(ref.TenantID), WorkspaceID: string(ref.ID), UserID: request.UserID}.Match()
	list := "SELECT to_json(x) FROM (SELECT e.event_id, e.type, e.created_at FROM events AS e WHERE " + condition + " ORDER BY e.seq) AS x"
	if err := a.array(ctx, tx, eventsPart, list, args...); err != nil {
		return Counts{}, err
	}
	closing, err := json.MarshalIndent(manifest{
		Format: format, RequestID: request.ID, TenantID: ref.TenantID, WorkspaceID: ref.ID, UserID: request.UserID,
		AsOf: asOf.UTC(), Counts: counts, Files: a.files,
	}, "", "  ")
	if err != nil {
		return Counts{}, fmt.Errorf("encode the manifest: %w", err)
	}
	if err := a.file("manifest.json", func(f *archiveFile) error { return f.text(string(closing) + "\n") }); err != nil {
		return Counts{}, err
	}
	return counts, a.zip.Close()
}

// sessions writes a file for each session, in the order of their ids.
func (a *archive) sessions(ctx context.Context, tx bun.Tx, request Request) error {
	var after sessions.ID
	for {
		ids, err := sessions.PageOfUser(ctx, tx, request.Ref(), request.UserID, after, batchSize)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if err := a.session(ctx, tx, request, id); err != nil {
				return err
			}
			if err := a.recording(ctx, tx, request, id); err != nil {
				return err
			}
		}
		after = ids[len(ids)-1]
	}
}

func (a *archive) session(ctx context.Context, tx bun.Tx, request Request, id sessions.ID) error {
	return a.file("sessions/"+string(id)+".json", func(f *archiveFile) error {
		if err := f.text(`{"session": `); err != nil {
			return err
		}
		if err := f.rows(ctx, tx, sessionSQL, request.TenantID, id); err != nil {
			return err
		}
		for _, p := range sessionParts {
			if err := f.text(",\n\"" + p.name + `": [`); err != nil {
				return err
			}
			if err := f.rows(ctx, tx, p.rows, request.TenantID, id); err != nil {
				return err
			}
			if err := f.text("]"); err != nil {
				return err
			}
		}
		return f.text("}\n")
	})
}

// recording writes the sound of a session, when there is any.
func (a *archive) recording(ctx context.Context, tx bun.Tx, request Request, id sessions.ID) error {
	sound, err := a.recordings.OpenTx(ctx, tx, request.TenantID, id)
	if fault.IsReason(err, fault.ResourceNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = sound.Close() }() // only read
	return a.file("sessions/"+sound.Name, func(f *archiveFile) error {
		n, err := io.Copy(io.MultiWriter(f.to, f.sum), sound)
		f.size += n
		return err
	})
}

// array writes a file with an array of rows.
func (a *archive) array(ctx context.Context, tx bun.Tx, name, query string, args ...any) error {
	return a.file(name, func(f *archiveFile) error {
		if err := f.text("["); err != nil {
			return err
		}
		if err := f.rows(ctx, tx, query, args...); err != nil {
			return err
		}
		return f.text("]\n")
	})
}

// file writes a file and notes it for the manifest.
func (a *archive) file(name string, write func(f *archiveFile) error) error {
	to, err := a.zip.Create(name)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	f := &archiveFile{to: to, sum: sha256.New()}
	if err := write(f); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	a.files = append(a.files, entry{Path: name, SizeBytes: f.size, SHA256: hex.EncodeToString(f.sum.Sum(nil)), Rows: f.count})
	return nil
}

// archiveFile is a file of an archive that is being written.
type archiveFile struct {
	to    io.Writer
	sum   hash.Hash
	size  int64
	count int
}

func (f *archiveFile) text(text string) error {
	n, err := io.WriteString(f.to, text)
	_, _ = io.WriteString(f.sum, text[:n]) // a hash returns no error
	f.size += int64(n)
	return err
}

// rows writes the rows of a query that selects their JSON, separated by commas, one after the
// other.
func (f *archiveFile) rows(ctx context.Context, tx bun.Tx, query string, args ...any) (err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("read rows: %w", err)
	}
	defer func() { _ = rows.Close() }() // Err has what went wrong
	for first := true; rows.Next(); first = false {
		var row string
		if err := rows.Scan(&row); err != nil {
			return fmt.Errorf("read a row: %w", err)
		}
		if !first {
			row = ",\n" + row
		}
		if err := f.text(row); err != nil {
			return err
		}
		f.count++
	}
	return rows.Err()
}
