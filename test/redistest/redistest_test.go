package redistest_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"parlance.dev/parlance/test/redistest"
)

func client(t *testing.T, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatalf("parse %q: %v", url, err)
	}
	options.MaxRetries = -1
	c := redis.NewClient(options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestNew(t *testing.T) {
	t.Parallel()
	first, second := redistest.New(t), redistest.New(t)
	if first == second {
		t.Fatalf("both tests got %s", first)
	}
	err := client(t, first).Set(t.Context(), "key", "value", 0).Err()
	if err != nil {
		t.Fatalf("set: %v", err)
	}
	keys, err := client(t, second).DBSize(t.Context()).Result()
	if err != nil || keys != 0 {
		t.Errorf("other database has %d keys, %v, want 0", keys, err)
	}
	if strings.HasSuffix(first, "db=0") {
		t.Errorf("New handed out database 0: %s", first)
	}
}

func TestNewReturnsFlushed(t *testing.T) {
	t.Parallel()
	var left string
	t.Run("Leave", func(t *testing.T) {
		left = redistest.New(t)
		err := client(t, left).Set(t.Context(), "left-behind", "value", 0).Err()
		if err != nil {
			t.Fatalf("set: %v", err)
		}
	})
	keys, err := client(t, left).Exists(t.Context(), "left-behind").Result()
	if err != nil || keys != 0 {
		t.Errorf("it is still there after the test that set it: %d, %v", keys, err)
	}
}

func TestServer(t *testing.T) {
	t.Parallel()
	server := redistest.NewServer(t)
	c := client(t, server.URL)
	set := func(value string) {
		t.Helper()
		err := c.Set(t.Context(), "key", value, 0).Err()
		if err != nil {
			t.Fatalf("set: %v", err)
		}
	}
	set("one")
	server.Stop()
	err := c.Ping(t.Context()).Err()
	if err == nil {
		t.Error("stopped server answers")
	}
	server.Start()
	got, err := c.Get(t.Context(), "key").Result()
	if err != nil || got != "one" {
		t.Errorf("after restart key = %q, %v, want one", got, err)
	}
	server.Kill()
	err = c.Ping(t.Context()).Err()
	if err == nil {
		t.Error("killed server answers")
	}
	server.Start()
	err = c.Ping(t.Context()).Err()
	if err != nil {
		t.Errorf("ping after kill and start: %v", err)
	}
	for name, want := range map[string]string{"maxmemory-policy": "noeviction", "auto-aof-rewrite-min-size": strconv.Itoa(256 << 20)} {
		got, err := c.ConfigGet(t.Context(), name).Result()
		if err != nil || got[name] != want {
			t.Errorf("%s = %v, %v, want %s", name, got, err, want)
		}
	}
}
