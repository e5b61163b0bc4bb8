package insights

import (
	"slices"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/workspaces"
)

// Queues are the queues of the installation and the processes that take tasks of them.
type Queues struct {
	// Queues are sorted by name.
	Queues  []queue.Info
	Workers []queue.Process
}

// Queues reads Redis. Errors: Forbidden auth-scope (a key for one workspace), Unavailable
// unavailable (Redis does not answer).
func (s *Service) Queues(caller workspaces.Principal) (Queues, error) {
	if err := caller.RequireWholeTenant(); err != nil {
		return Queues{}, err
	}
	names := slices.Sorted(slices.Values(queue.Names()))
	infos, err := queue.Infos(s.Redis, names...)
	if err != nil {
		return Queues{}, errNoRedis(err)
	}
	workers, err := queue.Processes(s.Redis)
	if err != nil {
		return Queues{}, errNoRedis(err)
	}
	return Queues{Queues: infos, Workers: workers}, nil
}

func errNoRedis(err error) error {
	return fault.Wrap(err, fault.ServiceUnavailable, "Redis, which holds the queues, does not answer.")
}
