package devstack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Found is what this machine has. A zero Postgres or Redis means that none is good enough.
type Found struct {
	Postgres Postgres
	Redis    Redis
	// Tools maps the command of each Options.Tools to its path; absent ones are left out.
	Tools map[string]string
	// Plan is what Start would install or build; its zero value means that nothing is missing.
	Plan InstallPlan
}

// Postgres is one installation.
type Postgres struct {
	BinDir  string // absolute, holds initdb and postgres
	Version string // as pg_config prints it: 15.18
	Major   int
	// Vector is pgvector's default_version, empty when absent. It may be older than we need; Start
	// then uses a private copy with a newer one.
	Vector string

	shareDir string
}

// Redis is one installation of redis-server.
type Redis struct {
	Path    string
	Version string
}

// Inspect looks for Postgres, pgvector, Redis and o.Tools without changing anything.
// It needs no root and takes some tens of milliseconds.
func Inspect(ctx context.Context, o Options) (Found, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Found{}, err
	}
	var found Found
	found.Postgres, err = findPostgres(ctx, o)
	if err != nil {
		return Found{}, err
	}
	found.Redis = findRedis(ctx)
	found.Tools = findTools(o.Tools)
	found.Plan = makePlan(ctx, o, found)
	return found, nil
}

// findPostgres returns the newest usable installation, or the one whose major made the existing
// data directory: Postgres opens no other major's files.
func findPostgres(ctx context.Context, o Options) (Postgres, error) {
	var all []Postgres
	for _, dir := range binDirs(ctx, o.PGBin) {
		pg, ok := inspectPostgres(ctx, dir)
		if ok {
			all = append(all, pg)
		}
	}
	slices.SortStableFunc(all, newestFirst)
	if runtime.GOOS == "darwin" {
		slices.SortStableFunc(all, brewedFirst)
	}
	if o.PGBin != "" && len(all) > 0 {
		// An explicit choice wins over a newer one.
		chosen := slices.IndexFunc(all, func(pg Postgres) bool { return pg.BinDir == resolve(o.PGBin) })
		if chosen >= 0 {
			all = []Postgres{all[chosen]}
		}
	}
	wanted, ok := dataMajor(o.DataDir)
	if ok {
		all = slices.DeleteFunc(all, func(pg Postgres) bool { return pg.Major != wanted })
		if len(all) == 0 {
			return Postgres{}, fmt.Errorf("the data in %s was made by Postgres %d, which is not installed: install it, "+
				"or remove the directory to start with empty databases", o.DataDir, wanted)
		}
	}
	if len(all) == 0 {
		return Postgres{}, nil
	}
	return withPrivateCopy(o.CacheDir, all[0]), nil
}

func newestFirst(a, b Postgres) int { return b.Major - a.Major }

// binDirs lists the places to look at, in no particular order.
func binDirs(ctx context.Context, explicit string) []string {
	var dirs []string
	add := func(patterns ...string) {
		for _, pattern := range patterns {
			matches, err := filepath.Glob(pattern)
			if err == nil {
				dirs = append(dirs, matches...)
			}
		}
	}
	if explicit != "" {
		dirs = append(dirs, explicit)
	}
	add("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin")
	add(brewPostgres()...)
	out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output()
	if err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	path, err := exec.LookPath("postgres")
	if err == nil {
		dirs = append(dirs, filepath.Dir(resolve(path)))
	}
	for i, dir := range dirs {
		dirs[i] = resolve(dir)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// resolve follows symbolic links: Postgres finds its files relative to the real binary.
func resolve(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path
	}
	return real
}

func inspectPostgres(ctx context.Context, dir string) (Postgres, bool) {
	for _, name := range []string{"initdb", "postgres"} {
		_, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil {
			return Postgres{}, false
		}
	}
	text, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return Postgres{}, false
	}
	v, ok := parseVersion(string(text))
	if !ok || v.less(MinPostgres) {
		return Postgres{}, false
	}
	pg := Postgres{BinDir: dir, Version: versionPattern.FindString(string(text)), Major: v[0]}
	pg.shareDir = shareDir(ctx, pg)
	pg.Vector = controlVersion(filepath.Join(pg.shareDir, "extension", "vector.control"))
	return pg, true
}

// shareDir asks the installation's own pg_config, and falls back to Debian's layout, where that
// program may be missing.
func shareDir(ctx context.Context, pg Postgres) string {
	out, err := exec.CommandContext(ctx, filepath.Join(pg.BinDir, "pg_config"), "--sharedir").Output()
	if err != nil {
		return fmt.Sprintf("/usr/share/postgresql/%d", pg.Major)
	}
	return strings.TrimSpace(string(out))
}

// withPrivateCopy exchanges pg for our own copy when that one has a better pgvector.
func withPrivateCopy(cacheDir string, pg Postgres) Postgres {
	if AtLeast(pg.Vector, MinVector) {
		return pg
	}
	private := privateCopy(prefixDir(cacheDir, pg), pg)
	if private.Vector == "" {
		return pg
	}
	return private
}

// dataMajor returns the Postgres major that made the cluster under dataDir, if there is one.
func dataMajor(dataDir string) (int, bool) {
	if dataDir == "" {
		return 0, false
	}
	content, err := os.ReadFile(filepath.Join(dataDir, clusterName, "PG_VERSION"))
	if err != nil {
		return 0, false
	}
	v, ok := parseVersion(string(content))
	return v[0], ok
}

func findRedis(ctx context.Context) Redis {
	for _, name := range append([]string{"redis-server", "/usr/bin/redis-server"}, brewRedis()...) {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if err != nil {
			continue
		}
		_, text, ok := strings.Cut(string(out), "v=")
		if ok && AtLeast(text, MinRedis) {
			return Redis{Path: path, Version: versionPattern.FindString(text)}
		}
	}
	return Redis{}
}

func findTools(tools []Tool) map[string]string {
	found := make(map[string]string)
	for _, tool := range tools {
		path, err := tool.Command, error(nil)
		if filepath.IsAbs(tool.Command) {
			_, err = os.Stat(tool.Command)
		} else {
			path, err = exec.LookPath(tool.Command)
		}
		if err == nil {
			found[tool.Command] = path
		}
	}
	return found
}
