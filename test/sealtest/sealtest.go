package sealtest

import (
	"encoding/base64"
	"strings"
	"testing"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
)

// New is a keyring on a test's database under Key("k").
func New(t testing.TB, db *postgres.DB) *seal.Keyring {
	t.Helper()
	keyring, err := Open(db)
	if err != nil {
		t.Fatal(err)
	}
	return keyring
}

// Open is New where there is no test to fail.
func Open(db *postgres.DB) (*seal.Keyring, error) {
	masters, err := seal.ParseMasters([]byte(Key("k")))
	if err != nil {
		return nil, err
	}
	return seal.New(seal.Deps{DB: db, Masters: masters})
}

// Key is a line of a master key file: 32 times the letter.
func Key(letter string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32))) + "\n"
}
