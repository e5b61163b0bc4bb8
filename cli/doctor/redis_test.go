package doctor_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/cli/doctor"
	"parlance.dev/parlance/test/redistest"
)

// TestRedis breaks a Redis in several ways.
func TestRedis(t *testing.T) {
	t.Parallel()
	in := install(t)
	server := redistest.NewServer(t)
	options, err := goredis.ParseURL(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := goredis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	set := func(name, value string) {
		t.Helper()
		if err := client.ConfigSet(t.Context(), name, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	own := in.with("REDIS_URL", server.URL)
	set("appendonly", "no")
	found := own.examine(t, "redis", nil)
	wants(t, found, "eviction", doctor.OK, "noeviction")
	wants(t, found, "persistence", doctor.Warning, "no append-only file")

	set("maxmemory-policy", "allkeys-lru")
	wants(t, own.examine(t, "redis", nil), "eviction", doctor.Failed, "allkeys-lru")

	set("maxmemory", "1")
	wants(t, own.examine(t, "redis", nil), "memory", doctor.Warning, "of maxmemory")
	set("maxmemory", "0")

	if err := client.Do(t.Context(), "ACL", "SETUSER", "reader", "on", ">secret", "~*", "+@read", "+ping", "+info",
		"+hello", "+client").Err(); err != nil {
		t.Fatal(err)
	}
	reader := in.with("REDIS_URL", strings.Replace(server.URL, "unix://", "unix://reader:secret@", 1))
	advice := wants(t, reader.examine(t, "redis", nil), "writable", doctor.Failed, "NOPERM")
	if !strings.Contains(advice, "ACL SETUSER") {
		t.Errorf("advice %q", advice)
	}

	set("requirepass", "hunter2")
	if advice := wants(t, own.examine(t, "redis", nil), "reach", doctor.Failed, "NOAUTH"); !strings.Contains(advice, "password") {
		t.Errorf("advice %q", advice)
	}
}

func TestRedisOutOfReach(t *testing.T) {
	t.Parallel()
	in := install(t)
	wants(t, in.with("REDIS_URL", "redis://:hunter2@127.0.0.1:1/0").examine(t, "redis", nil), "reach", doctor.Failed, "refused")
	wants(t, in.with("REDIS_URL", "http://somewhere").examine(t, "redis", nil), "reach", doctor.Failed, "not understood")
}

// withQuery sets a parameter of a connection URL.
func withQuery(t *testing.T, address, name, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String()
}

// databaseNamed is the same server with another database.
func databaseNamed(t *testing.T, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + filepath.Base(name)
	return u.String()
}
