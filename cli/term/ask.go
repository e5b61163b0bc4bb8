package term

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// ErrInputEnded says that the input ended before a question was answered.
var ErrInputEnded = errors.New("the input has ended before the question was answered")

// Asker asks questions on a terminal. Use one Asker for all questions: it buffers its input.
type Asker struct {
	In  io.Reader
	Out io.Writer

	buffered *bufio.Reader
}

// Line asks a question and returns the answer without white space at its ends.
func (a *Asker) Line(ctx context.Context, question string) (string, error) {
	if a.buffered == nil {
		a.buffered = bufio.NewReader(a.In)
	}
	return a.await(ctx, question, func() (string, error) {
		text, err := a.buffered.ReadString('\n')
		if text != "" {
			return text, nil
		}
		return "", err
	})
}

// Confirm asks a question that is answered with yes or no. An empty line is yes.
func (a *Asker) Confirm(ctx context.Context, question string) (bool, error) {
	answer, err := a.Line(ctx, question)
	answer = strings.ToLower(answer)
	return err == nil && (answer == "" || answer == "y" || answer == "yes"), err
}

// Secret is Line for an answer that the terminal does not show.
func (a *Asker) Secret(ctx context.Context, question string) (string, error) {
	file, ok := a.In.(*os.File)
	if !ok {
		return a.Line(ctx, question)
	}
	fd := int(file.Fd())
	shown, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("hide what is typed: %w", err)
	}
	defer func() {
		_ = term.Restore(fd, shown) // the terminal may be gone
		fmt.Fprintln(a.Out)
	}()
	return a.await(ctx, question, func() (string, error) {
		secret, err := term.ReadPassword(fd)
		return string(secret), err
	})
}

// await writes the question and returns what read returns, or the error of ctx when it ends first.
// A read from a terminal cannot be cancelled: its goroutine then lives until the process ends.
func (a *Asker) await(ctx context.Context, question string, read func() (string, error)) (string, error) {
	fmt.Fprint(a.Out, question)
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1) // nobody receives after ctx has ended
	go func() {
		text, err := read()
		answers <- answer{strings.TrimSpace(text), err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-answers:
		if errors.Is(got.err, io.EOF) {
			return "", ErrInputEnded
		}
		return got.text, got.err
	}
}
