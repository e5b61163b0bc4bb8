package seal

import (
	"context"
	"slices"

	"parlance.dev/parlance/platform/postgres"
)

// masterKeyWord is the word with which a process announces that it has a master key.
func masterKeyWord(masterID string) string { return "master key " + masterID }

// Announce tells the other processes which master keys this one has, for as long as it listens on
// the database. It is called before that begins.
func (k *Keyring) Announce() {
	for _, id := range k.masters.IDs() {
		k.db.Announce(masterKeyWord(id))
	}
}

// Lacking returns the running processes that do not have the current master key. Within five
// minutes of RotateMaster they would fail to open any secret.
func (k *Keyring) Lacking(ctx context.Context) ([]postgres.Process, error) {
	processes, err := k.db.Processes(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(processes, func(p postgres.Process) bool { return p.HasAnnounced(masterKeyWord(k.masters[0].ID())) }), nil
}

// wrapper returns the master key for a new data key: the first one that every running process has.
// A new master key wraps nothing while some servers have not been restarted with it.
func (k *Keyring) wrapper(ctx context.Context) (MasterKey, error) {
	if len(k.masters) == 1 {
		return k.masters[0], nil
	}
	processes, err := k.db.Processes(ctx)
	if err != nil {
		return nil, err
	}
	for _, master := range k.masters {
		if !slices.ContainsFunc(processes, func(p postgres.Process) bool { return !p.HasAnnounced(masterKeyWord(master.ID())) }) {
			return master, nil
		}
	}
	return k.masters[0], nil
}
