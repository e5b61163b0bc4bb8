package doctor

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/app"
)

// answering is how many workspaces answer with an embedding model.
type answering struct {
	Model      string
	Workspaces int
	// Moving of them are changing to another model. Error is the last error of that change.
	Moving int
	Error  string
}

// checkStoredVectors checks whether the models that the workspaces use can be called.
func checkStoredVectors(ctx context.Context, d Deps, r *report) {
	if d.Config.DatabaseURL == "" {
		r.skip("stored", "DATABASE_URL is not set")
		return
	}
	known, err := app.EmbeddingModels(d.Config)
	if err != nil {
		r.skip("stored", "the embedder cannot be made; see above")
		return
	}
	conn, err := connect(ctx, d.Config.DatabaseURL.Reveal())
	if err != nil {
		r.skip("stored", "Postgres does not answer; see there")
		return
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // only read from
	rows, err := conn.Query(ctx, `
		SELECT model, count(*), count(*) FILTER (WHERE target_model <> ''), coalesce(max(nullif(error, '')), '')
		FROM workspace_embeddings GROUP BY model ORDER BY model`)
	if err != nil {
		r.fail("stored", "See the log of Postgres.", "%v", err)
		return
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[answering])
	if isNotMigrated(err) {
		r.skip("stored", "the schema is not there; see postgres")
		return
	}
	if err != nil {
		r.fail("stored", "See the log of Postgres.", "%v", err)
		return
	}
	for _, one := range found {
		switch {
		case !slices.Contains(known, one.Model):
			r.warn("stored",
				"Set PARLANCE_EMBEDDING_PREVIOUS_BASE_URL, _API_KEY and _NAME to the server of before until the sources are embedded anew.",
				"%d workspaces answer with %q, which is not configured: their passages are not found until they are embedded "+
					"again", one.Workspaces, one.Model)
		case one.Error != "":
			r.warn("stored", "See that the embedding server takes what it is sent; the work goes on by itself.",
				"of %d workspaces that answer with %q, %d go over to another model; what went wrong last: %s", one.Workspaces,
				one.Model, one.Moving, one.Error)
		case one.Moving > 0:
			r.ok("stored", "%d workspaces answer with %q; %d of them go over to %q", one.Workspaces, one.Model, one.Moving, known[0])
		default:
			r.ok("stored", "%d workspaces answer with %q", one.Workspaces, one.Model)
		}
	}
	if len(found) == 0 {
		r.skip("stored", "nothing has been embedded yet")
	}
}
