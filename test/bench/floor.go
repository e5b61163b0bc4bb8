package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/platform/postgres"
)

// floorCommand makes this program the bare client: it runs the statements that it reads and
// prints the CPU in µs that one run costs its process.
const floorCommand = "floor"

// floorOrder says what the bare client does.
type floorOrder struct {
	URL        string        `json:"url"`
	Statements []string      `json:"statements"`
	Duration   time.Duration `json:"duration"`
}

func runFloor(in io.Reader, out io.Writer) error {
	var order floorOrder
	if err := json.NewDecoder(in).Decode(&order); err != nil {
		return fmt.Errorf("reading the order: %w", err)
	}
	ctx := context.Background()
	db, err := postgres.Open(ctx, postgres.Config{URL: order.URL})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // the process ends
	before, err := used()
	if err != nil {
		return err
	}
	var (
		count   atomic.Int64
		running sync.WaitGroup
		failed  atomic.Pointer[error]
		until   = time.Now().Add(order.Duration)
	)
	for range callers {
		running.Go(func() {
			for time.Now().Before(until) && failed.Load() == nil {
				if err := once(ctx, db, order.Statements); err != nil {
					failed.Store(&err)
				}
				count.Add(1)
			}
		})
	}
	running.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	after, err := used()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%f\n", micros(after-before)/float64(count.Load()))
	return err
}

// once runs each statement in a round trip of its own and reads its rows.
func once(ctx context.Context, db *postgres.DB, statements []string) error {
	for _, statement := range statements {
		rows, err := db.Pool.Query(ctx, statement)
		if err != nil {
			return fmt.Errorf("running a statement: %w", err)
		}
		if _, err := pgx.CollectRows(rows, pgx.RowToMap); err != nil {
			return fmt.Errorf("reading rows: %w", err)
		}
	}
	return nil
}

// used is the CPU time of this process.
func used() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("asking for our CPU time: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}
