// Package memo remembers what is costly to find out about words, for everybody in the process: what
// one document's words cost need not be paid for the next one's. It is bounded and forgets what
// nobody has asked for lately.
package memo
