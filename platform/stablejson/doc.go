// Package stablejson is the one JSON form of the contract's messages, whichever way they leave:
// REST, Connect, events, uploads, the command line.
package stablejson
