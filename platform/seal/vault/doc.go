// Package vault wraps data keys with a key of HashiCorp Vault's (or OpenBao's) transit engine,
// over its plain HTTP API: POST /v1/<mount>/encrypt/<name> and …/decrypt/<name>. The master key
// never leaves Vault, whose policy must allow "update" on both paths. What is wrapped is bound to
// its place by Vault (associated_data) and once more by a hash inside, for engines without it.
package vault
