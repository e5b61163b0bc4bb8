// Package command holds what all commands share: exit codes, checks of arguments, the flags for
// settings and for the data directory of `parlance dev`, and how a command opens the parts of a
// process.
package command
