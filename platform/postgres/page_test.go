package postgres_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
)

type note struct {
	bun.BaseModel `bun:"table:notes,alias:n"`

	ID        string    `bun:"id,pk"`
	CreatedAt time.Time `bun:"created_at"`
}

func noteKey(n note) postgres.Key { return postgres.Key{CreatedAt: n.CreatedAt, ID: n.ID} }

// TestPages walks lists whose rows share instants, so that only the id tells them apart.
func TestPages(t *testing.T) {
	t.Parallel()
	db := open(t, newURL(t))
	exec(t, db, "CREATE TABLE notes (id text PRIMARY KEY, created_at timestamptz NOT NULL)")
	start := time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)
	var all []string
	for i := range 10 {
		n := note{ID: fmt.Sprintf("n%02d", i), CreatedAt: start.Add(time.Duration(i/4) * time.Microsecond)}
		all = append(all, n.ID)
		if _, err := db.NewInsert().Model(&n).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		name  string
		order postgres.Order
		size  int
		pages int
	}{
		{"oldest first", postgres.OldestFirst, 3, 4},
		{"newest first", postgres.NewestFirst, 3, 4},
		{"the last page is full", postgres.OldestFirst, 5, 2},
		{"default size", postgres.OldestFirst, 0, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			token, pages := "", 0
			for {
				page, err := postgres.NewPage(postgres.PageParams{Size: row.size, Token: token, Order: row.order, Filters: []string{"ws_1"}})
				if err != nil {
					t.Fatal(err)
				}
				var rows []note
				if err := page.Apply(db.NewSelect().Model(&rows)).Scan(t.Context()); err != nil {
					t.Fatal(err)
				}
				rows, token = postgres.Cut(page, rows, noteKey)
				for _, n := range rows {
					got = append(got, n.ID)
				}
				if pages++; token == "" || pages > 20 {
					break
				}
			}
			want := slices.Clone(all)
			if row.order == postgres.NewestFirst {
				slices.Reverse(want)
			}
			if !slices.Equal(got, want) || pages != row.pages {
				t.Errorf("got %v on %d pages, want %v on %d", got, pages, want, row.pages)
			}
		})
	}
}

func TestNewPageRefuses(t *testing.T) {
	t.Parallel()
	params := postgres.PageParams{Size: 1, Filters: []string{"ws_1", "ready"}}
	page, err := postgres.NewPage(params)
	if err != nil {
		t.Fatal(err)
	}
	_, token := postgres.Cut(page, make([]note, 2), noteKey)
	forged := base64.RawURLEncoding.EncodeToString([]byte(`{"t":1,"i":"' OR true","c":"x"}`))
	with := func(change func(p *postgres.PageParams)) postgres.PageParams {
		changed := params
		changed.Token = token
		change(&changed)
		return changed
	}
	rows := map[string]struct {
		params postgres.PageParams
		field  string
	}{
		"size over the most":   {with(func(p *postgres.PageParams) { p.Size = 201 }), "page_size"},
		"negative size":        {with(func(p *postgres.PageParams) { p.Size = -1 }), "page_size"},
		"other filters":        {with(func(p *postgres.PageParams) { p.Filters = []string{"ws_2", "ready"} }), "page_token"},
		"filters run together": {with(func(p *postgres.PageParams) { p.Filters = []string{"ws_1ready"} }), "page_token"},
		"other order":          {with(func(p *postgres.PageParams) { p.Order = postgres.NewestFirst }), "page_token"},
		"another order_by":     {with(func(p *postgres.PageParams) { p.OrderBy = "name" }), "page_token"},
		"another query":        {with(func(p *postgres.PageParams) { p.Query = "a" }), "page_token"},
		"unknown order_by":     {with(func(p *postgres.PageParams) { p.OrderBy = "size" }), "order_by"},
		"not base64":           {with(func(p *postgres.PageParams) { p.Token = "%%%" }), "page_token"},
		"not JSON":             {with(func(p *postgres.PageParams) { p.Token = "AAAA" }), "page_token"},
		"forged":               {with(func(p *postgres.PageParams) { p.Token = forged }), "page_token"},
		"huge":                 {with(func(p *postgres.PageParams) { p.Token = strings.Repeat("A", 1000) }), "page_token"},
	}
	for name, row := range rows {
		_, err := postgres.NewPage(row.params)
		if !fault.IsReason(err, fault.InvalidRequest) || fault.From(err).Fields[0].Field != row.field {
			t.Errorf("%s: got %v, want invalid-request on %s", name, err, row.field)
		}
	}
	if _, err := postgres.NewPage(with(func(p *postgres.PageParams) { p.Size = 200 })); err != nil {
		t.Errorf("another size with the same token: %v", err)
	}
}

func FuzzPageToken(f *testing.F) {
	f.Add("eyJ0IjoxLCJpIjoiYSIsImMiOiJ4In0")
	f.Fuzz(func(t *testing.T, token string) {
		_, err := postgres.NewPage(postgres.PageParams{Token: token})
		if err != nil && !fault.IsReason(err, fault.InvalidRequest) {
			t.Errorf("NewPage(%q) = %v", token, err)
		}
	})
}
