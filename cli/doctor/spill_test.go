package doctor_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"parlance.dev/parlance/cli/doctor"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/wal"
)

// plain encrypts nothing: doctor reads no record.
type plain struct{}

func (plain) Seal(_ context.Context, text []byte, _ seal.Binding) ([]byte, error) { return text, nil }

func (plain) Open(_ context.Context, blob []byte, _ seal.Binding) ([]byte, error) { return blob, nil }

func TestSpill(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "later")
	in := installation{"PARLANCE_SPILL_DIR": dir}
	wants(t, in.examine(t, "spill", nil), "write", doctor.OK, "can be written")
	wants(t, in.with("PARLANCE_SPILL_DIR", "off").examine(t, "spill", nil), "write", doctor.Skipped, "turns fail")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, in.with("PARLANCE_SPILL_DIR", file).examine(t, "spill", nil), "write", doctor.Failed, "")
	wants(t, in.examine(t, "spill", func(d *doctor.Deps) { d.Config.SpillMaxBytes = math.MaxInt }), "room",
		doctor.Warning, "PARLANCE_SPILL_MAX_BYTES")
	kept, err := wal.Open(t.Context(), wal.Config{Dir: dir, MaxBytes: 1 << 20, Seal: plain{}})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, in.examine(t, "spill", nil), "waiting", doctor.OK, "nothing waits")
	if _, err := kept.Append("ses_1", []byte("a turn")); err != nil {
		t.Fatal(err)
	}
	wants(t, in.examine(t, "spill", nil), "waiting", doctor.Warning, "1 records wait to be written")
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	found := in.examine(t, "spill", func(d *doctor.Deps) { d.Now = func() time.Time { return time.Now().Add(time.Hour) } })
	wants(t, found, "waiting", doctor.Warning, "servers that have ended wait for at least 1h")
	if err := os.WriteFile(filepath.Join(dir, "aside", "one"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, in.examine(t, "spill", nil), "aside", doctor.Warning, "1 records")
}
