package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"parlance.dev/parlance/test/audit"
)

// Options say who the customers are.
type Options struct {
	// URL is the installation's, http on loopback, without a slash at the end.
	URL string
	// Tenants share the customers evenly.
	Tenants []Tenant
	// Customers is how many work at once.
	Customers int
	Seed      uint64
	// Pause is the longest a customer thinks between two things; on average half of it.
	Pause time.Duration
	// ToolURL is an endpoint that tools call, which echoes.
	ToolURL string
	// HookURL is an https endpoint for webhooks that come and go.
	HookURL string
	Journal *audit.Journal
}

// Tenant is whose workspace customers work in.
type Tenant struct {
	WorkspaceID string
	// Key is the secret of an admin's key.
	Key string
}

// requestTimeout is how long a customer waits for an answer before it asks again.
const requestTimeout = 20 * time.Second

// toolCap is how often a session may call the customer's tool; some talk longer.
const toolCap = 2

// customer works in one goroutine.
type customer struct {
	Options
	tenant Tenant
	name   string
	rand   *rand.Rand
	http   *http.Client
	// agent and tool are there for all of the customer's conversations.
	agent, slug string
	sources     []string
	made        int
}

// Run lets the customers work until working ends; then each finishes what it has begun and
// ends its conversations. When ctx ends before, what is open is noted as unknown.
func Run(ctx, working context.Context, o Options) {
	var all sync.WaitGroup
	for i := range o.Customers {
		transport := &http.Transport{MaxIdleConnsPerHost: 2}
		c := &customer{
			Options: o, tenant: o.Tenants[i%len(o.Tenants)], name: fmt.Sprintf("c%d", i),
			rand: rand.New(rand.NewPCG(o.Seed, uint64(i))), http: &http.Client{Transport: transport, Timeout: requestTimeout},
		}
		all.Go(func() {
			defer transport.CloseIdleConnections()
			c.work(ctx, working)
		})
	}
	all.Wait()
}

// activity is something a customer does, as often as its weight says.
type activity struct {
	weight int
	do     func(*customer, context.Context)
}

var activities = []activity{
	{3, (*customer).exerciseAgents},
	{3, (*customer).exerciseTools},
	{3, (*customer).exerciseSources},
	{6, (*customer).talk},
	{4, (*customer).talkOverSocket},
	{2, (*customer).exerciseEndpoints},
	{1, (*customer).exerciseKeys},
}

func (c *customer) work(ctx, working context.Context) {
	if !c.settleIn(ctx) {
		return
	}
	total := 0
	for _, a := range activities {
		total += a.weight
	}
	for working.Err() == nil && ctx.Err() == nil {
		pick := c.rand.IntN(total)
		for _, a := range activities {
			if pick -= a.weight; pick < 0 {
				a.do(c, ctx)
				break
			}
		}
		c.think(working)
	}
}

// settleIn makes the agent and the tool that the customer keeps.
func (c *customer) settleIn(ctx context.Context) bool {
	c.agent = c.createAgent(ctx, c.mark("agent"))
	tool, slug := c.createTool(ctx)
	c.slug = slug
	return c.agent != "" && tool != "" && c.attachTool(ctx, c.agent, tool, toolCap)
}

// think pauses for a moment of the customer's own.
func (c *customer) think(ctx context.Context) { pause(ctx, rand.N(c.Pause)) }

// mark is a text that nobody has used before.
func (c *customer) mark(what string) string {
	c.made++
	return fmt.Sprintf("%s_%s_%d", what, c.name, c.made)
}

// chance is true in percent of the cases.
func (c *customer) chance(percent int) bool { return c.rand.IntN(100) < percent }

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
