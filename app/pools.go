package app

import (
	"math"

	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/queue"
)

// sourcesPerCore is how many sources are in progress for each that may use the CPU. The others wait
// for OCR, for an embedding server, or for their turn.
const sourcesPerCore = 4

// pools returns the worker pools of the queue with the configured sizes.
func (a *App) pools() []queue.Pool {
	pools := queue.DefaultPools()
	for i := range pools {
		if pools[i].Weights[queue.Ingest] > 0 {
			pools[i].Concurrency = a.Config.IngestConcurrency * sourcesPerCore
		}
		if pools[i].Weights[queue.Deliver] > 0 {
			pools[i].Concurrency = a.Config.DeliveryConcurrency
		}
	}
	return pools
}

// newGate makes a limit of concurrent work that tenants share.
func (a *App) newGate(name string, slots int) *fair.Gate {
	return a.slots.Gate(fair.Config{Name: name, Slots: slots, SharePercent: a.Config.TenantShare, Now: a.now})
}

// newLine is newGate without a limit on how much work waits.
func (a *App) newLine(name string, slots int) *fair.Gate {
	return a.slots.Gate(fair.Config{Name: name, Slots: slots, SharePercent: a.Config.TenantShare, MaxWaiting: math.MaxInt, Now: a.now})
}
