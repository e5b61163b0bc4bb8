// Package cli is the commands of `parlance`: one file a command.
//
// Those that serve (dev, server, worker) and administer (migrate, tenants, keys) open the
// database; those that talk to an installation (chat, …) use its public API with a key, as any
// client would. Exit codes: 0 done, 1 failed, 2 called wrongly.
package cli
