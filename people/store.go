package people

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// signedIn is a person with one of their sign-ins and the plan of their tenant.
type signedIn struct {
	Person     `bun:",extend"`
	LastSeenAt time.Time `bun:"last_seen_at"`
	Plan       string    `bun:"plan"`
}

// selectSignedIn finds who is signed in with a token at now. It is the only statement without a
// tenant: it finds the tenant.
func selectSignedIn(ctx context.Context, db bun.IDB, hash []byte, now, seenAfter time.Time) (signedIn, error) {
	var row signedIn
	err := db.NewSelect().Model(&row).Comment(postgres.AllTenants("the token of a cookie tells the tenant")).
		ColumnExpr("p.*").ColumnExpr("s.last_seen_at").ColumnExpr("t.plan").
		Join("JOIN person_sign_ins AS s ON s.tenant_id = p.tenant_id AND s.person_id = p.id").
		Join("JOIN tenants AS t ON t.id = p.tenant_id").
		Where("s.token_hash = ?", hash).Where("s.expires_at > ?", now).Where("s.last_seen_at > ?", seenAfter).Scan(ctx)
	return row, err
}

func touchSignIn(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, hash []byte, now time.Time) error {
	_, err := db.NewUpdate().Model((*signIn)(nil)).Set("last_seen_at = ?", now).
		Where("tenant_id = ?", tenant).Where("token_hash = ?", hash).Exec(ctx)
	return err
}

func insertSignIn(ctx context.Context, db bun.IDB, row signIn) error {
	if _, err := db.NewInsert().Model(&row).Exec(ctx); err != nil {
		return fmt.Errorf("store a sign-in: %w", err)
	}
	return nil
}

func deleteSignIn(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, hash []byte) error {
	_, err := db.NewDelete().Model((*signIn)(nil)).Where("tenant_id = ?", tenant).Where("token_hash = ?", hash).Exec(ctx)
	return err
}

// deleteSignIns ends all sign-ins of a person.
func deleteSignIns(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, id ID) error {
	_, err := db.NewDelete().Model((*signIn)(nil)).Where("tenant_id = ?", tenant).Where("person_id = ?", id).Exec(ctx)
	return err
}

// deleteEndedSignIns deletes the tenant's sign-ins that have ended by now.
func deleteEndedSignIns(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, now, seenAfter time.Time) error {
	_, err := db.NewDelete().Model((*signIn)(nil)).Where("tenant_id = ?", tenant).
		Where("(expires_at <= ? OR last_seen_at <= ?)", now, seenAfter).Exec(ctx)
	return err
}

// counted adds the number of sign-ins that are alive.
func counted(query *bun.SelectQuery, now, seenAfter time.Time) *bun.SelectQuery {
	return query.ColumnExpr("p.*").ColumnExpr("(SELECT count(*) FROM person_sign_ins AS s "+
		"WHERE s.tenant_id = p.tenant_id AND s.person_id = p.id AND s.expires_at > ? AND s.last_seen_at > ?) AS sign_ins", now, seenAfter)
}

func selectPerson(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, id ID, now, seenAfter time.Time) (Person, error) {
	var person Person
	err := counted(db.NewSelect().Model(&person), now, seenAfter).Where("p.tenant_id = ?", tenant).Where("p.id = ?", id).Scan(ctx)
	return person, postgres.OrNoSuch(err, "person", string(id))
}

func listPeople(
	ctx context.Context, db bun.IDB, tenant workspaces.TenantID, params postgres.PageParams, now, seenAfter time.Time,
) ([]Person, string, error) {
	page, err := postgres.NewPage(params)
	if err != nil {
		return nil, "", err
	}
	var people []Person
	query := counted(db.NewSelect().Model(&people), now, seenAfter).Where("p.tenant_id = ?", tenant)
	if err := page.ApplyTo(query, postgres.Columns{CreatedAt: "p.signed_in_at", ID: "p.id"}).Scan(ctx); err != nil {
		return nil, "", postgres.MapError(fmt.Errorf("list people: %w", err))
	}
	people, next := postgres.Cut(page, people, func(p Person) postgres.Key { return postgres.Key{CreatedAt: p.SignedInAt, ID: string(p.ID)} })
	return people, next, nil
}

// lockPeople makes changes of a tenant's people take turns, so that two of them cannot both leave
// one owner to the other.
func lockPeople(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID) error {
	return postgres.LockTx(ctx, tx, "people of "+string(tenant))
}

// lockPerson reads a person for a change.
func lockPerson(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID, id ID) (Person, error) {
	if err := lockPeople(ctx, tx, tenant); err != nil {
		return Person{}, err
	}
	var person Person
	err := tx.NewSelect().Model(&person).Where("p.tenant_id = ?", tenant).Where("p.id = ?", id).Scan(ctx)
	return person, postgres.OrNoSuch(err, "person", string(id))
}

func selectBySubject(
	ctx context.Context, tx bun.Tx, tenant workspaces.TenantID, issuer, subject string,
) (person Person, found bool, err error) {
	err = tx.NewSelect().Model(&person).
		Where("p.tenant_id = ?", tenant).Where("p.issuer = ?", issuer).Where("p.subject = ?", subject).Scan(ctx)
	if postgres.NoRows(err) {
		return Person{}, false, nil
	}
	return person, err == nil, err
}

func insertPerson(ctx context.Context, tx bun.Tx, person Person) error {
	if _, err := tx.NewInsert().Model(&person).Exec(ctx); err != nil {
		return fmt.Errorf("store a person: %w", err)
	}
	return nil
}

func updatePerson(ctx context.Context, tx bun.Tx, person Person, columns ...string) error {
	_, err := tx.NewUpdate().Model(&person).Column(columns...).
		Where("tenant_id = ?", person.TenantID).Where("id = ?", person.ID).Exec(ctx)
	return err
}

func deletePerson(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID, id ID) error {
	_, err := tx.NewDelete().Model((*Person)(nil)).Where("tenant_id = ?", tenant).Where("id = ?", id).Exec(ctx)
	return err
}

// hasOtherOwner reports whether somebody but one person can act as an owner.
func hasOtherOwner(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID, but ID) (bool, error) {
	return tx.NewSelect().Model((*Person)(nil)).Where("p.tenant_id = ?", tenant).Where("p.id <> ?", but).Where("NOT p.disabled").
		Where("coalesce(nullif(p.assigned_role, ''), p.group_role) = ?", workspaces.RoleOwner).Exists(ctx)
}
