// Package privacy is the command `parlance privacy`: the export and the erasure of what is kept
// about a user, over the public API.
package privacy
