package doctor

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/redis"
)

const (
	nonceLife   = 2 * time.Minute
	slowRedis   = 5 * time.Millisecond
	fullPercent = 80
)

func checkRedis(ctx context.Context, d Deps, r *report) {
	if d.Config.RedisURL == "" {
		r.skip("reach", "REDIS_URL is not set")
		return
	}
	client, err := redis.Open(redis.Config{URL: d.Config.RedisURL.Reveal()})
	if err != nil {
		r.fail("reach", "Write REDIS_URL as redis://user:password@host:6379/0, or rediss:// for TLS; percent-encode the password.", "%v", err)
		return
	}
	defer func() { _ = client.Close() }() // only used here
	if err := redis.Ping(ctx, client, connectWithin); err != nil {
		r.fail("reach", adviceForRedis(err), "%v", err)
		return
	}
	r.ok("reach", "Redis answers")
	info := redisInfo(ctx, client)
	sayRedisVersion(info, r)
	sayEviction(ctx, client, info, r)
	sayPersistence(info, r)
	sayRole(info, r)
	sayMemory(info, r)
	checkNodes(ctx, client, r)
	tryRedis(ctx, d, client, r)
	err = compareClocks("Redis", slowRedis, d.Now, r, func() (time.Time, error) { return client.Time(ctx).Result() })
	if err != nil {
		r.skip("clock", "Redis does not tell the time")
	}
}

func adviceForRedis(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "NOAUTH"), strings.Contains(text, "WRONGPASS"), strings.Contains(text, "AUTH"):
		return "Put the right user and password into REDIS_URL: redis://user:password@host:6379/0."
	case strings.Contains(text, "NOPERM"):
		return "Allow the user every command on every key: ACL SETUSER name ~* &* +@all."
	case strings.Contains(text, "LOADING"):
		return "Redis is reading its data; try again."
	case strings.Contains(text, "first record does not look like a TLS handshake"):
		return "This port speaks no TLS: write redis:// instead of rediss://."
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "Correct the host in REDIS_URL, or the name service of this machine."
	}
	return "See that Redis runs, that REDIS_URL names its host and port (rediss:// when it wants TLS), and that no firewall is between."
}

// redisInfo returns INFO by name. It lacks what the server does not report.
func redisInfo(ctx context.Context, client goredis.UniversalClient) map[string]string {
	info := map[string]string{}
	text, err := client.Info(ctx).Result()
	if err != nil {
		return info // the checks report missing values
	}
	for line := range strings.Lines(text) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			info[name] = value
		}
	}
	return info
}

func sayRedisVersion(info map[string]string, r *report) {
	version := info["redis_version"]
	switch {
	case version == "":
		r.warn("version", "Allow INFO to the user, so that doctor can look.", "Redis does not tell its version")
	case !devstack.AtLeast(version, devstack.MinRedis):
		r.fail("version", "Upgrade to Redis 7 or newer.", "Redis %s is too old", version)
	case info["valkey_version"] != "":
		r.ok("version", "Valkey %s, as Redis %s", info["valkey_version"], version)
	default:
		r.ok("version", "Redis %s", version)
	}
}

// sayEviction warns of eviction: a queue whose keys are evicted loses tasks.
func sayEviction(ctx context.Context, client goredis.UniversalClient, info map[string]string, r *report) {
	policy := info["maxmemory_policy"]
	if policy == "" {
		if answer, err := client.ConfigGet(ctx, "maxmemory-policy").Result(); err == nil {
			policy = answer["maxmemory-policy"]
		}
	}
	const advice = "Set maxmemory-policy noeviction (CONFIG SET maxmemory-policy noeviction, and in redis.conf or your provider's settings)."
	switch policy {
	case "":
		r.warn("eviction", advice, "Redis does not tell its maxmemory-policy")
	case "noeviction":
		r.ok("eviction", "noeviction")
	default:
		r.fail("eviction", advice, "maxmemory-policy is %s: Redis may throw away tasks when it is full", policy)
	}
}

func sayPersistence(info map[string]string, r *report) {
	switch {
	case info["aof_enabled"] == "" && info["rdb_last_bgsave_status"] == "":
		r.skip("persistence", "Redis does not tell whether it writes to disk")
	case info["aof_enabled"] == "1" && info["aof_last_write_status"] != "" && info["aof_last_write_status"] != "ok":
		r.fail("persistence", "See the disk and the log of Redis: it refuses writes while this lasts.", "the append-only file cannot be written")
	case info["aof_enabled"] == "1":
		r.ok("persistence", "an append-only file is written")
	case info["rdb_last_bgsave_status"] == "err":
		r.fail("persistence", "See the disk and the log of Redis: it refuses writes while this lasts.", "the last snapshot failed")
	default:
		r.warn("persistence",
			"Set appendonly yes. Nothing is lost without it: tasks are found again in Postgres, some seconds later.", "there is no append-only file")
	}
}

func sayRole(info map[string]string, r *report) {
	if role := info["role"]; role == "slave" {
		r.fail("writable", "Point REDIS_URL to the primary.", "this is a replica: it cannot be written to")
	}
}

func sayMemory(info map[string]string, r *report) {
	used, most := number(info["used_memory"]), number(info["maxmemory"])
	if most > 0 && used*100 > most*fullPercent {
		r.warn("memory", "Raise maxmemory, and see with `parlance doctor` whether work piles up.",
			"%d %% of maxmemory is used; writes are refused at 100 %%", used*100/most)
	}
}

// checkNodes asks every primary of a cluster. INFO came from only one.
func checkNodes(ctx context.Context, client goredis.UniversalClient, r *report) {
	if _, isCluster := client.(*goredis.ClusterClient); !isCluster {
		return
	}
	warnings, err := redis.Inspect(ctx, client)
	if err != nil {
		r.fail("nodes", "See that every node of the cluster can be reached from here, by the address it gives itself.", "%v", err)
		return
	}
	for _, warning := range warnings {
		r.fail("nodes", "Set it on every node, and in each one's redis.conf.", "%s", warning)
	}
	if len(warnings) == 0 {
		r.ok("nodes", "every primary of the cluster is as it should be")
	}
}

// tryRedis writes, reads and deletes a key.
func tryRedis(ctx context.Context, d Deps, client goredis.UniversalClient, r *report) {
	key := "parlance:doctor:" + d.Nonce()
	err := client.Set(ctx, key, "1", time.Minute).Err()
	if err == nil {
		err = client.Del(ctx, key).Err()
	}
	if err != nil {
		r.fail("writable", adviceForRedis(err), "a key cannot be written: %v", err)
		return
	}
	r.ok("writable", "a key was written and deleted")
}
