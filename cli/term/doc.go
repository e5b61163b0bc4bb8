// Package term writes for people at a terminal: how many columns a text takes, texts that cannot
// reprogram the terminal, a little colour, tables, and rows that are drawn over themselves.
package term
