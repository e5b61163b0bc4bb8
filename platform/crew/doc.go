// Package crew runs short work in goroutines that stay when it is done.
//
// A new goroutine begins with a small stack. Work that goes deep, into a statement or an encoder, has it copied two
// or three times on its way down; and a goroutine that waits for the next piece of work of one among thousands
// keeps what it grew to. A crew has as many goroutines as there is work at once, and their stacks are as deep as the
// work before needed. Whoever waits long, for a client or a model, belongs in a goroutine of its own.
package crew
