// Package figures is how measurements are written down: rows with a floor, a ratio and a target,
// in docs/benchmarks.json for programs and docs/benchmarks.md for people. Each command that
// measures owns a part of both files and leaves the others as they are.
//
// It measures nothing.
package figures
