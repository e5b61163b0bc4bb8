// Command bench measures the running service and writes docs/benchmarks.md and
// docs/benchmarks.json:
//
//	go run ./test/bench              # requests, turns and memory: about four minutes
//	go run ./test/bench --only turn  # one part, printed and not written
//	go run ./test/bench -kb          # the knowledge base, with a worker: about ten minutes
//	go run ./test/bench -sessions    # sessions and their sockets: about six minutes
//	go run ./test/bench -webhooks    # deliveries of events, with a worker: about three minutes
//	go run ./test/bench -tools       # calls of tools: half a minute
//
// It starts a private Postgres that syncs to disk, a private Redis and `parlance server` as its own
// process, and loads it over loopback, so that the CPU time of the server is measured apart from
// that of its callers, Postgres and Redis. Each figure stands beside a floor that is measured in
// the same run and in turns with it: the same SQL sent by a bare client, pgbench with the same
// statements, the same call by another protocol. A figure is the median of the rounds; on a busy
// machine ratios move less than times.
//
// CPU is user and system time of a process as Linux counts it, so this runs on Linux only.
package main
