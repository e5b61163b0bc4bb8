package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/term"
)

// maxSecretBytes is far above the size of any header.
const maxSecretBytes = 64 << 10

// checkSecret refuses a secret on the command line.
func checkSecret(flag, given string) error {
	if given == "" || given == "ask" || strings.HasPrefix(given, "@") || strings.HasPrefix(given, "env:") {
		return nil
	}
	return fmt.Errorf("%s takes @file, env:NAME or ask: what stands on the command line is seen by everybody on this machine", flag)
}

// readSecret reads a secret from where a flag names it. It returns "" when the flag is empty.
func readSecret(ctx context.Context, given, question string, person *term.Asker) (string, error) {
	if path, ok := strings.CutPrefix(given, "@"); ok {
		return secretFile(path)
	}
	if name, ok := strings.CutPrefix(given, "env:"); ok {
		value, found := app.OSSource(nil).LookupEnv(name)
		if !found || strings.TrimSpace(value) == "" {
			return "", fmt.Errorf("the variable %s is not set", name)
		}
		return strings.TrimSpace(value), nil
	}
	if given == "" {
		return "", nil
	}
	if person == nil {
		return "", errors.New("nobody is there to be asked for a secret header: give @file or env:NAME")
	}
	return person.Secret(ctx, question)
}

// secretFile returns the text of a file without white space at its ends.
func secretFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // only read
	raw, err := io.ReadAll(io.LimitReader(file, maxSecretBytes+1))
	switch value := strings.TrimSpace(string(raw)); {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", path, err)
	case len(raw) > maxSecretBytes:
		return "", fmt.Errorf("%s is larger than %d KiB", path, maxSecretBytes>>10)
	case value == "":
		return "", fmt.Errorf("%s is empty", path)
	default:
		return value, nil
	}
}
