package devstack

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// maxSocketPath leaves room for the zero byte in sockaddr_un, 104 bytes on macOS and 108 on Linux.
const maxSocketPath = 103

// account is who the servers run as; nil is ourselves.
type account struct {
	uid, gid uint32
}

// serverAccount returns the user postgres when we are root, because Postgres refuses root.
func serverAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil is an account here: ourselves
	}
	entry, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("run Postgres as another user than root: %w", err)
	}
	uid, err := strconv.ParseUint(entry.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("read uid of postgres: %w", err)
	}
	gid, err := strconv.ParseUint(entry.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("read gid of postgres: %w", err)
	}
	return &account{uid: uint32(uid), gid: uint32(gid)}, nil
}

// give makes dir, readable by the server's account alone.
func (a *account) give(dir string) error {
	err := makeDir(dir, 0o700)
	if err != nil || a == nil {
		return err
	}
	err = os.Chown(dir, int(a.uid), int(a.gid))
	if err != nil {
		return fmt.Errorf("hand directory to the server: %w", err)
	}
	return nil
}

// reachableDir returns dir when the servers can reach it, otherwise a stand-in below /var/tmp
// with a name that depends on dir. Root's home directory is the usual case: mode 0700.
func reachableDir(dir string) (string, error) {
	if os.Geteuid() != 0 || reachable(dir) {
		return dir, nil
	}
	base, err := ownedBase("/var/tmp")
	if err != nil {
		return "", err
	}
	return filepath.Join(base, shortHash(dir)), nil
}

// reachable reports whether any account can pass through dir and its parents. Parts that do not
// exist yet are ours to make.
func reachable(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// ownedBase makes parent/parlance-<uid>. The name can be guessed and parent is writable for all,
// so a directory of somebody else is refused.
func ownedBase(parent string) (string, error) {
	base := filepath.Join(parent, "parlance-"+strconv.Itoa(os.Geteuid()))
	err := os.Mkdir(base, 0o711) // the servers' account passes through
	if err == nil {
		return base, os.Chmod(base, 0o711)
	}
	if !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("make %s: %w", base, err)
	}
	info, err := os.Lstat(base)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", base, err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(stat.Uid) != os.Geteuid() {
		return "", fmt.Errorf("%s belongs to somebody else: remove it, or choose other directories", base)
	}
	return base, nil
}

// defaultCacheDir is parlance below the user's cache directory.
func defaultCacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		base, err := ownedBase("/var/tmp")
		return filepath.Join(base, "cache"), err
	}
	return reachableDir(filepath.Join(dir, "parlance"))
}

// socketDir is dataDir/run, or a short stand-in below /tmp where that would be too long.
func socketDir(dataDir string) (string, error) {
	dir := filepath.Join(dataDir, "run")
	if len(dir)+len("/"+postgresSocket) <= maxSocketPath {
		return dir, nil
	}
	base, err := ownedBase("/tmp")
	return filepath.Join(base, shortHash(dataDir)), err
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}
