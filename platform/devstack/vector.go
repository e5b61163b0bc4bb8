package devstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// newerSuites are where pgvector's source is looked for, stable first: the same machine should
// get the same version next month.
var newerSuites = map[string][]string{
	"debian": {"trixie", "forky", "sid"},
	"ubuntu": {"plucky", "questing", "devel"},
}

// buildVector makes a private copy of pg with a newer pgvector, under cacheDir. The caller holds
// the cache's lock. The copy is put in place when it is complete.
func buildVector(ctx context.Context, cacheDir string, pg Postgres, log logFunc) (Postgres, error) {
	work, err := os.MkdirTemp(cacheDir, "build-")
	if err != nil {
		return Postgres{}, fmt.Errorf("make build directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }() // scratch: nothing to do about a failure
	err = os.Chmod(work, 0o755)               // apt downloads as its own user
	if err != nil {
		return Postgres{}, fmt.Errorf("open build directory: %w", err)
	}
	b := vectorBuild{work: work, pg: pg, log: log}
	err = b.run(ctx)
	if err != nil {
		return Postgres{}, fmt.Errorf("build pgvector: %w", err)
	}
	prefix := prefixDir(cacheDir, pg)
	err = errors.Join(os.RemoveAll(prefix), os.Rename(b.prefix(), prefix))
	if err != nil {
		return Postgres{}, fmt.Errorf("put private copy in place: %w", err)
	}
	return privateCopy(prefix, pg), nil
}

// vectorBuild holds one build: everything happens below work.
type vectorBuild struct {
	work string
	pg   Postgres
	log  logFunc
}

func (b vectorBuild) prefix() string  { return filepath.Join(b.work, "prefix") }
func (b vectorBuild) headers() string { return filepath.Join(b.work, "headers") }

func (b vectorBuild) run(ctx context.Context) error {
	err := copyPostgres(ctx, b.pg, b.prefix())
	if err != nil {
		return err
	}
	err = b.fetchHeaders(ctx)
	if err != nil {
		return err
	}
	mirror, err := systemMirror(ctx)
	if err != nil {
		return err
	}
	var failures []error
	for _, suite := range mirror.suites {
		err := b.trySuite(ctx, mirror, suite)
		if err == nil || ctx.Err() != nil {
			return err
		}
		b.log("      pgvector of %s: not usable, trying the next", suite)
		failures = append(failures, fmt.Errorf("suite %s: %w", suite, err))
	}
	return errors.Join(failures...)
}

// fetchHeaders unpacks postgresql-server-dev-N beside the build: installing it would pull in
// clang and LLVM. The makefiles (pgxs) are part of the server's own package.
func (b vectorBuild) fetchHeaders(ctx context.Context) error {
	name := fmt.Sprintf("postgresql-server-dev-%d", b.pg.Major)
	b.log("      downloading %s", name)
	err := b.runIn(ctx, b.work, "apt-get", "download", "-q", name)
	if err != nil && os.Geteuid() == 0 && ctx.Err() == nil {
		// The lists may be older than what the mirror still has.
		err = aptGet(ctx, b.log, "update", "-q")
		if err == nil {
			err = b.runIn(ctx, b.work, "apt-get", "download", "-q", name)
		}
	}
	if err != nil {
		return err
	}
	debs, err := filepath.Glob(filepath.Join(b.work, name+"_*.deb"))
	if err != nil || len(debs) != 1 {
		return fmt.Errorf("download %s: found %d files", name, len(debs))
	}
	return b.runIn(ctx, b.work, "dpkg", "-x", debs[0], b.headers())
}

// mirror is where this system's packages come from.
type mirror struct {
	url       string
	component string
	keyring   string // empty: apt's own trusted keys
	suites    []string
}

// systemMirror reads the mirror from apt's configuration, so that proxies, caches and company
// mirrors keep working.
func systemMirror(ctx context.Context) (mirror, error) {
	release, err := osRelease()
	if err != nil {
		return mirror{}, err
	}
	id := release["ID"]
	m := mirror{component: "main", suites: newerSuites[id]}
	if id == "ubuntu" {
		m.component = "universe"
	}
	if len(m.suites) == 0 {
		return mirror{}, fmt.Errorf("no newer suites are known for %q", id)
	}
	out, err := command(ctx, time.Second, "apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Identifier: Packages").Output()
	if err != nil {
		return mirror{}, fmt.Errorf("ask apt for its mirror: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		site, suite, _ := strings.Cut(strings.TrimSpace(line), " ")
		if suite == release["VERSION_CODENAME"] {
			m.url = site
			break
		}
	}
	if m.url == "" {
		return mirror{}, fmt.Errorf("apt has no mirror of %s", release["VERSION_CODENAME"])
	}
	keyring := "/usr/share/keyrings/" + id + "-archive-keyring.gpg"
	_, err = os.Stat(keyring)
	if err == nil {
		m.keyring = keyring
	}
	return m, nil
}

func osRelease() (map[string]string, error) {
	content, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return nil, fmt.Errorf("read os-release: %w", err)
	}
	fields := make(map[string]string)
	for line := range strings.Lines(string(content)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		fields[key] = strings.Trim(value, `"'`)
	}
	return fields, nil
}

// trySuite downloads, compiles and installs pgvector of one suite into the private copy. Lists,
// cache and sources are all below work: the system's apt configuration stays as it is.
func (b vectorBuild) trySuite(ctx context.Context, m mirror, suite string) error {
	dir := filepath.Join(b.work, suite)
	for _, sub := range []string{"lists/partial", "cache/archives/partial", "source"} {
		err := os.MkdirAll(filepath.Join(dir, sub), 0o755) // apt downloads as its own user
		if err != nil {
			return fmt.Errorf("make apt directories: %w", err)
		}
	}
	option := ""
	if m.keyring != "" {
		option = "[signed-by=" + m.keyring + "] "
	}
	line := fmt.Sprintf("deb-src %s%s %s %s\n", option, m.url, suite, m.component)
	list := filepath.Join(dir, "sources.list")
	err := os.WriteFile(list, []byte(line), 0o644) // apt reads it as its own user
	if err != nil {
		return fmt.Errorf("write sources list: %w", err)
	}
	private := []string{
		"-o", "Dir::Etc::sourcelist=" + list, "-o", "Dir::Etc::sourceparts=/dev/null",
		"-o", "Dir::State::Lists=" + filepath.Join(dir, "lists"), "-o", "Dir::Cache=" + filepath.Join(dir, "cache"),
	}
	err = b.runIn(ctx, dir, "apt-get", append(private, "update", "-q")...)
	if err != nil {
		return err
	}
	source := filepath.Join(dir, "source")
	err = b.runIn(ctx, source, "apt-get", append(private, "source", "-q", "--download-only", "pgvector")...)
	if err != nil {
		return err
	}
	tarballs, err := filepath.Glob(filepath.Join(source, "pgvector_*.orig.tar.*"))
	if err != nil || len(tarballs) == 0 {
		return errors.New("the source package has no tarball")
	}
	err = b.runIn(ctx, source, "tar", "-xf", tarballs[0], "--strip-components=1")
	if err != nil {
		return err
	}
	return b.compile(ctx, source)
}

func (b vectorBuild) compile(ctx context.Context, source string) error {
	vector := controlVersion(filepath.Join(source, "vector.control"))
	if !AtLeast(vector, MinVector) {
		return fmt.Errorf("version %q is too old", vector)
	}
	b.log("      compiling pgvector %s for Postgres %s", vector, b.pg.Version)
	major := fmt.Sprint(b.pg.Major)
	variables := []string{
		"with_llvm=no", "OPTFLAGS=",
		"PG_CONFIG=" + filepath.Join(b.prefix(), "lib", "postgresql", major, "bin", "pg_config"),
		"includedir_server=" + filepath.Join(b.headers(), "usr", "include", "postgresql", major, "server"),
	}
	err := b.runIn(ctx, source, "make", variables...)
	if err != nil {
		return err
	}
	return b.runIn(ctx, source, "make", append(variables, "install")...)
}

// runIn runs a program in dir; its output appears in the error only.
func (b vectorBuild) runIn(ctx context.Context, dir, name string, args ...string) error {
	cmd := command(ctx, 5*time.Second, name, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, lastLines(string(out), 12))
	}
	return nil
}
