package localtime_test

import (
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/platform/localtime"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loaded, ok := localtime.Zone(name)
	if !ok {
		t.Fatalf("no zone %s", name)
	}
	return loaded
}

// TestParse: the days of the changes are those of the tz database.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, zone, want string }{
		{"2026-12-01T09:00", "Europe/Berlin", "2026-12-01T08:00:00Z"},
		{"2026-12-01 09:00:30", "America/New_York", "2026-12-01T14:00:30Z"},
		{"2026-12-01T09:00:00+05:30", "Europe/Berlin", "2026-12-01T03:30:00Z"},
		// Clocks go from 02:00 to 03:00, at 01:00 UTC.
		{"2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:00:00Z"},
		{"2026-03-29T01:59", "Europe/Berlin", "2026-03-29T00:59:00Z"},
		{"2026-03-29T03:00", "Europe/Berlin", "2026-03-29T01:00:00Z"},
		// 02:30 comes twice.
		{"2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00Z"},
		{"2026-11-01T01:30", "America/New_York", "2026-11-01T05:30:00Z"},
		{"2026-03-08T02:30", "America/New_York", "2026-03-08T07:00:00Z"},
		// Half an hour, on the southern half of the earth.
		{"2026-10-04T02:15", "Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
		{"2026-04-05T01:45", "Australia/Lord_Howe", "2026-04-04T14:45:00Z"},
		// A whole day that did not exist.
		{"2011-12-30T12:00", "Pacific/Apia", "2011-12-30T10:00:00Z"},
	} {
		got, ok := localtime.Parse(test.text, zone(t, test.zone))
		if !ok || got.UTC().Format(time.RFC3339) != test.want {
			t.Errorf("%s in %s: %v, %v, want %s", test.text, test.zone, got.UTC(), ok, test.want)
		}
	}
	for _, text := range []string{"", "tomorrow", "2026-13-01T09:00", "2026-02-30T09:00", "09:00", "2026-12-01"} {
		if got, ok := localtime.Parse(text, time.UTC); ok {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

// TestCronYear: one run a day through a year with both changes of the clocks, at the time on the
// wall, in three zones.
func TestCronYear(t *testing.T) {
	t.Parallel()
	for name, gap := range map[string]string{
		"Europe/Berlin": "2026-03-29", "America/New_York": "2026-03-08", "Australia/Sydney": "2026-10-04",
	} {
		place := zone(t, name)
		runs, err := localtime.ParseCron("30 2 * * *", place)
		if err != nil {
			t.Fatal(err)
		}
		at := localtime.Moment(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), place)
		end := at.AddDate(1, 0, 0)
		days := map[string]int{}
		for {
			next, ok := runs.Next(at)
			if !ok || !next.Before(end) {
				break
			}
			if !next.After(at) {
				t.Fatalf("%s: %v does not come after %v", name, next, at)
			}
			day, clock := next.Format(time.DateOnly), next.Format("15:04")
			if want := map[bool]string{true: "03:00", false: "02:30"}[day == gap]; clock != want {
				t.Errorf("%s: on %s it runs at %s, want %s", name, day, clock, want)
			}
			days[day]++
			at = next
		}
		if len(days) != 365 {
			t.Errorf("%s: it runs on %d days", name, len(days))
		}
		for day, n := range days {
			if n != 1 {
				t.Errorf("%s: it runs %d times on %s", name, n, day)
			}
		}
	}
}

// TestCronHourly: an expression for every hour runs in every hour that passes.
func TestCronHourly(t *testing.T) {
	t.Parallel()
	runs, err := localtime.ParseCron("0 * * * *", zone(t, "Europe/Berlin"))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 10, 24, 22, 0, 0, 0, time.UTC)
	for i := range 12 {
		next, ok := runs.Next(at)
		if !ok || next.Sub(at) != time.Hour {
			t.Fatalf("run %d is %v after the one before", i, next.Sub(at))
		}
		at = next
	}
}

// TestCronHourlyGap: where clocks skip a part of an hour, the run in that part is at its end. Where
// they skip an hour's length, no hour that passes is without a run, and there is no further one.
func TestCronHourlyGap(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ cron, zone, from, want string }{
		// From 02:00 (15:30Z) to 02:30.
		{"15 * * * *", "Australia/Lord_Howe", "2027-10-02T14:00:00Z", "01:15 02:30 03:15"},
		{"0 * * * *", "Australia/Lord_Howe", "2027-10-02T14:00:00Z", "01:00 02:30 03:00"},
		{"40 * * * *", "Australia/Lord_Howe", "2027-10-02T14:00:00Z", "00:40 01:40 02:40"},
		{"*/20 * * * *", "Australia/Lord_Howe", "2027-10-02T15:00:00Z", "01:40 02:30 02:40"},
		// From 02:00 (01:00Z) to 03:00.
		{"15 * * * *", "Europe/Berlin", "2027-03-28T00:00:00Z", "01:15 03:15 04:15"},
		// From 02:45 (14:00Z) to 03:45.
		{"15 * * * *", "Pacific/Chatham", "2027-09-25T13:00:00Z", "02:15 04:15 05:15"},
	} {
		runs, err := localtime.ParseCron(test.cron, zone(t, test.zone))
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, test.from)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for range 3 {
			next, ok := runs.Next(at)
			if !ok || !next.After(at) {
				t.Fatalf("%s in %s: %v, %v after %v", test.cron, test.zone, next, ok, at)
			}
			got, at = append(got, next.Format("15:04")), next
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s in %s runs at %s, want %s", test.cron, test.zone, got, test.want)
		}
	}
}

func TestParseCron(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "* * * *", "* * * * * *", "61 * * * *", "@every 1m", "TZ=UTC 0 9 * * *", "@reboot", "hello", "0 9 * * FOO",
	} {
		if _, err := localtime.ParseCron(text, time.UTC); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	runs, err := localtime.ParseCron("0 9 31 2 *", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if next, ok := runs.Next(time.Unix(0, 0)); ok {
		t.Errorf("the 31st of February is %v", next)
	}
}

func TestZone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", "Local", "Europe/Nowhere", "../../etc/passwd", "posix/UTC", "right/Europe/Berlin", "localtime", "posixrules", "Factory",
	} {
		if _, ok := localtime.Zone(name); ok {
			t.Errorf("%q is a zone", name)
		}
	}
	for _, name := range []string{"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "US/Eastern", "Japan"} {
		if _, ok := localtime.Zone(name); !ok {
			t.Errorf("%q is no zone", name)
		}
	}
}

func FuzzCron(f *testing.F) {
	f.Add("*/5 8-18 * * MON-FRI", int64(1775000000))
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		runs, err := localtime.ParseCron(text, zone(t, "Europe/Berlin"))
		if err != nil {
			return
		}
		after := time.Unix(unix%(1<<32), 0)
		if next, ok := runs.Next(after); ok && !next.After(after) {
			t.Errorf("%q: %v is not after %v", text, next, after)
		}
	})
}
