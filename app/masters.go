package app

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/seal/vault"
)

// OpenKeyring returns the keyring of a database with the configured master keys. It reads nothing
// yet.
func OpenKeyring(config Config, db *postgres.DB, now func() time.Time) (*seal.Keyring, error) {
	masters, err := config.masters()
	if err != nil {
		return nil, fmt.Errorf("load the master key: %w", err)
	}
	return seal.New(seal.Deps{DB: db, Masters: masters, Now: now})
}

// masters returns the master keys. The first one encrypts; the others only decrypt.
func (c Config) masters() (seal.Masters, error) {
	masters, err := c.currentMaster()
	if err != nil {
		return nil, err
	}
	for _, path := range c.MasterKeyPreviousFiles {
		previous, err := seal.LoadMasters(path)
		if err != nil {
			return nil, fmt.Errorf("PARLANCE_MASTER_KEY_PREVIOUS_FILES: %w", err)
		}
		masters = masters.Add(previous...)
	}
	for _, address := range c.MasterKeyPreviousURLs {
		previous, err := c.remoteMaster(address)
		if err != nil {
			return nil, fmt.Errorf("PARLANCE_MASTER_KEY_PREVIOUS_URLS: %w", err)
		}
		masters = masters.Add(previous)
	}
	return masters, nil
}

// currentMaster returns the configured key, and further keys from its file.
func (c Config) currentMaster() (seal.Masters, error) {
	switch {
	case c.MasterKeyURL != "":
		key, err := c.remoteMaster(c.MasterKeyURL)
		if err != nil {
			return nil, fmt.Errorf("PARLANCE_MASTER_KEY_URL: %w", err)
		}
		return seal.Masters{key}, nil
	case c.MasterKey != "":
		masters, err := seal.ParseMasters([]byte(c.MasterKey.Reveal()))
		if err != nil {
			return nil, fmt.Errorf("PARLANCE_MASTER_KEY: %w", err)
		}
		return masters, nil
	}
	return seal.LoadMasters(c.MasterKeyFile)
}

// operatorGuard makes clients for hosts that the operator names.
func (c Config) operatorGuard() (*publicnet.Guard, error) {
	return publicnet.New(publicnet.Options{CAFile: c.EgressCAFile})
}

// remoteMaster returns a key in the operator's key-management service.
func (c Config) remoteMaster(address string) (seal.MasterKey, error) {
	base, err := vault.Base(address)
	if err != nil {
		return nil, err
	}
	guard, err := c.operatorGuard()
	if err != nil {
		return nil, err
	}
	client, err := guard.OperatorClient([]string{base}, publicnet.ClientOptions{})
	if err != nil {
		return nil, err
	}
	return vault.New(vault.Config{Address: address, Token: c.VaultToken, Client: client})
}

// checkMasterURL checks that the service is known.
func checkMasterURL(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("must be a URL")
	}
	if u.Scheme != vault.Scheme && u.Scheme != vault.SchemePlain {
		return fmt.Errorf("has the unknown scheme %q: a master key can lie in Vault's or OpenBao's transit engine "+
			"(vault://host:8200/transit/keys/NAME), "+
			"in a file (PARLANCE_MASTER_KEY_FILE) or in the environment (PARLANCE_MASTER_KEY)", u.Scheme)
	}
	_, err = vault.Base(address)
	return err
}

func (c *Config) parseMasterURL(v string) error {
	c.MasterKeyURL = v
	return checkMasterURL(v)
}

func (c *Config) parsePreviousURLs(v string) error {
	c.MasterKeyPreviousURLs = splitList(v)
	var problems []error
	for _, address := range c.MasterKeyPreviousURLs {
		problems = append(problems, checkMasterURL(address))
	}
	return errors.Join(problems...)
}

// checkMasters returns an error when more than one key is set.
func (c Config) checkMasters() error {
	set := 0
	for _, one := range []bool{c.MasterKey != "", c.MasterKeyFile != "", c.MasterKeyURL != ""} {
		if one {
			set++
		}
	}
	if set > 1 {
		return errors.New("of PARLANCE_MASTER_KEY, PARLANCE_MASTER_KEY_FILE and PARLANCE_MASTER_KEY_URL more than one is " +
			"set: keep one of them, and name keys used before in PARLANCE_MASTER_KEY_PREVIOUS_FILES or _URLS")
	}
	return nil
}
