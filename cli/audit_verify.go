package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/audit"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// maxAuditLine bounds a line of an export; entries hold at most about 40 fields of 16 KiB.
const maxAuditLine = 4 << 20

// auditCheck is what a verification is asked for.
type auditCheck struct {
	tenant, file, expected string
	partial                bool
}

func newAuditVerify() *cobra.Command {
	var c auditCheck
	cmd := &cobra.Command{
		Use: "verify", Short: "Check that no entry was changed, removed or moved", Args: command.ExactArgs(),
		Long: `Checks the chain of hashes in the database, of one tenant or of all, or in a file that export has written, and prints
the number of entries and the hash of the last one. It exits with 1 and names the first entry that is wrong.

The hashes alone do not show that the end was cut off, or that the whole chain was computed anew by somebody who
can write the database. Keep the head that this command prints outside the database, and give it as --expect-head
the next time.`,
		Example: `  parlance audit verify
  parlance audit verify --tenant ten_01j… --expect-head 5f2b…@1042
  parlance audit verify --file audit.ndjson`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			anchor, err := c.anchor()
			if err != nil {
				return err
			}
			if c.file != "" {
				return c.verifyFile(cmd.OutOrStdout(), anchor)
			}
			db, release, err := openDatabase(cmd)
			if err != nil {
				return err
			}
			defer release()
			return c.verifyDatabase(cmd, db, anchor)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.tenant, "tenant", "", "only this tenant's log, ten_…; without it all are verified")
	flags.StringVar(&c.file, "file", "", "verify this export in place of the database; - is the standard input")
	flags.StringVar(&c.expected, "expect-head", "", "HASH@NUMBER that an earlier verify has printed: the chain must contain it")
	flags.BoolVar(&c.partial, "partial", false, "the file may begin with a later entry than 1")
	command.AddSettings(cmd)
	command.AddDataDir(cmd)
	return cmd
}

// anchor reads --expect-head.
func (c auditCheck) anchor() (*audit.Anchor, error) {
	switch {
	case c.file != "" && c.tenant != "":
		return nil, command.Usagef("give --file or --tenant, not both")
	case c.partial && c.file == "":
		return nil, command.Usagef("--partial is for a --file: the database has the whole chain")
	case c.expected == "":
		return nil, nil //nolint:nilnil // nothing is expected
	case c.file == "" && c.tenant == "":
		return nil, command.Usagef("--expect-head is of one tenant: add --tenant ten_…")
	}
	anchor, err := audit.ParseAnchor(c.expected)
	if err != nil {
		return nil, command.Usagef("--expect-head: %v", err)
	}
	return &anchor, nil
}

func (c auditCheck) verifyFile(out io.Writer, anchor *audit.Anchor) error {
	file := os.Stdin
	if c.file != "-" {
		var err error
		if file, err = os.Open(c.file); err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // only read
	}
	v := audit.Verifier{Partial: c.partial, Anchor: anchor}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxAuditLine)
	for lines.Scan() {
		e, err := audit.ParseLine(lines.Bytes())
		if err != nil {
			return fmt.Errorf("line %d: %w", v.Count+1, err)
		}
		if v.Count == 0 && e.Number != 1 && !c.partial {
			return fmt.Errorf("the file begins with entry %d: give --partial if it is a later part of the log, "+
				"or verify it behind the parts before it", e.Number)
		}
		if err := v.Add(e); err != nil {
			return fmt.Errorf("the log is broken: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read line %d: %w", v.Count+1, err)
	}
	if err := v.Close(); err != nil {
		return fmt.Errorf("the log is broken: %w", err)
	}
	return printVerified(out, v.First.TenantID, &v)
}

func (c auditCheck) verifyDatabase(cmd *cobra.Command, db *postgres.DB, anchor *audit.Anchor) error {
	tenants, err := c.tenants(cmd.Context(), workspaces.New(workspaces.Deps{DB: db}))
	if err != nil {
		return err
	}
	log := audit.New(audit.Deps{DB: db})
	var broken []error
	for _, tenant := range tenants {
		v := audit.Verifier{Anchor: anchor}
		if err := log.Verify(cmd.Context(), tenant, &v); err != nil {
			broken = append(broken, fmt.Errorf("the log of %s is broken: %w", tenant, err))
			continue
		}
		if err := printVerified(cmd.OutOrStdout(), tenant, &v); err != nil {
			return err
		}
	}
	return errors.Join(broken...)
}

// tenants are the tenants whose logs are verified.
func (c auditCheck) tenants(ctx context.Context, tenancy *workspaces.Service) (ids []workspaces.TenantID, err error) {
	if c.tenant != "" {
		tenant, err := tenancy.Tenant(ctx, workspaces.TenantID(c.tenant))
		return []workspaces.TenantID{tenant.ID}, err
	}
	all, err := command.All(func(token string) ([]workspaces.Tenant, string, error) {
		return tenancy.Tenants(ctx, postgres.PageParams{Size: postgres.MaxPageSize, Token: token})
	})
	for _, tenant := range all {
		ids = append(ids, tenant.ID)
	}
	return ids, err
}

func printVerified(out io.Writer, tenant workspaces.TenantID, v *audit.Verifier) error {
	if v.Count == 0 {
		_, err := fmt.Fprintf(out, "%s: no entries\n", tenant)
		return err
	}
	const format = "2006-01-02T15:04:05Z"
	_, err := fmt.Fprintf(out, "%s: %d entries, from number %d at %s to number %d at %s\nhead %s\n", tenant, v.Count,
		v.First.Number, v.First.At.UTC().Format(format), v.Last.Number, v.Last.At.UTC().Format(format), v.Head())
	return err
}
