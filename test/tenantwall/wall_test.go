package tenantwall_test

import (
	"context"
	"strings"
	"testing"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/tenantwall"
)

// TestCaller: what the product asks on behalf of one tenant must not be another's.
func TestCaller(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t).URL
	schema, err := tenantwall.ReadSchema(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	wall := tenantwall.Build(schema, func(context.Context) string { return "ten_1" })
	db, err := postgres.Open(t.Context(), postgres.Config{URL: url, Tracer: wall})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // only read
	look := func(tenant string) {
		if _, err := events.LastPosition(t.Context(), db, tenant, "ws_1"); err != nil {
			t.Fatal(err)
		}
	}
	look("ten_1")
	if _, err := db.ExecContext(t.Context(), "UPDATE agents SET name = ''"); err != nil { // a test's own statement
		t.Fatal(err)
	}
	if report := wall.Report(); report != "" || wall.Seen() < 2 {
		t.Errorf("%d statements, %s", wall.Seen(), report)
	}
	look("ten_2")
	if report := wall.Report(); !strings.Contains(report, "events/feed.go") ||
		!strings.Contains(report, "another tenant than the caller's") || !strings.Contains(report, "'ten_2'") {
		t.Errorf("the report: %s", report)
	}
	look("")
	if report := wall.Report(); !strings.Contains(report, "the tenant's id is empty") {
		t.Errorf("the report: %s", report)
	}
}
