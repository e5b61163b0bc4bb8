package app

import "parlance.dev/parlance/platform/seal"

// masters are the master keys, the one that wraps first.
func (c Config) masters() (seal.Masters, error) { return seal.LoadMasters(c.MasterKeyFile) }
