// Package client holds what the commands share that call an installation over its public API: the
// flags that name it, the HTTP client and credentials, and explanations of refused calls.
package client
