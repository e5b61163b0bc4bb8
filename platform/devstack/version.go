package devstack

import (
	"cmp"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Version is a dotted number such as 15.18 or 0.8.0; parts that are absent count as zero.
type Version [3]int

// The oldest versions that Parlance works with.
var (
	// MinPostgres is the oldest major whose CREATE DATABASE and MERGE we rely on.
	MinPostgres = Version{15}
	// MinRedis has the stream and function commands that the queue's scripts were tried with.
	MinRedis = Version{7}
	// MinVector has halfvec and hnsw.iterative_scan.
	MinVector = Version{0, 8, 0}
	// SafeVector is the first without CVE-2026-3172, a fault in parallel HNSW builds.
	SafeVector = Version{0, 8, 2}
)

var versionPattern = regexp.MustCompile(`\d+(?:\.\d+){0,2}`)

// parseVersion reads the first dotted number in text; ok is false when there is none.
func parseVersion(text string) (v Version, ok bool) {
	found := versionPattern.FindString(text)
	if found == "" {
		return Version{}, false
	}
	for i, part := range strings.Split(found, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return Version{}, false
		}
		v[i] = n
	}
	return v, true
}

func (v Version) less(other Version) bool {
	return cmp.Or(cmp.Compare(v[0], other[0]), cmp.Compare(v[1], other[1]), cmp.Compare(v[2], other[2])) < 0
}

var defaultVersionPattern = regexp.MustCompile(`(?m)^\s*default_version\s*=\s*'([^']+)'`)

// controlVersion reads default_version of an extension's control file. Presence of the file says
// too little: Ubuntu 24.04 ships pgvector 0.6.
func controlVersion(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	match := defaultVersionPattern.FindSubmatch(content)
	if match == nil {
		return ""
	}
	return string(match[1])
}

// AtLeast reports whether text holds a version that is not older than least.
func AtLeast(text string, least Version) bool {
	v, ok := parseVersion(text)
	return ok && !v.less(least)
}
