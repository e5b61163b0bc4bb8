package cli

import "github.com/spf13/cobra"

// commands lists every command, in no order: help sorts them.
func commands() []*cobra.Command {
	return []*cobra.Command{
		newDev(), newServer(), newWorker(),
		newDoctor(), newHealth(), newChat(), newKB(), newTools(), newWebhooks(), newListen(), newModels(), newErrors(),
		newMigrate(), newTenants(), newKeys(), newConfig(), newVersion(),
	}
}
