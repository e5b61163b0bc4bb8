// Package wire is the one JSON form of the contract's messages, whichever door they leave by:
// REST, Connect, events, uploads, the command line.
package wire
