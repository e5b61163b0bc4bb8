// Package failure is why a call of a tool failed: a stable code, and a sentence that tells the
// model what to do.
package failure
