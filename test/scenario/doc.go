// Package scenario holds the product to its promises from outside: every protocol, bad input,
// other tenants, crashes, and the way from a document to a signed webhook. See package harness.
package scenario
