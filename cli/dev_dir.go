package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/seal"
)

// Names in the data directory of `parlance dev`; the private Postgres and Redis keep theirs
// beside them (see package devstack).
const (
	devEnvName    = "dev.env"
	devLockName   = "dev.lock"
	masterKeyName = "master.key"
	blobsDir      = "blobs"
	localTLSDir   = "tls"
)

// devDir is the data directory of one `parlance dev`.
type devDir string

// open makes the directory and takes it: one `parlance dev` may use it at a time. It can be
// passed through by the account the servers run as, and only that.
func (d devDir) open() (*devstack.Lock, error) {
	if err := os.MkdirAll(string(d), 0o711); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	lock, err := devstack.TryLockExclusive(d.path(devLockName))
	if err != nil {
		return nil, fmt.Errorf("take the data directory: %w", err)
	}
	if lock == nil {
		return nil, fmt.Errorf("another `parlance dev` uses %s%s: stop it, or give this one a --data-dir and a --port of its own", d, d.runningAt())
	}
	return lock, nil
}

// runningAt says where the other one answers, when it is known.
func (d devDir) runningAt() string {
	if base := d.env()[envBaseURL]; base != "" {
		return " (" + strings.TrimSuffix(base, "/v1") + ")"
	}
	return ""
}

func (d devDir) path(name string) string { return filepath.Join(string(d), name) }

// env is what the run before wrote; empty when there was none.
func (d devDir) env() map[string]string {
	values, err := readEnvFile(d.path(devEnvName))
	if err != nil {
		return map[string]string{} // the key in it is replaced by a new one
	}
	return values
}

// writeEnv writes dev.env for scripts and `parlance chat`. It holds the admin key: mode 0600.
func (d devDir) writeEnv(values [][2]string) error {
	var text strings.Builder
	for _, value := range values {
		fmt.Fprintf(&text, "%s=%s\n", value[0], value[1])
	}
	if err := writePrivate(d.path(devEnvName), []byte(text.String())); err != nil {
		return fmt.Errorf("write %s: %w", devEnvName, err)
	}
	return nil
}

// masterKey finds or makes the master key.
func (d devDir) masterKey() (string, error) {
	path := d.path(masterKeyName)
	if err := seal.NewMasterKeyFile(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make the master key: %w", err)
	}
	return path, nil
}
