package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// stopTimeout bounds what a command waits for when it gives its private servers back.
const stopTimeout = 20 * time.Second

// addDataDir gives a command --data-dir, which names the database of a `parlance dev`.
func addDataDir(cmd *cobra.Command) {
	cmd.Flags().String("data-dir", "", "use the database of the parlance dev with this data directory (default: "+app.DefaultDataDir()+", when no DATABASE_URL is set)")
}

// dataDirOf is --data-dir as an absolute path.
func dataDirOf(cmd *cobra.Command) (string, error) {
	dir, _ := cmd.Flags().GetString("data-dir") // the flag is a string
	if dir == "" {
		dir = app.DefaultDataDir()
	}
	return filepath.Abs(dir)
}

// database is a database to work with and how to give it back.
type database struct {
	url     string
	release func()
}

// openDatabaseURL finds the database of a command: --data-dir when given, else DATABASE_URL, else
// the default data directory. A private database that is not running is started for the command.
func openDatabaseURL(cmd *cobra.Command) (database, error) {
	config, err := loadConfig(cmd)
	if err != nil {
		return database{}, err
	}
	if config.DatabaseURL != "" && !cmd.Flags().Changed("data-dir") {
		// One that keeps its session: migrations hold a lock.
		return database{url: config.Direct().Reveal(), release: func() {}}, nil
	}
	dir, err := dataDirOf(cmd)
	if err != nil {
		return database{}, err
	}
	if _, err := os.Stat(dir); err != nil {
		return database{}, usageError{fmt.Errorf("no DATABASE_URL is set and there is no data directory %s: set one, or start `parlance dev` first", dir)}
	}
	stack, err := devstack.Start(cmd.Context(), devstack.Options{DataDir: dir})
	if err != nil {
		return database{}, err
	}
	return database{url: stack.DatabaseURL, release: func() { stopStack(cmd.Context(), stack) }}, nil
}

// stopStack gives the private servers back, also when the command was interrupted.
func stopStack(ctx context.Context, stack *devstack.Stack) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	_ = stack.Stop(ctx) // its users lock is gone with the process whatever it says
}

// openTenancy opens the tenancy of a command's database, migrated.
func openTenancy(cmd *cobra.Command) (*workspaces.Service, func(), error) {
	config, err := loadConfig(cmd)
	if err != nil {
		return nil, nil, err
	}
	plans, err := config.Plans()
	if err != nil {
		return nil, nil, err
	}
	db, release, err := openDatabase(cmd)
	if err != nil {
		return nil, nil, err
	}
	return workspaces.New(workspaces.Deps{DB: db, Plans: plans}), release, nil
}

// openDatabase connects to a command's database, which must have this version's schema. release closes
// it, and stops what was started for it.
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
		_ = db.Close() // nothing is in flight
		found.release()
	}, nil
}

// printJSON prints a value as one line of JSON.
func printJSON(cmd *cobra.Command, value any) error {
	return json.NewEncoder(cmd.OutOrStdout()).Encode(value)
}
