package devstack

import "path/filepath"

// This file is the recipe for macOS. It was written from the documentation of Homebrew and of its
// formulas, and HAS NOT BEEN TRIED on a Mac; only what it decides is tested, on Linux.
//
//   - Homebrew lives in /opt/homebrew on Apple silicon and in /usr/local on Intel.
//   - postgresql@17 is keg-only: it is not linked into bin, but opt/postgresql@17 always leads to
//     it.
//   - pgvector is built for the two newest versioned Postgres formulas of its day, and puts
//     vector.control where their pg_config --sharedir points. There is none for older majors, and
//     we build none here.
//   - redis is linked into bin; nothing has to be started by `brew services`: we run our own.
//   - brew refuses to run as root and may ask questions, so we print its line and do not run it.

// brewMajor is the formula of Postgres to install. Homebrew's pgvector is built for it.
const brewMajor = "postgresql@17"

// brewPrefixes are where Homebrew lives, by processor.
var brewPrefixes = []string{"/opt/homebrew", "/usr/local"}

// brewPostgres are patterns of the directories with Homebrew's initdb and postgres; Postgres.app's
// come behind them.
func brewPostgres() []string {
	var patterns []string
	for _, prefix := range brewPrefixes {
		patterns = append(patterns, filepath.Join(prefix, "opt/postgresql@*/bin"), filepath.Join(prefix, "opt/postgresql/bin"))
	}
	return append(patterns, "/Applications/Postgres.app/Contents/Versions/*/bin")
}

// brewRedis are the paths of Homebrew's redis-server.
func brewRedis() []string {
	var paths []string
	for _, prefix := range brewPrefixes {
		paths = append(paths, filepath.Join(prefix, "bin/redis-server"), filepath.Join(prefix, "opt/redis/bin/redis-server"))
	}
	return paths
}

// brewedFirst puts installations with a good pgvector before those without: on macOS we build
// none, so a newer Postgres without it is of no use beside an older one that has it.
func brewedFirst(a, b Postgres) int {
	has := func(pg Postgres) int {
		if AtLeast(pg.Vector, MinVector) {
			return 1
		}
		return 0
	}
	return has(b) - has(a)
}

// planBrew adds the packages of the databases.
func planBrew(found Found, plan *InstallPlan) {
	if found.Postgres.BinDir == "" || !AtLeast(found.Postgres.Vector, MinVector) {
		plan.Packages = append(plan.Packages, brewMajor, "pgvector")
	}
	if found.Redis.Path == "" {
		plan.Packages = append(plan.Packages, "redis")
	}
}
