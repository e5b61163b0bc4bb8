// Package term reads and writes terminals: widths of texts, removal of control characters, colours,
// tables, rows that are redrawn, steps of a command, and questions.
package term
