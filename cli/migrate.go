package cli

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/sqlmigrations"
)

func newMigrate() *cobra.Command {
	cmd := &cobra.Command{Use: "migrate", Short: "Bring the database to this version's schema", GroupID: "admin"}
	up := &cobra.Command{
		Use: "up", Short: "Apply what has not been applied; safe to run from any number of places at once", Args: command.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			database, err := openDatabaseURL(cmd)
			if err != nil {
				return err
			}
			defer database.release()
			if err := sqlmigrations.Up(cmd.Context(), database.url); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The database has the schema %s.\n", sqlmigrations.Hash())
			return err
		},
	}
	status := &cobra.Command{
		Use: "status", Short: "Say which migrations have been applied, and when", Args: command.ExactArgs(), RunE: migrateStatus,
	}
	for _, sub := range []*cobra.Command{up, status} {
		command.AddSettings(sub)
		command.AddDataDir(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

func migrateStatus(cmd *cobra.Command, _ []string) error {
	database, err := openDatabaseURL(cmd)
	if err != nil {
		return err
	}
	defer database.release()
	migrations, err := sqlmigrations.Status(cmd.Context(), database.url)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, migration := range migrations {
		applied := "not applied"
		if !migration.AppliedAt.IsZero() {
			applied = migration.AppliedAt.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%s\t%s\n", migration.Name, applied)
	}
	return table.Flush()
}
