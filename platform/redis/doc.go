// Package redis opens the Redis client of a process: one place for time-outs and for what a
// URL may say. Redis is speed and never truth; it should run with maxmemory-policy noeviction
// and an append-only file, or queued tasks wait for the sweeper to be made again.
package redis
