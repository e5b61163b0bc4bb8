package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// release describes the release that is made.
type release struct {
	// root is the repository, dist where the files go.
	root, dist string
	version    string
	commit     string
	// date is the time of the commit.
	date      time.Time
	platforms []platform
}

// platform is what a program runs on.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// name is the start of the platform's file names.
func (r release) name(p platform) string {
	return fmt.Sprintf("parlance_%s_%s_%s", r.version, p.os, p.arch)
}

var versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$`)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "version to make, e.g. 0.1.0; CHANGELOG.md must have it unless it ends in -snapshot")
	out := flags.String("out", "dist", "directory for the files, below the repository")
	platforms := flags.String("platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64", "what to build for")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r, err := newRelease(ctx, *version, *out, *platforms)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{r.protos, r.programs, r.images, r.sdks, r.sums} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func newRelease(ctx context.Context, version, out, platforms string) (release, error) {
	r := release{version: version}
	if !versionForm.MatchString(version) {
		return r, fmt.Errorf("--version %q is not a version such as 0.1.0", version)
	}
	root, err := output(ctx, ".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return r, err
	}
	r.root, r.dist = root, filepath.Join(root, out)
	if err := r.checkChangelog(); err != nil {
		return r, err
	}
	if r.commit, err = output(ctx, root, "git", "rev-parse", "HEAD"); err != nil {
		return r, err
	}
	seconds, err := output(ctx, root, "git", "show", "-s", "--format=%ct", "HEAD")
	if err != nil {
		return r, err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return r, fmt.Errorf("reading the commit's time: %w", err)
	}
	r.date = time.Unix(unix, 0).UTC()
	for one := range strings.SplitSeq(platforms, ",") {
		goos, arch, ok := strings.Cut(one, "/")
		if !ok {
			return r, fmt.Errorf("--platforms: %q is not OS/ARCH", one)
		}
		r.platforms = append(r.platforms, platform{goos, arch})
	}
	if err := errors.Join(os.RemoveAll(r.dist), os.MkdirAll(r.dist, 0o755)); err != nil { //nolint:gosec // files to hand out
		return r, fmt.Errorf("making %s: %w", r.dist, err)
	}
	return r, nil
}

// checkChangelog refuses a version that CHANGELOG.md does not describe.
func (r release) checkChangelog() error {
	if strings.HasSuffix(r.version, "-snapshot") {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return fmt.Errorf("reading the changelog: %w", err)
	}
	if !bytes.Contains(text, []byte("\n## "+r.version+" ")) {
		return fmt.Errorf("CHANGELOG.md has no section \"## %s – date\": write it first", r.version)
	}
	return nil
}

// output runs a command and returns what it prints, without the last line break.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = dir
	var complaints bytes.Buffer
	command.Stderr = &complaints
	printed, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, complaints.String())
	}
	return strings.TrimSpace(string(printed)), nil
}
