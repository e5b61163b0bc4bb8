package sound

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"

	"parlance.dev/parlance/platform/audio"
)

// Say speaks a text by espeak-ng in one of its voices, such as en-us or de. The samples have the
// rate that is returned, not RateHz.
func Say(ctx context.Context, find FindFunc, voice, text string) (samples []int16, rateHz int, err error) {
	path, err := find("espeak-ng")
	if err != nil {
		return nil, 0, fmt.Errorf("this machine has no espeak-ng, which speaks texts. On Debian and Ubuntu, " +
			"`sudo apt-get install espeak-ng` installs it; a WAV file needs none")
	}
	cmd := exec.CommandContext(ctx, path, "-v", voice, "--stdin", "--stdout")
	cmd.WaitDelay = endWithin
	cmd.Stdin = strings.NewReader(text)
	var spoken bytes.Buffer
	var said lastWords
	cmd.Stdout, cmd.Stderr = &spoken, &said
	if err := cmd.Run(); err != nil {
		return nil, 0, fmt.Errorf("espeak-ng does not speak: %w%s", err, said.after(": "))
	}
	samples, rateHz, err = audio.ReadWAV(&spoken, maxFileBytes)
	if err != nil || len(samples) == 0 {
		return nil, 0, fmt.Errorf("espeak-ng has nothing to say for %q%s", text, said.after(": "))
	}
	return samples, rateHz, nil
}
