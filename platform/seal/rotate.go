package seal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// rotateBatch is how many data keys are read at a time while they are wrapped again.
const rotateBatch = 200

// Check is for the start of a process: it makes sure that every data key's master key is
// configured, and that the installation's own data key, which is made if there is none, really
// unwraps. A wrong key is found here and not with the first secret.
// Errors: ErrUnknownKey, ErrOpen, in words for the operator.
func (k *Keyring) Check(ctx context.Context) error {
	counts, err := countByMaster(ctx, k.db)
	if err != nil {
		return err
	}
	var missing []string
	for id, count := range counts {
		if _, known := k.masters.Find(id); !known {
			missing = append(missing, fmt.Sprintf("%s (wraps %d data keys)", id, count))
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("%w: this database needs %s, and the master keys here are %s. Start with the key that was used before, "+
			"or name it in PARLANCE_MASTER_KEY_PREVIOUS_FILES (or _URLS) until `parlance keys rotate-master` is done",
			ErrUnknownKey, strings.Join(missing, ", "), strings.Join(k.masters.IDs(), ", "))
	}
	if _, err := k.key(ctx, cacheKey{}); err != nil {
		return fmt.Errorf("trying the master key: %w", err)
	}
	return nil
}

// Wrapped is how many data keys each master key wraps, by the master keys' ids.
func (k *Keyring) Wrapped(ctx context.Context) (map[string]int, error) {
	return countByMaster(ctx, k.db)
}

// Masters are the ids of the configured master keys, the one that wraps first.
func (k *Keyring) Masters() []string { return k.masters.IDs() }

// RotateMaster wraps every data key with the first master key, while others seal and open: values
// are not touched, and each data key is changed in one statement. What was done stays done when it
// breaks off; the next run goes on. Progress is called after each key with how many are done.
// Errors: those data keys that could not be unwrapped, after all others were done.
func (k *Keyring) RotateMaster(ctx context.Context, progress func(done int)) error {
	var failed []error
	done := 0
	for after := uuid.Nil; ; {
		rows, err := selectNotWrappedBy(ctx, k.db, k.masters[0].ID(), after, rotateBatch)
		if err != nil || len(rows) == 0 {
			return errors.Join(append(failed, err)...)
		}
		for _, row := range rows {
			after = row.ID
			if err := k.rewrap(ctx, row); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				failed = append(failed, err)
				continue
			}
			done++
			progress(done)
		}
	}
}

// rewrap moves one data key to the master key that wraps.
func (k *Keyring) rewrap(ctx context.Context, row wrappedKey) error {
	secret, err := k.unwrap(ctx, row)
	if err != nil {
		return err
	}
	before := row.MasterKeyID
	if err := wrap(ctx, k.masters[0], &row, secret); err != nil {
		return err
	}
	return updateWrapping(ctx, k.db, row, before)
}

// RotateDataKey gives a tenant (empty: the installation itself) a new data key to seal with.
// What the old one sealed still opens. Other processes follow within five minutes.
func (k *Keyring) RotateDataKey(ctx context.Context, tenantID string) error {
	old, _, err := selectCurrent(ctx, k.db, tenantID)
	if err != nil {
		return err
	}
	next, err := k.newRow(ctx, tenantID, k.moment())
	if err != nil {
		return err
	}
	if _, err := replaceCurrent(ctx, k.db, old, next); err != nil {
		return err
	}
	k.cached.Delete(cacheKey{tenantID: tenantID})
	return nil
}
