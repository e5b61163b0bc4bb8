package redis_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/redis"
	"parlance.dev/parlance/test/redistest"
)

// patience bounds every wait.
const patience = 2 * time.Minute

func openAt(t *testing.T, url string) goredis.UniversalClient {
	t.Helper()
	client, err := redis.Open(redis.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// work runs a worker on the client until the test ends; each task it has run goes into the channel.
func work(t *testing.T, client goredis.UniversalClient) <-chan string {
	t.Helper()
	ran := make(chan string, 100) // more than any test makes
	server, err := queue.NewServer(queue.ServerConfig{
		Redis: client, Logger: slog.New(slog.DiscardHandler), ShutdownTimeout: time.Second,
		Handlers: map[string]queue.HandlerFunc{"t": func(_ context.Context, payload []byte) error { ran <- string(payload); return nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return ran
}

// enqueueAll makes a task in every queue, which hash to different nodes, trying again while Redis
// is away: as the sweeper does.
func enqueueAll(t *testing.T, client goredis.UniversalClient, name string) {
	t.Helper()
	tasks := queue.NewClient(client)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, q := range queue.Names() {
		for {
			err := tasks.Enqueue(ctx, queue.Task{Type: "t", ID: name + string(q), Queue: q, Payload: name + string(q)})
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				t.Fatal(err)
			}
		}
	}
}

func awaitAll(t *testing.T, ran <-chan string, name string) {
	t.Helper()
	deadline := time.After(patience)
	seen := map[string]bool{}
	for len(seen) < len(queue.Names()) {
		select {
		case payload := <-ran:
			if payload = strings.Trim(payload, `"`); strings.HasPrefix(payload, name) {
				seen[payload] = true
			}
		case <-deadline:
			t.Fatalf("of %s only %v ran", name, seen)
		}
	}
}

// TestCluster: what we and the queue's library do holds in a Redis Cluster of three nodes.
func TestCluster(t *testing.T) {
	t.Parallel()
	client := openAt(t, redistest.NewCluster(t))
	if _, ok := client.(*goredis.ClusterClient); !ok {
		t.Fatalf("got a %T", client)
	}
	if err := redis.Ping(t.Context(), client, redis.ReadyWithin); err != nil {
		t.Fatal(err)
	}
	ran := work(t, client)
	enqueueAll(t, client, "a")
	awaitAll(t, ran, "a")
	if warnings, err := redis.Inspect(t.Context(), client); err != nil || len(warnings) > 0 {
		t.Errorf("Inspect: %v, %v", warnings, err)
	}
	nodes := client.(*goredis.ClusterClient)
	err := nodes.ForEachMaster(t.Context(), func(ctx context.Context, node *goredis.Client) error {
		if node.Options().ClientName != "parlance" {
			return errors.New("a node's client has another name")
		}
		return node.ConfigSet(ctx, "maxmemory-policy", "allkeys-lru").Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	if warnings, err := redis.Inspect(t.Context(), client); err != nil || len(warnings) != 1 ||
		!strings.Contains(warnings[0], "allkeys-lru: set it to noeviction") {
		t.Errorf("Inspect: %v, %v", warnings, err)
	}
}

// TestSentinel: the queue goes on when the master dies and its replica takes over.
func TestSentinel(t *testing.T) {
	t.Parallel()
	sentinels := redistest.NewSentinels(t)
	client := openAt(t, sentinels.URL)
	ran := work(t, client)
	enqueueAll(t, client, "before")
	awaitAll(t, ran, "before")
	sentinels.Fail()
	enqueueAll(t, client, "after")
	awaitAll(t, ran, "after")
}

// TestURLsOfMany reads what the test servers do not have.
func TestURLsOfMany(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"redis+sentinel://h1,h2:26380/mymaster",
		"rediss+sentinel://user:p%40ss@h1:26379,h2:26379/mymaster?db=3&sentinel_username=s&sentinel_password=p",
		"redis-sentinel://h1:26379/mymaster", "redis+cluster://h1,h2,[::1]:7000", "rediss+cluster://:p@h1:6379?read_timeout=5s",
		"redis+cluster://h1:6379/",
	} {
		if _, err := redis.Open(redis.Config{URL: url}); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	for url, want := range map[string]string{
		"redis+sentinel://:hunter2@h1:26379": "lacks the name of the master", "redis+cluster://:hunter2@h1:6379/2": "has only one",
		"redis+cluster://:hunter2@": "not understood", "http+cluster://h1": "not understood",
		"redis+sentinel://h1/m?db=hunter2":          "not understood",
		"redis+cluster://h1?no_such_option=hunter2": "not understood",
	} {
		_, err := redis.Open(redis.Config{URL: url})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}

// TestACL: a user with the rights that docs/operations.md names is enough.
func TestACL(t *testing.T) {
	t.Parallel()
	server := redistest.NewServer(t)
	rights := []any{"ACL", "SETUSER", "app", "on", ">p@ss", "~asynq:*", "~parlance:*", "&asynq:*", "+@all", "-@dangerous", "+info"}
	if err := openAt(t, server.URL).Do(t.Context(), rights...).Err(); err != nil {
		t.Fatal(err)
	}
	client := openAt(t, strings.Replace(server.URL, "unix://", "unix://app:p%40ss@", 1))
	ran := work(t, client)
	enqueueAll(t, client, "a")
	awaitAll(t, ran, "a")
	if err := redis.PutNonce(t.Context(), client, "n", time.Minute); err != nil {
		t.Error(err)
	}
	if warnings, err := redis.Inspect(t.Context(), client); err != nil || len(warnings) > 0 {
		t.Errorf("Inspect: %v, %v", warnings, err)
	}
	if err := client.FlushAll(t.Context()).Err(); err == nil {
		t.Error("the user may do anything, so this test shows nothing")
	}
}
