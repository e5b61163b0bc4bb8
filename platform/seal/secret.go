package seal

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// mask is what a Secret shows, whatever it holds.
const mask = "***"

// Secret is a string that must not be seen: printed in any way, marshalled or logged it is
// ***, and the database driver refuses it. It is made by conversion or by unmarshalling, and
// read by Reveal alone.
type Secret string

// Reveal returns what the secret holds.
func (s Secret) Reveal() string { return string(s) }

// IsSet says whether the secret holds anything.
func (s Secret) IsSet() bool { return s != "" }

// String is ***.
func (s Secret) String() string { return mask }

// GoString is ***.
func (s Secret) GoString() string { return mask }

// Format writes *** for every verb, %x and %d too.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, mask) } // fmt has no way to tell an error

// MarshalText is ***.
func (s Secret) MarshalText() ([]byte, error) { return []byte(mask), nil }

// MarshalJSON is "***".
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + mask + `"`), nil }

// LogValue is ***.
func (s Secret) LogValue() slog.Value { return slog.StringValue(mask) }

// Value refuses: what is stored is sealed or hashed first.
func (s Secret) Value() (driver.Value, error) {
	return nil, errors.New("a secret is stored sealed or hashed, never as it is")
}
