package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// checkPooling detects a transaction pooler, and checks whether notifications arrive: they need a
// connection with its own session.
func checkPooling(ctx context.Context, d Deps, conn *pgx.Conn, r *report) error {
	pooled, err := sharesSession(ctx, d.Config.DatabaseURL.Reveal(), conn)
	if err != nil {
		return err
	}
	direct := d.Config.Direct().Reveal()
	if pooled && direct == d.Config.DatabaseURL.Reveal() {
		r.fail("pooling", "Set PARLANCE_DATABASE_DIRECT_URL to the same database without the pooler, or let it pool sessions.",
			"a transaction pooler is between: LISTEN and locks do not work through it")
		return nil
	}
	if pooled {
		r.ok("pooling", "a transaction pooler is between; what needs a session goes by PARLANCE_DATABASE_DIRECT_URL")
	} else {
		r.ok("pooling", "connections keep their session")
	}
	if err := hearNotification(ctx, direct, conn, d.Nonce()); err != nil {
		r.fail("listen",
			"Let the connection keep its session: no transaction pooling, and no proxy that drops notifications.",
			"a notification did not arrive: %v", err)
		return nil
	}
	r.ok("listen", "notifications arrive")
	return nil
}

// sharesSession reports whether two open connections use the same backend, as behind a transaction
// pooler.
func sharesSession(ctx context.Context, url string, first *pgx.Conn) (bool, error) {
	second, err := connect(ctx, url)
	if err != nil {
		return false, err
	}
	defer func() { _ = second.Close(context.WithoutCancel(ctx)) }() // only read from
	var backends [2]int
	for i, conn := range []*pgx.Conn{first, second} {
		if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&backends[i]); err != nil {
			return false, fmt.Errorf("ask for the backend: %w", err)
		}
	}
	return backends[0] == backends[1], nil
}

// hearNotification sends a notification over sender and waits for it on another connection.
func hearNotification(ctx context.Context, url string, sender *pgx.Conn, word string) error {
	listener, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close(context.WithoutCancel(ctx)) }() // ends LISTEN
	if _, err := listener.Exec(ctx, "LISTEN parlance_doctor"); err != nil {
		return err
	}
	if _, err := sender.Exec(ctx, "SELECT pg_notify('parlance_doctor', $1)", word); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, notifyWithin)
	defer cancel()
	for {
		heard, err := listener.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("within %s: %w", notifyWithin, err)
		}
		if heard.Payload == word {
			return nil
		}
	}
}

// checkClock compares the clocks of this machine and of Postgres.
func checkClock(ctx context.Context, d Deps, conn *pgx.Conn, r *report) error {
	return compareClocks("Postgres", slowDatabase, d.Now, r, func() (theirs time.Time, err error) {
		err = conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&theirs)
		return theirs, err
	})
}

// compareClocks asks a server for its time, and reports the round trip and the difference between
// the clocks. The shortest round trip is the most precise; the server's time is in its middle.
func compareClocks(server string, slow time.Duration, now func() time.Time, r *report, ask func() (time.Time, error)) error {
	var took []time.Duration
	var skew time.Duration
	for range roundTrips {
		began := now()
		theirs, err := ask()
		if err != nil {
			return fmt.Errorf("ask for the time: %w", err)
		}
		one := now().Sub(began)
		if len(took) == 0 || one < slices.Min(took) {
			skew = theirs.Sub(began.Add(one / 2))
		}
		took = append(took, one)
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median > slow {
		r.warn("round trip", "Move servers and workers closer to "+server+": a request makes several round trips.",
			"a round trip takes %s", median.Round(100*time.Microsecond))
	} else {
		r.ok("round trip", "%s", median.Round(10*time.Microsecond))
	}
	saySkew(skew, server, r)
	return nil
}

func saySkew(skew time.Duration, who string, r *report) {
	skew = skew.Abs().Round(time.Millisecond)
	const advice = "Set both clocks by NTP (chrony, systemd-timesyncd)."
	switch {
	case skew > skewFailure:
		r.fail("clock", advice, "this machine's clock and that of %s are %s apart: logs, traces and the queue have the wrong time", who, skew)
	case skew > skewWarning:
		r.warn("clock", advice, "this machine's clock and that of %s are %s apart", who, skew)
	default:
		r.ok("clock", "within %s of %s", max(skew, time.Millisecond), who)
	}
}

// checkConnections compares the connections of all processes with the server's limit.
func checkConnections(ctx context.Context, d Deps, conn *pgx.Conn, r *report) error {
	var most, reserved, others, roleLimit, databaseLimit int
	err := conn.QueryRow(ctx, `
		SELECT current_setting('max_connections')::int,
		       current_setting('superuser_reserved_connections')::int,
		       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name NOT LIKE 'parlance%'),
		       (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user),
		       (SELECT datconnlimit FROM pg_database WHERE datname = current_database())`,
	).Scan(&most, &reserved, &others, &roleLimit, &databaseLimit)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("ask for connections: %w", err)
	}
	left := most - reserved - others
	for _, limit := range []int{roleLimit, databaseLimit} {
		if limit >= 0 {
			left = min(left, limit)
		}
	}
	needed := (d.Config.DatabaseMaxConns + spareConnections) * d.Processes
	if needed > left {
		r.warn("connections",
			"Raise max_connections, lower PARLANCE_DATABASE_MAX_CONNS, or put PgBouncer between; --processes says how many share it.",
			"%d processes may take %d connections, and %d are left for them", d.Processes, needed, max(left, 0))
		return nil
	}
	r.ok("connections", "%d processes may take %d of the %d that are left", d.Processes, needed, left)
	return nil
}
