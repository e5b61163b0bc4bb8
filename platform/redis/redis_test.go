package redis_test

import (
	"net"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/platform/redis"
	"parlance.dev/parlance/test/redistest"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	client, err := redis.Open(redis.Config{URL: redistest.New(t), PoolSize: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := redis.Ping(t.Context(), client, redis.ReadyWithin); err != nil {
		t.Fatal(err)
	}
	if name, err := client.ClientGetName(t.Context()).Result(); err != nil || name != "parlance" {
		t.Errorf("client name %q, %v", name, err)
	}
	if got := single(t, client).Options(); got.PoolSize != 3 || got.ReadTimeout != 3*time.Second || got.WriteTimeout != 3*time.Second {
		t.Errorf("options %+v", got)
	}
}

// single is the client of one server.
func single(t *testing.T, client goredis.UniversalClient) *goredis.Client {
	t.Helper()
	one, ok := client.(*goredis.Client)
	if !ok {
		t.Fatalf("got a %T", client)
	}
	return one
}

func TestOpenReadsURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]struct{ network, addr string }{
		"redis://:pw@redis.internal:6380/2":        {"tcp", "redis.internal:6380"},
		"rediss://redis.internal?read_timeout=10s": {"tcp", "redis.internal:6379"},
		"unix:///run/redis.sock?db=3":              {"unix", "/run/redis.sock"},
	} {
		client, err := redis.Open(redis.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		got := single(t, client).Options()
		if got.Network != want.network || got.Addr != want.addr || (got.TLSConfig != nil) != strings.HasPrefix(url, "rediss") {
			t.Errorf("%s: %s %s, TLS %v", url, got.Network, got.Addr, got.TLSConfig != nil)
		}
		if strings.Contains(url, "10s") && got.ReadTimeout != 10*time.Second {
			t.Errorf("%s: the URL's time-out lost to %v", url, got.ReadTimeout)
		}
		client.Close()
	}
	for _, url := range []string{"", "http://:hunter2@x", "redis://:hunter2@x:port", "localhost:6379"} {
		if _, err := redis.Open(redis.Config{URL: url}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open(%q) = %v, want an error without the password", url, err)
		}
	}
}

// TestPingGivesUp asks a server that accepts and never answers.
func TestPingGivesUp(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	client, err := redis.Open(redis.Config{URL: "redis://" + silent.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	start := time.Now()
	if err := redis.Ping(t.Context(), client, redis.ReadyWithin); err == nil || time.Since(start) > 10*time.Second {
		t.Errorf("Ping = %v after %v", err, time.Since(start))
	}
}
