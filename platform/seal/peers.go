package seal

import (
	"context"
	"slices"

	"parlance.dev/parlance/platform/postgres"
)

// opens is the word by which processes announce that they have a master key.
func opens(masterID string) string { return "master key " + masterID }

// Announce tells the other processes which master keys this one has, for as long as it listens on
// the database. It is called before that begins.
func (k *Keyring) Announce() {
	for _, id := range k.masters.IDs() {
		k.db.Announce(opens(id))
	}
}

// Lacking are the running processes that do not open what the current master key wraps: they would
// fail, within five minutes of RotateMaster, at every secret.
func (k *Keyring) Lacking(ctx context.Context) ([]postgres.Process, error) {
	processes, err := k.db.Processes(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(processes, func(p postgres.Process) bool { return p.Says(opens(k.masters[0].ID())) }), nil
}

// wrapper is the master key for a new data key: the first that every running process has, so that
// one named anew wraps nothing while servers are still being restarted with it.
func (k *Keyring) wrapper(ctx context.Context) (MasterKey, error) {
	if len(k.masters) == 1 {
		return k.masters[0], nil
	}
	processes, err := k.db.Processes(ctx)
	if err != nil {
		return nil, err
	}
	for _, master := range k.masters {
		if !slices.ContainsFunc(processes, func(p postgres.Process) bool { return !p.Says(opens(master.ID())) }) {
			return master, nil
		}
	}
	return k.masters[0], nil
}
