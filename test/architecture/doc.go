// Package architecture tests how the code is put together: which packages may import which (a
// folder that is not in the table fails, so that a new room gets a place first), which files of a
// package may use which, and how long lines, files and packages may be.
package architecture
