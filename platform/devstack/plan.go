package devstack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// InstallPlan is what has to be done before the servers can run, or the tools.
type InstallPlan struct {
	// Missing names what is absent or too old, for people: "Redis 7", "pgvector 0.8.0".
	Missing []string
	// Packages are the packages to install, empty when nothing or when no package manager is known.
	Packages []string
	// Command is the exact line that installs Packages, to be run by a person.
	Command string
	// BuildVector says that pgvector is compiled from its source package afterwards.
	BuildVector bool
	// Automatic says that Start can install Packages itself: apt, and we are root.
	Automatic bool
	// NeedsRoot says that Start could install Packages itself if it ran as root.
	NeedsRoot bool

	// toolsOnly says that it is not about the databases.
	toolsOnly bool
}

// Empty reports whether nothing is missing.
func (p InstallPlan) Empty() bool {
	return len(p.Missing) == 0
}

// MissingError says what is missing and how to get it. Its message has several lines.
type MissingError struct {
	Plan InstallPlan
	// Cause is why the automatic way failed or was not tried.
	Cause string
}

// Error lists what is missing, the line that installs it, and for databases the way with
// containers.
func (e *MissingError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "missing: %s", strings.Join(e.Plan.Missing, ", "))
	if e.Cause != "" {
		fmt.Fprintf(&b, " (%s)", e.Cause)
	}
	if e.Plan.toolsOnly {
		if e.Plan.Command != "" {
			fmt.Fprintf(&b, "\n\nInstall with:\n  %s", e.Plan.Command)
		}
		return b.String()
	}
	if e.Plan.Command != "" {
		fmt.Fprintf(&b, "\n\nInstall with:\n  %s\n\nor run both in containers:\n", e.Plan.Command)
	} else {
		b.WriteString("\n\nRun both in containers:\n")
	}
	b.WriteString(containerLines)
	return b.String()
}

// containerLines use ports of their own, so that they run beside a system's databases.
//
//nolint:gosec // the password is that of a container on this machine
const containerLines = `  docker run -d --name parlance-postgres -e POSTGRES_USER=parlance -e POSTGRES_PASSWORD=parlance \
    -p 127.0.0.1:55432:5432 pgvector/pgvector:pg17
  docker run -d --name parlance-redis -p 127.0.0.1:56379:6379 redis:7 redis-server --appendonly yes --maxmemory-policy noeviction
  export DATABASE_URL='postgres://parlance:parlance@127.0.0.1:55432/parlance?sslmode=disable'
  export REDIS_URL='redis://127.0.0.1:56379/0'`

// makePlan works out what found lacks. It asks apt for versions, but installs nothing.
func makePlan(ctx context.Context, o Options, found Found) InstallPlan {
	var plan InstallPlan
	manager := packageManager()
	if found.Postgres.BinDir == "" {
		plan.Missing = append(plan.Missing, "Postgres 15 or newer")
	}
	if !AtLeast(found.Postgres.Vector, MinVector) {
		plan.Missing = append(plan.Missing, "pgvector 0.8.0 or newer")
	}
	if found.Redis.Path == "" {
		plan.Missing = append(plan.Missing, "Redis 7")
	}
	plan.addTools(manager, found.Tools, o.Tools)
	if plan.Empty() {
		return plan
	}
	switch manager {
	case apt:
		planApt(ctx, found, &plan)
	case brew:
		planBrew(found, &plan)
	}
	plan.finish(manager)
	return plan
}

// The package managers that are known.
const (
	apt  = "apt"
	brew = "brew"
)

func packageManager() string {
	if runtime.GOOS == "darwin" {
		return brew
	}
	_, aptErr := exec.LookPath("apt-get")
	_, dpkgErr := exec.LookPath("dpkg")
	if aptErr == nil && dpkgErr == nil {
		return apt
	}
	return ""
}

// planApt adds the packages of the databases.
func planApt(ctx context.Context, found Found, plan *InstallPlan) {
	major := found.Postgres.Major
	if major == 0 {
		major = aptPostgresMajor(ctx)
		plan.Packages = append(plan.Packages, fmt.Sprintf("postgresql-%d", major))
	}
	if !AtLeast(found.Postgres.Vector, MinVector) {
		name := fmt.Sprintf("postgresql-%d-pgvector", major)
		if AtLeast(aptCandidate(ctx, name), MinVector) {
			plan.Packages = append(plan.Packages, name)
		} else {
			plan.BuildVector = true
			plan.Packages = append(plan.Packages, missingBuildPackages()...)
		}
	}
	if found.Redis.Path == "" {
		plan.Packages = append(plan.Packages, "redis-server")
	}
}

// missingBuildPackages are what compiling pgvector needs; clang and LLVM are not among it.
func missingBuildPackages() []string {
	var missing []string
	for _, command := range []string{"gcc", "make"} {
		_, err := exec.LookPath(command)
		if err != nil {
			missing = append(missing, command)
		}
	}
	_, err := os.Stat("/usr/include/stdio.h")
	if err != nil {
		missing = append(missing, "libc6-dev")
	}
	return missing
}
