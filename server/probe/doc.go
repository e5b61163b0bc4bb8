// Package probe tells `parlance doctor` what reaches a server through the proxies before it:
// headers, whole bodies or pieces, event streams, WebSockets. It answers only to a nonce that
// doctor left in the installation's Redis; to everybody else its path does not exist.
package probe
