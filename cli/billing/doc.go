// Package billing has the commands about what a tenant pays for: `parlance billing`. They speak to
// a running installation like any customer.
package billing
