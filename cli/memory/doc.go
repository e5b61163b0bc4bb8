// Package memory is the command `parlance memory`: what is remembered of users, over the public
// API.
package memory
