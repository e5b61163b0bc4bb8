package sqlmigrations

import (
	"context"
	"embed"

	"parlance.dev/parlance/platform/postgres"
)

//go:embed *.sql
var files embed.FS

// Up brings the database to this binary's schema. Any number of processes may call it at once.
// Errors: ErrOther for a database that other migrations of the same names have made.
func Up(ctx context.Context, databaseURL string) error {
	if err := postgres.Migrate(ctx, databaseURL, files); err != nil {
		return err
	}
	return check(ctx, databaseURL)
}

// Status lists the migrations in order, with what the database says of each; it writes nothing.
func Status(ctx context.Context, databaseURL string) ([]postgres.MigrationStatus, error) {
	return postgres.Migrations(ctx, databaseURL, files)
}

// Hash names this binary's schema: 16 hex characters over the migrations' names and contents.
func Hash() string {
	hash, err := postgres.MigrationHash(files)
	if err != nil {
		panic("sqlmigrations: " + err.Error()) // the files are compiled in and tested: a broken build
	}
	return hash
}
