package dev

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/seal"
)

// Names in the data directory of `parlance dev`. Package command has the names of files that other
// commands read. See package devstack for those of the private Postgres and Redis.
const (
	lockName    = "dev.lock"
	blobsDir    = "blobs"
	localTLSDir = "tls"
)

// dataDir is the data directory of one `parlance dev`.
type dataDir string

// open makes and locks the directory: only one `parlance dev` may use it at a time. Its mode lets
// the account of the private servers pass through it.
func (d dataDir) open() (*devstack.Lock, error) {
	if err := os.MkdirAll(string(d), 0o711); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	lock, err := devstack.TryLockExclusive(d.path(lockName))
	if err != nil {
		return nil, fmt.Errorf("take the data directory: %w", err)
	}
	if lock == nil {
		return nil, fmt.Errorf("another `parlance dev` uses %s%s: stop it, or give this one a --data-dir and a --port of "+
			"its own", d, d.runningAt())
	}
	return lock, nil
}

// runningAt returns the address of the other `parlance dev`, if it is known.
func (d dataDir) runningAt() string {
	if base := d.env()[command.EnvBaseURL]; base != "" {
		return " (" + strings.TrimSuffix(base, "/v1") + ")"
	}
	return ""
}

func (d dataDir) path(name string) string { return filepath.Join(string(d), name) }

// env returns the dev.env of the run before, or an empty map.
func (d dataDir) env() map[string]string {
	values, err := command.ReadEnvFile(d.path(command.EnvFile))
	if err != nil {
		return map[string]string{} // a new key replaces the one in it
	}
	return values
}

// writeEnv writes dev.env for scripts and other commands. It holds the admin key, so its mode is
// 0600.
func (d dataDir) writeEnv(values [][2]string) error {
	var text strings.Builder
	for _, value := range values {
		fmt.Fprintf(&text, "%s=%s\n", value[0], value[1])
	}
	if err := writePrivate(d.path(command.EnvFile), []byte(text.String())); err != nil {
		return fmt.Errorf("write %s: %w", command.EnvFile, err)
	}
	return nil
}

// masterKey returns the path of the master key, and makes the key if there is none.
func (d dataDir) masterKey() (string, error) {
	path := d.path(command.MasterKeyFile)
	if err := seal.NewMasterKeyFile(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make the master key: %w", err)
	}
	return path, nil
}
