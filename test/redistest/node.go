package redistest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"parlance.dev/parlance/test/child"
	"parlance.dev/parlance/test/pgtest/keeper"
	"parlance.dev/parlance/test/port"
)

// within bounds what is waited for: servers start in some tens of milliseconds, and a cluster or a
// failover takes a few seconds. A node that a busy machine keeps from answering for less is not
// down yet.
const within = 2 * time.Minute

// node is a redis-server with a TCP port on loopback, as clusters and sentinels need it.
type node struct {
	port   int
	client *redis.Client
	cmd    *exec.Cmd
	ended  <-chan struct{}
}

func (n *node) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(n.port)) }

// startNode runs a server with a password until the test ends. config is the lines of its
// configuration file, in which PORT stands for its port and BUS for another.
func startNode(t testing.TB, password, config string, args ...string) *node {
	t.Helper()
	keeper.Acquire() // installs redis-server where it is missing
	dir := t.TempDir()
	n := &node{port: freePort(t)}
	config = strings.NewReplacer("PORT", strconv.Itoa(n.port), "BUS", strconv.Itoa(freePort(t))).Replace(config)
	config = "requirepass " + password + "\nbind 127.0.0.1\nport " + strconv.Itoa(n.port) + "\ndir " + dir + "\nloglevel warning\n" + config
	path := filepath.Join(dir, "redis.conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatalf("redistest: %v", err)
	}
	n.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), "redis-server", append([]string{path},
		args...)...)
	ended, err := child.Start(n.cmd)
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	n.ended = ended
	t.Cleanup(n.kill)
	n.client = redis.NewClient(&redis.Options{
		Addr: n.address(), Password: password, MaxRetries: -1, DialerRetries: 1,
		DisableIdentity: true,
	})
	t.Cleanup(func() { _ = n.client.Close() })
	await(t, "redis answers on "+n.address(), func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", n.address())
		if err != nil {
			return err // said here because the client would write it to the standard log
		}
		_ = conn.Close() // only tried
		return n.client.Ping(ctx).Err()
	})
	return n
}

// kill ends the server as a crash would.
func (n *node) kill() {
	_ = n.cmd.Process.Kill() // it may have ended
	<-n.ended
}

// freePort is a port that nobody else listens on while the test runs.
func freePort(t testing.TB) int {
	t.Helper()
	address, err := netip.ParseAddrPort(port.Reserve(t))
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	return int(address.Port())
}

// await asks until there is no error.
func await(t testing.TB, what string, ask func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("redistest: not within %s: %s: %v", within, what, err)
		}
	}
}

// NewCluster starts a Redis Cluster of three nodes, without replicas, and returns its URL.
func NewCluster(t testing.TB) string {
	t.Helper()
	const nodes, slots = 3, 16384
	var all []*node
	for i := range nodes {
		n := startNode(t, "secret", "cluster-enabled yes\ncluster-port BUS\ncluster-node-timeout 15000\nsave \"\"\nmasterauth secret\n")
		if err := n.client.ClusterAddSlotsRange(t.Context(), i*slots/nodes, (i+1)*slots/nodes-1).Err(); err != nil {
			t.Fatalf("redistest: %v", err)
		}
		all = append(all, n)
	}
	var hosts []string
	for _, n := range all {
		hosts = append(hosts, n.address())
		info, err := n.client.ConfigGet(t.Context(), "cluster-port").Result()
		if err == nil {
			err = all[0].client.Do(t.Context(), "CLUSTER", "MEET", "127.0.0.1", n.port, info["cluster-port"]).Err()
		}
		if err != nil {
			t.Fatalf("redistest: %v", err)
		}
	}
	for _, n := range all {
		await(t, "the cluster is whole", func(ctx context.Context) error {
			info, err := n.client.ClusterInfo(ctx).Result()
			if err == nil && (!strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_known_nodes:3")) {
				err = fmt.Errorf("it says %s", info)
			}
			return err
		})
	}
	return "redis+cluster://:secret@" + strings.Join(hosts, ",")
}

// Sentinels are three sentinels that watch a master with one replica.
type Sentinels struct {
	// URL names the sentinels and the master.
	URL string

	t       testing.TB
	master  *node
	replica *node
}

// NewSentinels starts the five processes. Data and sentinels have passwords of their own.
func NewSentinels(t testing.TB) *Sentinels {
	t.Helper()
	const data = "save \"\"\nmasterauth secret\n"
	s := &Sentinels{t: t, master: startNode(t, "secret", data)}
	s.replica = startNode(t, "secret", data+"replicaof 127.0.0.1 "+strconv.Itoa(s.master.port)+"\nrepl-diskless-sync-delay 0\n")
	var hosts []string
	for range 3 {
		config := "sentinel monitor mymaster 127.0.0.1 " + strconv.Itoa(s.master.port) + " 2\nsentinel auth-pass mymaster secret\n" +
			"sentinel down-after-milliseconds mymaster 5000\nsentinel failover-timeout mymaster 10000\nsentinel sentinel-pass watch\n"
		hosts = append(hosts, startNode(t, "watch", config, "--sentinel").address())
	}
	s.URL = "redis+sentinel://:secret@" + strings.Join(hosts, ",") + "/mymaster?sentinel_password=watch"
	await(t, "the replica follows, and the sentinels see it and each other", func(ctx context.Context) error {
		for _, host := range hosts {
			sentinel := redis.NewSentinelClient(&redis.Options{Addr: host, Password: "watch", DisableIdentity: true})
			state, err := sentinel.Master(ctx, "mymaster").Result()
			_ = sentinel.Close() // nothing is in flight
			if err != nil {
				return err
			}
			if state["num-slaves"] != "1" || state["num-other-sentinels"] != "2" {
				return fmt.Errorf("%s sees %s replicas and %s sentinels", host, state["num-slaves"], state["num-other-sentinels"])
			}
		}
		info, err := s.replica.client.Info(ctx, "replication").Result()
		if err == nil && !strings.Contains(info, "master_link_status:up") {
			err = fmt.Errorf("the replica says %s", info)
		}
		return err
	})
	return s
}

// Fail kills the master and returns when the replica has taken over.
func (s *Sentinels) Fail() {
	s.t.Helper()
	s.master.kill()
	await(s.t, "the replica takes over", func(ctx context.Context) error {
		role, err := s.replica.client.Do(ctx, "ROLE").Slice()
		if err == nil && role[0] != "master" {
			err = fmt.Errorf("it is a %v", role[0])
		}
		return err
	})
}
