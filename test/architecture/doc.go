// Package architecture tests the directions that packages may depend in. Its table knows every
// folder at the root; a folder that is not in it fails, so that a new room gets a place first.
package architecture
