package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/platform/ticker"
)

const (
	// listenCheck is how often a connection without notifications is pinged.
	listenCheck = 30 * time.Second
	// The pause between attempts to reconnect doubles from the first to the second.
	listenBackoffMin = 100 * time.Millisecond
	listenBackoffMax = 5 * time.Second
)

// Listen calls fn with the payload of each NOTIFY on channel until ctx ends, and then returns the
// error of ctx. It holds a direct connection and replaces it when it is lost. After each connect it
// calls fn once with an empty payload: earlier notifications may have been missed, so fn must look
// for changes itself. fn runs on Listen's goroutine; while it runs, notifications wait.
func (d *DB) Listen(ctx context.Context, channel string, fn func(payload string)) error {
	pause := listenBackoffMin
	for {
		connected, err := d.listenOnce(ctx, channel, fn)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if connected {
			pause = listenBackoffMin
		}
		d.logger.WarnContext(ctx, "listening connection lost", "channel", channel, "error", err, "retry_in", pause)
		if err := ticker.Wait(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, listenBackoffMax)
	}
}

// listenOnce listens on one connection until it fails.
func (d *DB) listenOnce(ctx context.Context, channel string, fn func(payload string)) (connected bool, err error) {
	err = d.Session(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
			return fmt.Errorf("listening: %w", err)
		}
		if len(d.words) > 0 {
			if _, err := conn.Exec(ctx, announce, announceClass, d.words); err != nil {
				return fmt.Errorf("announcing: %w", err)
			}
		}
		connected = true
		fn("")
		for {
			payload, err := nextNotification(ctx, conn)
			switch {
			case err == nil:
				fn(payload)
			case !errors.Is(err, errSilence):
				return err
			}
		}
	})
	return connected, err
}

// errSilence is the error when no notification came and the connection works.
var errSilence = errors.New("no notification")

func nextNotification(ctx context.Context, conn *pgx.Conn) (string, error) {
	waiting, cancel := context.WithTimeout(ctx, listenCheck)
	defer cancel()
	notification, err := conn.WaitForNotification(waiting)
	if err == nil {
		return notification.Payload, nil
	}
	if ctx.Err() != nil || waiting.Err() == nil {
		return "", fmt.Errorf("waiting for a notification: %w", err)
	}
	pinging, cancel := context.WithTimeout(ctx, listenCheck)
	defer cancel()
	if err := conn.Ping(pinging); err != nil {
		return "", fmt.Errorf("asking a silent connection: %w", err)
	}
	return "", errSilence
}
