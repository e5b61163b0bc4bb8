package cli

import (
	"os"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/audit"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// database is a database that a command uses. release stops what was started for it.
type database struct {
	url     string
	release func()
}

// openDatabaseURL finds the database of a command: that of --data-dir, else DATABASE_URL, else that
// of the default data directory. It starts a private database that is not running.
func openDatabaseURL(cmd *cobra.Command) (database, error) {
	config, err := command.LoadConfig(cmd)
	if err != nil {
		return database{}, err
	}
	if config.DatabaseURL != "" && !cmd.Flags().Changed("data-dir") {
		// Migrations hold a lock of their session, so this must be a direct connection.
		return database{url: config.Direct().Reveal(), release: func() {}}, nil
	}
	dir, err := command.DataDir(cmd)
	if err != nil {
		return database{}, err
	}
	if _, err := os.Stat(dir); err != nil {
		return database{}, command.Usagef("no DATABASE_URL is set and there is no data directory %s: set one, or start `parlance dev` first", dir)
	}
	stack, err := devstack.Start(cmd.Context(), devstack.Options{DataDir: dir})
	if err != nil {
		return database{}, err
	}
	return database{url: stack.DatabaseURL, release: func() { command.StopStack(cmd.Context(), stack) }}, nil
}

// tenancy is the tenancy of a command's database, and the audit log of its changes.
type tenancy struct {
	*workspaces.Service
	log *audit.Service
}

// withTenancy makes the RunE of a command on the tenancy of its database.
func withTenancy(do func(cmd *cobra.Command, args []string, t tenancy) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		config, err := command.LoadConfig(cmd)
		if err != nil {
			return err
		}
		plans, err := config.Plans()
		if err != nil {
			return err
		}
		db, release, err := openDatabase(cmd)
		if err != nil {
			return err
		}
		defer release()
		t := tenancy{workspaces.New(workspaces.Deps{DB: db, Plans: plans}), audit.New(audit.Deps{DB: db})}
		if err := t.ReloadPlans(cmd.Context()); err != nil {
			return err
		}
		return do(cmd, args, t)
	}
}

// openDatabase connects to a command's database. The database must have this version's schema.
func openDatabase(cmd *cobra.Command) (db *postgres.DB, release func(), err error) {
	found, err := openDatabaseURL(cmd)
	if err != nil {
		return nil, nil, err
	}
	if err = checkSchema(cmd.Context(), found.url); err == nil {
		db, err = postgres.Open(cmd.Context(), postgres.Config{URL: found.url, MaxConns: 2})
	}
	if err != nil {
		found.release()
		return nil, nil, err
	}
	return db, func() {
		_ = db.Close() // only used by this command
		found.release()
	}, nil
}
