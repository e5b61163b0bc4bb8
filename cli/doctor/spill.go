package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"parlance.dev/parlance/platform/wal"
)

// writtenSoon is how long a server needs at most to write its kept turns once Postgres is
// available.
const writtenSoon = time.Minute

// checkSpill checks the directory where servers keep turns while Postgres is unavailable.
func checkSpill(_ context.Context, d Deps, r *report) {
	dir := d.Config.Spill()
	if dir == "" {
		r.skip("write", "no directory: turns fail while Postgres is away (PARLANCE_SPILL_DIR)")
		return
	}
	const advice = "Let the service's user own the directory, mode 0700: install -d -o USER -m 0700 DIR; or name another " +
		"as PARLANCE_SPILL_DIR."
	there, made := dir, true
	for {
		if _, err := os.Stat(there); err == nil || !errors.Is(err, fs.ErrNotExist) || there == filepath.Dir(there) {
			break
		}
		there, made = filepath.Dir(there), false // a server creates the directories below
	}
	if err := wal.TryWrite(there); err != nil {
		r.fail("write", advice, "%v", err)
		return
	}
	r.ok("write", "%s can be written", there)
	most := int64(d.Config.SpillMaxBytes)
	switch free, err := wal.Room(there); {
	case err != nil:
		r.skip("room", "%v", err)
	case free < wal.MinMaxBytes:
		r.fail("room", "Make room, or name another directory as PARLANCE_SPILL_DIR.",
			"%d KiB are left on the disk of %s: no turn can be kept", free>>10, there)
	case free < most:
		r.warn("room", "Make room, or lower PARLANCE_SPILL_MAX_BYTES.",
			"%d MiB are left on the disk of %s, and each server may keep %d MiB (PARLANCE_SPILL_MAX_BYTES)", free>>20, there, most>>20)
	default:
		r.ok("room", "%d MiB are left", free>>20)
	}
	if made {
		checkKept(d, dir, r)
	}
}

// checkKept reports the records in the directory.
func checkKept(d Deps, dir string, r *report) {
	survey, err := wal.Inspect(dir)
	if err != nil {
		r.fail("waiting", "Let the service's user read the directory.", "%v", err)
		return
	}
	live, left := 0, 0
	var newest time.Time // of records that no process holds
	for _, one := range survey.Waiting {
		if one.Held {
			live += one.Records
			continue
		}
		left += one.Records
		if one.Written.After(newest) {
			newest = one.Written
		}
	}
	age := d.Now().Sub(newest).Round(time.Second)
	switch {
	case left > 0 && age > writtenSoon:
		r.warn("waiting", "Start a server on this directory: it writes them when Postgres answers.",
			"%d records of servers that have ended wait for at least %s, and no server takes them over", left, age)
	case live+left > 0:
		r.warn("waiting", "Let servers reach Postgres: they write it then, within seconds.", "%d records wait to be written", live+left)
	default:
		r.ok("waiting", "nothing waits")
	}
	if survey.Aside > 0 {
		r.warn("aside",
			"See the log for `parlance_spill_aside_total` (docs/operations.md); remove the files below aside when they are of "+
				"no use.", "%d records could never be written and lie in %s", survey.Aside, filepath.Join(dir, "aside"))
	}
}
