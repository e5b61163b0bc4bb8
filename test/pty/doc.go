// Package pty makes pseudo terminals for tests of what a person types.
package pty
