package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/sessions/signing"
)

func newKeysRotateMaster() *cobra.Command {
	var dryRun, force bool
	cmd := &cobra.Command{
		Use: "rotate-master", Short: "Wrap every data key with the current master key, while servers run", Args: command.ExactArgs(),
		Long: `Moves everything that is sealed to another master key, without a pause:

  1. Name the new key in PARLANCE_MASTER_KEY_FILE (or _KEY, _KEY_URL) and the old one in
     PARLANCE_MASTER_KEY_PREVIOUS_FILES (or _URLS), and restart every server and worker,
     one after the other. Once all of them have both keys, the new one wraps.
  2. Run this with the same settings. It wraps each tenant's data key anew and touches no
     secret. When it is cut off, run it again: it goes on. It refuses while a server or
     worker runs that does not have the new key.
  3. When it says that the old key wraps nothing any more, take it out of the settings.`,
		Example: "  openssl rand -base64 32 > new.key\n  PARLANCE_MASTER_KEY_FILE=new.key " +
			"PARLANCE_MASTER_KEY_PREVIOUS_FILES=old.key parlance keys rotate-master",
		RunE: func(cmd *cobra.Command, _ []string) error {
			keyring, _, release, err := openKeyring(cmd)
			if err != nil {
				return err
			}
			defer release()
			if dryRun {
				return printWrapped(cmd.Context(), cmd.OutOrStdout(), keyring)
			}
			if !force {
				if err := refuseLacking(cmd.Context(), keyring); err != nil {
					return err
				}
			}
			return rotateMaster(cmd.Context(), cmd.OutOrStdout(), keyring)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say how many data keys each master key wraps")
	cmd.Flags().BoolVar(&force, "force", false, "go on although a running server or worker does not have the new key and will fail")
	command.AddSettings(cmd)
	command.AddDataDir(cmd)
	return cmd
}

// refuseLacking returns an error when a running process does not have the new master key.
func refuseLacking(ctx context.Context, keyring *seal.Keyring) error {
	lacking, err := keyring.Lacking(ctx)
	if err != nil || len(lacking) == 0 {
		return err
	}
	who := make([]string, len(lacking))
	for i, process := range lacking {
		who[i] = fmt.Sprintf("one at %s (Postgres backend %d, since %s)", process.Address, process.Backend,
			process.Since.UTC().Format(time.RFC3339))
	}
	return fmt.Errorf("nothing was changed: a server or worker runs that does not have the master key %s and would fail "+
		"at its next secrets: %s. "+
		"Restart every server and worker with it, then run this again (--force goes on all the same)", keyring.Masters()[0],
		strings.Join(who, "; "))
}

func newKeysRotateData() *cobra.Command {
	var tenant string
	cmd := &cobra.Command{
		Use: "rotate-data", Short: "Give a tenant a new data key to seal with; what is sealed stays readable", Args: command.ExactArgs(),
		Example: "  parlance keys rotate-data --tenant ten_…",
		RunE: func(cmd *cobra.Command, _ []string) error {
			keyring, _, release, err := openKeyring(cmd)
			if err != nil {
				return err
			}
			defer release()
			if err := keyring.RotateDataKey(cmd.Context(), tenant); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "New secrets are sealed with a new data key; every process follows within five minutes.")
			return err
		},
	}
	cmd.Flags().StringVar(&tenant, "tenant", "", "tenant the key belongs to, ten_…; empty is the installation's own key")
	command.AddSettings(cmd)
	command.AddDataDir(cmd)
	return cmd
}

func newKeysRotateTokens() *cobra.Command {
	var revoke bool
	cmd := &cobra.Command{
		Use: "rotate-tokens", Short: "Sign the tokens of sessions with a new key", Args: command.ExactArgs(),
		Long: `Makes the key that signs the tokens in ws_url and chat_url anew. It happens by itself every 30 days.
Tokens that are out stay valid until they expire; every server follows within a minute.

With --revoke they do not: nobody comes in or comes back with a URL that was made before. Sockets that
are open stay open. Do this when a signing key may have been seen by others.`,
		Example: "  parlance keys rotate-tokens\n  parlance keys rotate-tokens --revoke",
		RunE: func(cmd *cobra.Command, _ []string) error {
			keyring, db, release, err := openKeyring(cmd)
			if err != nil {
				return err
			}
			defer release()
			kid, err := signing.Rotate(cmd.Context(), db, keyring, rand.Reader, time.Now(), revoke)
			if err != nil {
				return err
			}
			said := "Tokens that are out stay valid."
			if revoke {
				said = "URLs of sessions that were made before are refused; a server that still signs with the old key makes such " +
					"URLs, too, until it follows."
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "New tokens are signed with the key %s; every server follows within a minute. %s\n", kid, said)
			return err
		},
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "refuse every token that was made before")
	command.AddSettings(cmd)
	command.AddDataDir(cmd)
	return cmd
}

// openKeyring opens the database and the keyring in it.
func openKeyring(cmd *cobra.Command) (*seal.Keyring, *postgres.DB, func(), error) {
	config, err := command.LoadConfig(cmd)
	if err != nil {
		return nil, nil, nil, err
	}
	if config.MasterKeyFile == "" && config.MasterKey == "" && config.MasterKeyURL == "" {
		if config.MasterKeyFile, err = devMasterKey(cmd); err != nil {
			return nil, nil, nil, err
		}
	}
	db, release, err := openDatabase(cmd)
	if err != nil {
		return nil, nil, nil, err
	}
	keyring, err := app.OpenKeyring(config, db, time.Now)
	if err == nil {
		err = keyring.Check(cmd.Context())
	}
	if err != nil {
		release()
		return nil, nil, nil, err
	}
	return keyring, db, release, nil
}

// devMasterKey returns the master key file of the `parlance dev` in the data directory.
func devMasterKey(cmd *cobra.Command) (string, error) {
	dir, err := command.DataDir(cmd)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, command.MasterKeyFile)
	if _, err := os.Stat(path); err != nil {
		return "", command.Usagef("no master key is set: name it in PARLANCE_MASTER_KEY_FILE, PARLANCE_MASTER_KEY or PARLANCE_MASTER_KEY_URL")
	}
	return path, nil
}

// barColumns is the width of the progress bar.
const barColumns = 30

// rotateMaster wraps all data keys with the current master key, and says when the old one can be
// removed.
func rotateMaster(ctx context.Context, out io.Writer, keyring *seal.Keyring) error {
	before, err := keyring.Wrapped(ctx)
	if err != nil {
		return err
	}
	current := keyring.Masters()[0]
	total := 0
	for id, count := range before {
		if id != current {
			total += count
		}
	}
	screen, shown := term.Open(out, app.OSSource(nil).LookupEnv), 0
	err = keyring.RotateMaster(ctx, func(done int) {
		total = max(total, done) // processes may make data keys meanwhile
		words := fmt.Sprintf("%d of %d data keys", done, total)
		if screen.Terminal {
			screen.Draw(nil, []string{screen.Bar(float64(done)/float64(total), barColumns) + " " + words})
		} else if done*10/total > shown*10/total { // a line for every tenth
			screen.Line("%s", words)
		}
		shown = done
	})
	screen.Draw(nil, nil)
	after, counted := keyring.Wrapped(context.WithoutCancel(ctx))
	if counted != nil {
		return counted
	}
	fmt.Fprintf(out, "%s wraps %d data keys.\n", current, after[current])
	if err != nil {
		return fmt.Errorf("not every data key was moved; run this again: %w", err)
	}
	return sayWhatCanGo(out, keyring.Masters(), after)
}

// sayWhatCanGo names the master keys that wrap nothing any more. It returns an error when a process
// has made a data key with an old master key meanwhile.
func sayWhatCanGo(out io.Writer, masters []string, wrapped map[string]int) error {
	if len(masters) == 1 {
		fmt.Fprintln(out, "It is the only master key here. To move to another one: parlance keys rotate-master --help")
		return nil
	}
	for _, old := range masters[1:] {
		if wrapped[old] > 0 {
			return fmt.Errorf("%s still wraps %d data keys, made meanwhile by a process that has it as its current key: "+
				"restart every server and worker with %s first, then run this again",
				old, wrapped[old], masters[0])
		}
		fmt.Fprintf(out,
			"%s wraps nothing any more. It can go from the settings once every server and worker runs with %s as its current "+
				"key.\n", old, masters[0])
	}
	fmt.Fprintln(out, "Keep the old keys as long as you keep backups of the database from before.")
	return nil
}

func printWrapped(ctx context.Context, out io.Writer, keyring *seal.Keyring) error {
	wrapped, err := keyring.Wrapped(ctx)
	if err != nil {
		return err
	}
	current := keyring.Masters()[0]
	for _, id := range slices.Sorted(maps.Keys(wrapped)) {
		mark := ""
		if id == current {
			mark = " (current)"
		}
		fmt.Fprintf(out, "%s%s wraps %d data keys\n", id, mark, wrapped[id])
	}
	return nil
}
