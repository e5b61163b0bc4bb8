package fault_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"testing"

	"parlance.dev/parlance/fault"
)

// TestTableIsWhole checks what every row promises: a kebab-case slug of its own, a title and
// advice, and a kind with an HTTP status of an error.
func TestTableIsWhole(t *testing.T) {
	t.Parallel()
	kebab := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[fault.Reason]bool{}
	for _, e := range fault.Table() {
		if !kebab.MatchString(string(e.Reason)) || seen[e.Reason] {
			t.Errorf("reason %q is not kebab-case or stands twice", e.Reason)
		}
		seen[e.Reason] = true
		if e.Title == "" || e.Advice == "" {
			t.Errorf("reason %q has no title or no advice", e.Reason)
		}
		if e.Kind.Status() < 400 || e.Kind.String() == "" {
			t.Errorf("reason %q has the status %d", e.Reason, e.Kind.Status())
		}
	}
}

func TestFrom(t *testing.T) {
	t.Parallel()
	quota := fault.New(fault.QuotaKBStorage, "full")
	rows := []struct {
		name   string
		err    error
		reason fault.Reason
		status int
	}{
		{"decision in a chain", fmt.Errorf("storing: %w", quota), fault.QuotaKBStorage, 402},
		{"hang-up", fmt.Errorf("reading: %w", context.Canceled), fault.CallerCanceled, 499},
		{"deadline", context.DeadlineExceeded, fault.DeadlineExceeded, 504},
		{"anything else", errors.New("password=hunter2"), fault.InternalError, 500},
	}
	for _, row := range rows {
		got := fault.From(row.err)
		if got.Reason != row.reason || got.Kind().Status() != row.status {
			t.Errorf("%s: got %s (%d), want %s (%d)", row.name, got.Reason, got.Kind().Status(), row.reason, row.status)
		}
		if got.Reason == fault.InternalError && got.Message != "Internal error." {
			t.Errorf("%s: the cause leaks: %q", row.name, got.Message)
		}
	}
	if fault.From(nil) != nil {
		t.Error("From(nil) is not nil")
	}
}
