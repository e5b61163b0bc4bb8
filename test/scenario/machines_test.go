//go:build s3

package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/load"
	"parlance.dev/parlance/test/netns"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/port"
	"parlance.dev/parlance/test/redistest"
)

// machines are four machines: two with a server and two with a worker, each in a network of its own
// that leads to Postgres, Redis, the store of .ci/s3 and the customers' endpoints, and not to one
// another. Their data directories are their own.
type machines struct{ *chaos }

// TestMachines: what is given to one machine is there at the others, and none of it is lost or
// doubled while one machine after the other is deployed anew.
func TestMachines(t *testing.T) {
	m := newMachines(t)
	m.rollout() // first: the auditor knows what the customers did, and nothing of what follows
	m.files()
	m.socket()
	m.turn()
}

func newMachines(t *testing.T) machines {
	t.Helper()
	c := &chaos{
		t: t, rand: rand.New(rand.NewPCG(1, 0)), postgres: pgtest.NewServer(t), redis: redistest.NewServer(t), shop: httptool.New(t),
		faults: map[string]int{}, recoveries: map[string][]time.Duration{},
	}
	socket, err := url.Parse(c.redis.URL)
	if err != nil {
		t.Fatal(err)
	}
	c.toPostgres = harness.NewProxy(t, harness.Target{Network: "unix", Address: c.postgres.Socket})
	c.toRedis = harness.NewProxy(t, harness.Target{Network: "unix", Address: socket.Path})
	shared := []string{c.toPostgres.Address, c.toRedis.Address, hostOf(t, c.shop.URL)}
	for range 4 {
		c.hooks = append(c.hooks, receiver.New(t))
		shared = append(shared, hostOf(t, c.hooks[len(c.hooks)-1].URL))
	}
	bucket, err := url.Parse(os.Getenv("PARLANCE_TEST_S3_URL"))
	if err != nil || bucket.Host == "" {
		t.Fatalf("PARLANCE_TEST_S3_URL names no bucket (%v): run .ci/s3", err)
	}
	bucket.Path = fmt.Sprintf("/machines-%d", os.Getpid())
	shared = append(shared, hostOf(t, bucket.Query().Get("endpoint")))

	listens := []string{port.Reserve(t), port.Reserve(t)}
	networks := []*netns.Namespace{newNetwork(t, "server-1", shared), newNetwork(t, "server-2", shared)}
	var fronts []harness.Target
	for i, network := range networks {
		target := harness.Target{Network: "tcp", Address: listens[i], DialFunc: network.Dial}
		fronts = append(fronts, target)
		c.addresses = append(c.addresses, harness.NewProxy(t, target).Address)
	}
	c.toFront = harness.NewProxy(t, fronts...)
	c.Env = harness.Start(t, harness.Options{
		DatabaseURL: c.postgres.URL, RedisURL: c.redis.URL, WithoutServer: true, WithoutWorker: true,
		Settings: map[string]string{
			"DATABASE_URL": c.postgres.TCPURL(c.toPostgres.Address), "REDIS_URL": "redis://" + c.toRedis.Address,
			"PARLANCE_DATABASE_DIRECT_URL": "",
			"PARLANCE_PUBLIC_URL":          "http://" + c.toFront.Address, "PARLANCE_EGRESS_CA_FILE": c.hooks[0].CAFile(t),
			"PARLANCE_LOG_LEVEL": "error", "PARLANCE_BLOB_URL": bucket.String(), "PARLANCE_SPILL_DIR": "off",
			"PARLANCE_S3_ACCESS_KEY_ID":     os.Getenv("PARLANCE_S3_ACCESS_KEY_ID"),
			"PARLANCE_S3_SECRET_ACCESS_KEY": os.Getenv("PARLANCE_S3_SECRET_ACCESS_KEY"),
		},
	})
	c.URL = "http://" + c.toFront.Address
	c.BlobDir = filepath.Join(os.Getenv("PARLANCE_TEST_S3_DIR"), bucket.Path) // versitygw keeps objects as files
	for i, network := range networks {
		c.serverEnvs = append(c.serverEnvs, c.With(map[string]string{
			"PARLANCE_LISTEN": listens[i], "PARLANCE_SPILL_DIR": t.TempDir(),
		}).Within(network.Command()...))
		worker := newNetwork(t, fmt.Sprintf("worker-%d", i+1), shared)
		c.workerEnvs = append(c.workerEnvs, c.With(map[string]string{"PARLANCE_SCRATCH_DIR": t.TempDir()}).Within(worker.Command()...))
	}
	c.start()
	return machines{c}
}

// newNetwork makes a network from which the shared addresses can be reached, and nothing else.
func newNetwork(t *testing.T, name string, shared []string) *netns.Namespace {
	t.Helper()
	network := netns.New(t, name)
	for _, address := range shared {
		harness.NewProxyAt(t, network.Listen(address), harness.Target{Network: "tcp", Address: address})
	}
	return network
}

// hostOf returns host:port of a URL.
func hostOf(t *testing.T, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil || u.Port() == "" {
		t.Fatalf("%q has no host and port: %v", raw, err)
	}
	return net.JoinHostPort(u.Hostname(), u.Port())
}

// at is the installation as one server shows it.
func (m machines) at(i int) *harness.Env {
	there := *m.Env
	there.URL = "http://" + m.addresses[i]
	return &there
}

// files are uploaded at one server, ingested by a worker, and downloaded from the other server.
func (m machines) files() {
	content := []byte("The observatory opens at nine.\n" + strings.Repeat("It is closed on Mondays. ", 1000))
	path := m.Tenant.In("/knowledge-base/sources/") + uploadFile(m.t, m.at(0), m.Tenant, "hours.txt", content)
	harness.Await(m.t, harness.Patience, "a source that is ready", func() bool {
		return m.at(1).Do(m.t, "GET", path, nil).Must(m.t, 200).Text("status") == "ready"
	})
	if got := m.at(1).Do(m.t, "GET", path+"/content", nil).Must(m.t, 200); string(got.Body) != string(content) {
		m.t.Errorf("the other server has %d bytes, want %d", len(got.Body), len(content))
	}
	got := m.at(1).Do(m.t, "GET", path+"/content", nil, harness.Header("Range", "bytes=4-14"))
	if got.Status != http.StatusPartialContent || string(got.Body) != "observatory" {
		m.t.Errorf("a piece: %d %q", got.Status, got.Body)
	}
	m.at(1).Do(m.t, "DELETE", path, nil).Must(m.t, 204)
}

func (m machines) open(at int) harness.Response {
	agent := m.at(at).Do(m.t, "POST", m.Tenant.In("/agents"), `{"name":"Ada"}`).Must(m.t, 201).Text("id")
	return m.at(at).Do(m.t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(m.t, 201)
}

// socket is lost at one server, and its conversation goes on at the other.
func (m machines) socket() {
	c := &caller{t: m.t, made: m.open(0)}
	for i := range 4 {
		c.dial(m.addresses[i%2])
		c.say(fmt.Sprintf("Message %d.", i))
		c.until("response.done")
		_ = c.socket.CloseNow()
	}
	turns := m.at(0).Do(m.t, "GET", "/v1/sessions/"+c.made.Text("id")+"/transcript", nil).Must(m.t, 200).List("turns")
	for i, turn := range turns {
		if said := harness.Path(turn, "user_text"); said != fmt.Sprintf("Message %d.", i) {
			m.t.Errorf("turn %d is of %v", i, said)
		}
	}
	if len(turns) != 4 {
		m.t.Errorf("%d turns, want 4", len(turns))
	}
}

// turn is taken over HTTP at one server and followed from the other.
func (m machines) turn() {
	path := "/v1/sessions/" + m.open(0).Text("id") + "/turns"
	heard := openStream(m.t, m.at(0), path, `{"text":"Hello?"}`).until("turn.started")
	got := m.at(1).Do(m.t, "POST", path, `{}`, harness.Header("Accept", "text/event-stream"), harness.Header("Last-Event-ID", heard))
	began, done := strings.Count(string(got.Body), "event: turn.started"), strings.Count(string(got.Body), "event: turn.done")
	if got.Status != 200 || began != 0 || done != 1 {
		m.t.Errorf("followed from the other server: %d %s", got.Status, got.Body)
	}
}

// rollout deploys every machine anew while customers use all of it, and has the auditor look for
// what was lost or doubled.
func (m machines) rollout() {
	working, stop := context.WithCancel(m.t.Context())
	defer stop()
	customers := make(chan struct{})
	go func() {
		defer close(customers)
		load.Run(m.t.Context(), working, m.load(1))
	}()
	for range 2 {
		m.await(3 * time.Second)
		m.deploy()
	}
	m.await(3 * time.Second)
	stop()
	for _, hook := range m.hooks {
		hook.Always(receiver.Answer{})
	}
	<-customers
	m.rest()
	m.audit()
}
