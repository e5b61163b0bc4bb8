package devstack

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// prefixDir is where the private copy of pg lives. The full version is part of the name: an
// upgrade of the system's Postgres gets a copy of its own.
func prefixDir(cacheDir string, pg Postgres) string {
	return filepath.Join(cacheDir, "postgres-"+pg.Version)
}

// privateCopy describes the copy of pg under prefix; its Vector is empty when there is none.
func privateCopy(prefix string, pg Postgres) Postgres {
	major := fmt.Sprint(pg.Major)
	pg.BinDir = filepath.Join(prefix, "lib", "postgresql", major, "bin")
	pg.shareDir = filepath.Join(prefix, "share", "postgresql", major)
	pg.Vector = controlVersion(filepath.Join(pg.shareDir, "extension", "vector.control"))
	return pg
}

// copyPostgres copies Debian's Postgres to prefix in Debian's layout. The server finds its share
// and library directories relative to its binary, so the binaries are copied and not linked.
func copyPostgres(ctx context.Context, pg Postgres, prefix string) error {
	major := fmt.Sprint(pg.Major)
	from := map[string]string{
		filepath.Dir(pg.BinDir): filepath.Join(prefix, "lib", "postgresql", major),
		pg.shareDir:             filepath.Join(prefix, "share", "postgresql", major),
	}
	if !strings.HasSuffix(pg.BinDir, filepath.Join("lib", "postgresql", major, "bin")) {
		return fmt.Errorf("copy Postgres: %s is not in Debian's layout", pg.BinDir)
	}
	for source, target := range from {
		err := copyTree(ctx, source, target)
		if err != nil {
			return err
		}
	}
	return nil
}

// copyTree copies files, directories and links; modes are kept, owners are not.
func copyTree(ctx context.Context, source, target string) error {
	err := filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		relative, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		to := filepath.Join(target, relative)
		if entry.IsDir() {
			return makeDir(to, 0o755)
		}
		// Links are followed: Debian links some share files into /etc and /usr/share.
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			return nil //nolint:nilerr // a dangling link in the source is none of ours
		}
		content, err := os.ReadFile(path) //nolint:gosec // only root writes there
		if err != nil {
			return err
		}
		err = os.WriteFile(to, content, info.Mode().Perm())
		if err != nil {
			return err
		}
		// The umask may have taken bits that the postgres user needs.
		return os.Chmod(to, info.Mode().Perm())
	})
	if err != nil {
		return fmt.Errorf("copy %s: %w", source, err)
	}
	return nil
}

// makeDir makes dir and its parents, and sets its mode whatever the umask says.
func makeDir(dir string, mode os.FileMode) error {
	err := os.MkdirAll(dir, mode)
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	return os.Chmod(dir, mode)
}

// lastLines returns at most n lines from the end of text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}
