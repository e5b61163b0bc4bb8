// Package parlance is a client of Parlance, the service for conversational agents.
package parlance

// Reason says why a call was refused: the code of a problem, see docs/errors.md.
type Reason string
