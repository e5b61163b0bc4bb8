package devstack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// aptGrace is how long apt and dpkg get to end after a cancellation. What they leave half done is
// repaired by the next installation.
const aptGrace = 30 * time.Second

var candidatePattern = regexp.MustCompile(`(?m)^\s*Candidate:\s*(?:\d+:)?(\S+)`)

// aptCandidate returns the version of name that apt would install, without its epoch, or "".
func aptCandidate(ctx context.Context, name string) string {
	out, err := exec.CommandContext(ctx, "apt-cache", "policy", name).Output()
	if err != nil {
		return ""
	}
	match := candidatePattern.FindSubmatch(out)
	if match == nil || string(match[1]) == "(none)" {
		return ""
	}
	return string(match[1])
}

// aptPostgresMajor is the major of the distribution's own Postgres, 0 when apt has no lists yet.
func aptPostgresMajor(ctx context.Context) int {
	v, ok := parseVersion(aptCandidate(ctx, "postgresql"))
	if !ok {
		return 0
	}
	return v[0]
}

// aptInstall installs packages, refreshing apt's lists first where a candidate is unknown. When
// that fails it repairs interrupted installations, refreshes the lists (a mirror drops superseded
// files) and tries once more. No service is started,
// enabled, or given a database cluster.
func aptInstall(ctx context.Context, packages []string, log logFunc) (err error) {
	release, err := quietServices(packages)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()

	for _, name := range packages {
		if aptCandidate(ctx, name) != "" {
			continue
		}
		err := aptGet(ctx, log, "update", "-q")
		if err != nil {
			return err
		}
		break
	}
	args := append([]string{"install", "-y", "-q", "--no-install-recommends"}, packages...)
	err = aptGet(ctx, log, args...)
	if err == nil || ctx.Err() != nil {
		return err
	}
	log("      first try failed: repairing and refreshing the package lists")
	// An installation that was interrupted, ours or another, leaves packages half configured. When
	// there is nothing to repair this does nothing; when it fails the next step says why.
	repair := command(ctx, aptGrace, "dpkg", "--configure", "-a")
	repair.Env = append(repair.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C")
	_ = repair.Run()
	err = aptGet(ctx, log, "update", "-q")
	if err != nil {
		return err
	}
	return aptGet(ctx, log, args...)
}

// aptGet runs apt-get and passes on the lines which show that it moves.
func aptGet(ctx context.Context, log logFunc, args ...string) error {
	args = append([]string{"-o", "DPkg::Lock::Timeout=120"}, args...)
	cmd := command(ctx, aptGrace, "apt-get", args...)
	cmd.Env = append(cmd.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "NEEDRESTART_SUSPEND=1")
	var errText strings.Builder
	cmd.Stderr = &errText
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("pipe apt-get: %w", err)
	}
	err = cmd.Start()
	if err != nil {
		return fmt.Errorf("start apt-get: %w", err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		for _, word := range []string{"Need to get ", "Fetched ", "Unpacking ", "Setting up "} {
			if strings.HasPrefix(lines.Text(), word) {
				log("      %s", lines.Text())
			}
		}
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", strings.Join(args[2:], " "), err, strings.TrimSpace(errText.String()))
	}
	return nil
}

const (
	policyFile        = "/usr/sbin/policy-rc.d"
	policyText        = "#!/bin/sh\n# written by parlance while it installs packages; safe to remove\nexit 101\n"
	createClusterFile = "/etc/postgresql-common/createcluster.conf"
	createClusterText = "# written by parlance: its own Postgres is private, so no system cluster was made\ncreate_main_cluster = false\n"
)

// quietServices keeps Debian's packages from starting servers on 5432 and 6379. A policy-rc.d
// stands for the time of the installation unless the administrator has one. Where Postgres was
// never installed, createcluster.conf keeps it from making a cluster that the next boot would
// start; ucf keeps that file because it differs from the package's own.
func quietServices(packages []string) (release func() error, err error) {
	if !slices.ContainsFunc(packages, isServer) {
		return func() error { return nil }, nil
	}
	_, err = os.Stat(createClusterFile)
	if errors.Is(err, os.ErrNotExist) {
		err = os.MkdirAll("/etc/postgresql-common", 0o755) // as the package makes it
		if err == nil {
			err = os.WriteFile(createClusterFile, []byte(createClusterText), 0o644) // as the package makes it
		}
		if err != nil {
			return nil, fmt.Errorf("keep Postgres from making a cluster: %w", err)
		}
	}
	content, err := os.ReadFile(policyFile)
	ours := errors.Is(err, os.ErrNotExist) || string(content) == policyText
	if ours {
		err := os.WriteFile(policyFile, []byte(policyText), 0o755) // a program, run by dpkg
		if err != nil {
			return nil, fmt.Errorf("keep services from starting: %w", err)
		}
	}
	return func() error {
		_, err := os.Stat("/run/systemd/system")
		if err == nil && slices.Contains(packages, "redis-server") {
			// The package enables its unit for the next boot although policy-rc.d kept it from starting.
			// Best effort: an administrator who wants the service can enable it again.
			_ = exec.CommandContext(context.Background(), "systemctl", "disable", "--quiet", "redis-server").Run()
		}
		if ours {
			return os.Remove(policyFile)
		}
		return nil
	}, nil
}

// isServer reports whether a package brings a server that Debian would start.
func isServer(name string) bool {
	return strings.HasPrefix(name, "postgresql") || strings.HasPrefix(name, "redis")
}
