package scenario

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/test/audit"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/load"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/port"
	"parlance.dev/parlance/test/redistest"
)

var (
	chaosSeed      = flag.Uint64("chaos.seed", 0, "repeats what a run of TestChaos did and when, as far as its seed decides it; 0: by chance")
	chaosDuration  = flag.Duration("chaos.duration", 0, "how long TestChaos breaks things; 0: each of its faults once")
	chaosCalm      = flag.Duration("chaos.calm", 0, "TestChaos breaks nothing for so long: how quickly the auditor sees broken code")
	chaosCustomers = flag.Int("chaos.customers", 6, "how many customers TestChaos has")
)

const (
	// chaosServers and chaosWorkers are processes of the built program.
	chaosServers, chaosWorkers = 2, 2
	// chaosZombie is how long a worker is paused: longer than a delivery's lease of 30 s.
	chaosZombie = 33 * time.Second
	// chaosRest bounds coming to rest: what a dead process held is taken over after 60 s, twice
	// when its heir was killed too.
	chaosRest = 4 * time.Minute
)

// chaos is an installation of several processes with everything it stands on within reach.
type chaos struct {
	*harness.Env
	t                            *testing.T
	rand                         *rand.Rand
	postgres                     *pgtest.Server
	redis                        *redistest.Server
	toPostgres, toRedis, toFront *harness.Proxy
	addresses                    []string
	servers, workers             []*harness.Process
	hooks                        []*receiver.Receiver
	faithful                     []string
	shop                         *httptool.Server
	journal                      audit.Journal
	faults                       map[string]int
	recoveries                   map[string][]time.Duration
	tenants                      []load.Tenant
	// serverEnvs and workerEnvs start the processes.
	serverEnvs, workerEnvs []*harness.Env
	zombie                 *harness.Process
}

// TestChaos breaks everything an installation stands on while customers use all of it, lets it
// come to rest, and has it audited.
func TestChaos(t *testing.T) {
	t.Parallel()
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64N(1_000_000)
	}
	t.Logf("seed %d (again: go test ./test/scenario -run TestChaos -chaos.seed=%d)", seed, seed)
	c := newChaos(t, seed)
	working, stop := context.WithCancel(t.Context())
	defer stop()
	finishing, cancel := context.WithCancel(t.Context())
	defer cancel()
	customers := make(chan struct{})
	go func() {
		defer close(customers)
		load.Run(finishing, working, c.load(seed))
	}()
	began := time.Now()
	c.breakThings()
	stop()
	calm := time.Now()
	for _, hook := range c.hooks {
		hook.Always(receiver.Answer{})
	}
	select {
	case <-customers:
	case <-time.After(chaosRest):
		t.Error("customers do not get their last answers")
		cancel()
		<-customers
	}
	answered := time.Since(calm)
	c.rest()
	t.Logf("broken for %s; customers had their answers after %s, everything was at rest after %s",
		calm.Sub(began).Round(time.Second), answered.Round(time.Second), time.Since(calm).Round(time.Second))
	c.audit()
}

func newChaos(t *testing.T, seed uint64) *chaos {
	t.Helper()
	c := &chaos{
		t: t, rand: rand.New(rand.NewPCG(seed, 0)), postgres: pgtest.NewServer(t), redis: redistest.NewServer(t), shop: httptool.New(t),
		faults: map[string]int{}, recoveries: map[string][]time.Duration{},
	}
	socket, err := url.Parse(c.redis.URL)
	if err != nil {
		t.Fatal(err)
	}
	c.toPostgres = harness.NewProxy(t, harness.Target{Network: "unix", Address: c.postgres.Socket})
	c.toRedis = harness.NewProxy(t, harness.Target{Network: "unix", Address: socket.Path})
	var fronts []harness.Target
	for range chaosServers {
		c.addresses = append(c.addresses, port.Reserve(t))
		fronts = append(fronts, harness.Target{Network: "tcp", Address: c.addresses[len(c.addresses)-1]})
	}
	c.toFront = harness.NewProxy(t, fronts...)
	for range 4 {
		c.hooks = append(c.hooks, receiver.New(t))
	}
	c.Env = harness.Start(t, harness.Options{
		DatabaseURL: c.postgres.URL, RedisURL: c.redis.URL, WithoutServer: true, WithoutWorker: true,
		Settings: map[string]string{
			"DATABASE_URL": c.postgres.TCPURL(c.toPostgres.Address), "REDIS_URL": "redis://" + c.toRedis.Address,
			"PARLANCE_PUBLIC_URL": "http://" + c.toFront.Address, "PARLANCE_EGRESS_CA_FILE": c.hooks[0].CAFile(t),
			"PARLANCE_LOG_LEVEL": "error",
		},
	})
	c.URL = "http://" + c.toFront.Address
	for _, address := range c.addresses {
		c.serverEnvs = append(c.serverEnvs, c.With(map[string]string{"PARLANCE_LISTEN": address}))
	}
	for range chaosWorkers {
		c.workerEnvs = append(c.workerEnvs, c.Env)
	}
	c.start()
	return c
}

// start runs every process, and prepares what customers use.
func (c *chaos) start() {
	c.t.Helper()
	for i := range c.serverEnvs {
		c.servers = append(c.servers, c.startServer(i))
	}
	for i := range c.workerEnvs {
		c.workers = append(c.workers, c.startWorker(i))
	}
	c.awaitReady("start")
	c.script()
}

func (c *chaos) startServer(i int) *harness.Process {
	return c.serverEnvs[i].StartProcess(c.t, "server")
}

func (c *chaos) startWorker(i int) *harness.Process {
	return c.workerEnvs[i].StartProcess(c.t, "worker")
}

// script makes endpoints that are as bad as real ones, and subscribes two a tenant to everything.
func (c *chaos) script() {
	steps := make([]httptool.Step, 2000)
	for i := range steps {
		switch p := c.rand.IntN(100); {
		case p < 3:
			steps[i].Reset = true
		case p < 8:
			steps[i].Status = http.StatusServiceUnavailable
		}
	}
	c.shop.Script("/count", append(steps, httptool.Step{})...)
	second := c.NewTenant(c.t, "")
	for i, hook := range c.hooks {
		tenant := []harness.Tenant{c.Tenant, second}[i%2]
		made := c.Do(c.t, "POST", tenant.In("/webhooks"), map[string]any{
			"url": hook.URL, "events": []string{"post_call_transcription", "kb.source_ingested"}, "description": hook.URL,
		}, harness.Key(tenant.Admin)).Must(c.t, 201)
		hook.Expect(made.Text("secret"))
		c.faithful = append(c.faithful, made.Text("id"))
		c.journal.Note(audit.Entry{
			Noun: audit.Endpoint, Verb: audit.Create, ID: made.Text("id"), Mark: hook.URL,
			Status: made.Status, Requests: 1,
		})
		hook.Each(moody)
	}
	for _, name := range []string{"first key", "operator", "runtime", "read"} { // what the harness makes for each tenant
		c.journal.Note(audit.Entry{Noun: audit.Key, Verb: audit.Create, Mark: name, Status: http.StatusCreated, Requests: 2})
	}
	c.tenants = []load.Tenant{{WorkspaceID: c.Tenant.WorkspaceID, Key: c.Tenant.Admin}, {WorkspaceID: second.WorkspaceID, Key: second.Admin}}
}

// moody answers as an endpoint does that is not well.
func moody() receiver.Answer {
	switch p := rand.IntN(100); {
	case p < 10:
		return receiver.Answer{Status: http.StatusInternalServerError}
	case p < 15:
		return receiver.Answer{Status: http.StatusServiceUnavailable}
	case p < 20:
		return receiver.Answer{Reset: true}
	case p < 21:
		return receiver.Answer{Hold: make(chan struct{})} // until the time-out
	case p < 30:
		slow := make(chan struct{})
		time.AfterFunc(rand.N(time.Second), func() { close(slow) })
		return receiver.Answer{Hold: slow}
	}
	return receiver.Answer{}
}

func (c *chaos) load(seed uint64) load.Options {
	return load.Options{
		URL: c.URL, Tenants: c.tenants, Customers: *chaosCustomers, Seed: seed, Pause: 200 * time.Millisecond,
		ToolURL: c.shop.URL, HookURL: c.hooks[0].URL + "/unused", Journal: &c.journal,
	}
}

// disaster is something that happens to an installation.
type disaster struct {
	name string
	do   func(*chaos)
}

var disasters = []disaster{
	{"server killed", (*chaos).killServer},
	{"worker killed", (*chaos).killWorker},
	{"rolling deploy", (*chaos).deploy},
	{"Redis emptied", (*chaos).flush},
	{"Redis killed", func(c *chaos) { c.redis.Kill(); c.linger(); c.redis.Start() }},
	{"Postgres killed", func(c *chaos) { c.postgres.Kill(); c.linger(); c.postgres.Start() }},
	{"Postgres shut down", func(c *chaos) { c.postgres.Stop(); c.linger(); c.postgres.Start() }},
	{"connections to Postgres cut", func(c *chaos) { c.toPostgres.Cut() }},
	{"network to Postgres down", func(c *chaos) { c.toPostgres.Down(); c.linger(); c.toPostgres.Up() }},
	{"network to Redis down", func(c *chaos) { c.toRedis.Down(); c.linger(); c.toRedis.Up() }},
	{"connections of customers cut", func(c *chaos) { c.toFront.Cut() }},
	{"server and worker killed", func(c *chaos) { c.killServer(); c.killWorker() }},
}

// breakThings does each fault once in an order by chance, or goes on for as long as was asked
// for; meanwhile a worker is paused until others have taken it for dead.
func (c *chaos) breakThings() {
	if *chaosCalm > 0 {
		c.await(*chaosCalm)
		return
	}
	c.await(c.between(time.Second, 2*time.Second))
	c.zombie = c.workers[0]
	c.zombie.Pause()
	c.faults["worker paused beyond its lease"]++
	paused := time.Now()
	ends := paused.Add(*chaosDuration)
	for round := 0; round == 0 || time.Now().Before(ends); round++ {
		for _, i := range c.rand.Perm(len(disasters)) {
			c.faults[disasters[i].name]++
			disasters[i].do(c)
			c.awaitReady(disasters[i].name)
			c.await(c.between(200*time.Millisecond, 2*time.Second))
			if c.zombie != nil && time.Since(paused) > chaosZombie {
				c.zombie.Resume()
				c.zombie = nil
			}
			if round > 0 && time.Now().After(ends) {
				break
			}
		}
	}
	if c.zombie != nil {
		c.await(time.Until(paused.Add(chaosZombie)))
		c.zombie.Resume()
	}
}

func (c *chaos) killServer() {
	i := c.rand.IntN(len(c.servers))
	c.servers[i].Kill()
	c.servers[i] = c.startServer(i)
}

func (c *chaos) killWorker() {
	i := len(c.workers) - 1
	if c.zombie == nil {
		i = c.rand.IntN(len(c.workers))
	}
	c.workers[i].Kill()
	c.workers[i] = c.startWorker(i)
}

// deploy stops every process in order, one after the other, but for the paused one.
func (c *chaos) deploy() {
	for i := range c.servers {
		c.servers[i].Terminate()
		c.servers[i] = c.startServer(i)
		c.awaitReady("deploy of a server")
	}
	for i := range c.workers {
		if c.workers[i] != c.zombie {
			c.workers[i].Terminate()
			c.workers[i] = c.startWorker(i)
		}
	}
}

func (c *chaos) flush() {
	options, err := goredis.ParseURL(c.redis.URL)
	if err != nil {
		c.t.Fatal(err)
	}
	client := goredis.NewClient(options)
	defer func() { _ = client.Close() }() // nothing is in flight
	if err := client.FlushAll(c.t.Context()).Err(); err != nil {
		c.t.Error(err)
	}
}

// between is a time by the seed.
func (c *chaos) between(least, most time.Duration) time.Duration {
	return least + time.Duration(c.rand.Int64N(int64(most-least)))
}

// linger leaves something broken for a moment.
func (c *chaos) linger() { c.await(c.between(0, 1500*time.Millisecond)) }

// await lets time pass: what is tested is what happens at random moments.
func (c *chaos) await(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.t.Context().Done():
	}
}

// supervise starts what gave up because what it needs did not answer, as systemd does.
func (c *chaos) supervise() {
	for i, server := range c.servers {
		if server.Ended() {
			c.faults["server started again that had given up"]++
			c.servers[i] = c.startServer(i)
		}
	}
	for i, worker := range c.workers {
		if worker.Ended() {
			c.faults["worker started again that had given up"]++
			c.workers[i] = c.startWorker(i)
		}
	}
}

// awaitReady measures how long it takes until every server says that it is ready.
func (c *chaos) awaitReady(after string) {
	c.t.Helper()
	began := time.Now()
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, address := range c.addresses {
		harness.Await(c.t, harness.Patience, "ready again after: "+after, func() bool {
			c.supervise()
			answer, err := client.Get("http://" + address + "/readyz")
			if err != nil {
				return false
			}
			_ = answer.Body.Close() // the status is the answer
			return answer.StatusCode == http.StatusOK
		})
	}
	c.recoveries[after] = append(c.recoveries[after], time.Since(began))
}

// rest waits until the installation has nothing to do on its own.
func (c *chaos) rest() {
	c.t.Helper()
	var left []string
	ends := time.Now().Add(chaosRest)
	for {
		c.supervise()
		var err error
		left, err = audit.Unsettled(c.t.Context(), c.DatabaseURL)
		if err != nil {
			c.t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(ends) {
			c.t.Errorf("not at rest:\n  %s", strings.Join(left, "\n  "))
			return
		}
		c.await(500 * time.Millisecond)
	}
}

// audit prints the tally and fails the test for every violation.
func (c *chaos) audit() {
	c.t.Helper()
	evidence := audit.Evidence{DatabaseURL: c.DatabaseURL, BlobDir: c.BlobDir, Journal: &c.journal, Faithful: c.faithful}
	for _, hook := range c.hooks {
		for _, r := range hook.Requests() {
			evidence.Received = append(evidence.Received, audit.Received{
				URL: hook.URL, EventID: r.EventID, Body: r.Body,
				Status: r.Status, At: r.At, Err: r.Err,
			})
		}
	}
	for _, r := range c.shop.Requests("/count") {
		evidence.Called = append(evidence.Called, audit.Called{Method: r.Method, IdempotencyKey: r.Header.Get("Idempotency-Key"), Body: r.Body})
	}
	report, err := audit.Check(c.t.Context(), evidence)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Logf("operations:\n%s", tally(c.journal.Counts()))
	c.t.Logf("faults:\n%s", tally(c.faults))
	for _, after := range slices.Sorted(maps.Keys(c.recoveries)) {
		c.t.Logf("ready after %q: %v", after, c.recoveries[after])
	}
	c.t.Logf("audit:\n%s", report)
	for _, finding := range report.Findings {
		c.t.Error(finding)
	}
}

// tally writes counts in order.
func tally(counts map[string]int) string {
	var out strings.Builder
	total := 0
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		total += counts[what]
		fmt.Fprintf(&out, "  %6d  %s\n", counts[what], what)
	}
	fmt.Fprintf(&out, "  %6d  in all", total)
	return out.String()
}
