package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Options say where boxes are made.
type Options struct {
	// Dir is where boxes are made; empty is the system's directory for temporary files. Documents
	// lie there while they are read.
	Dir string
	// Layers are those that may be used, by name; nil is all of them. For tests.
	Layers []string
}

// The layers, strongest first.
const (
	Bubblewrap = "bubblewrap"
	Namespaces = "namespaces"
	OwnUser    = "own-user"
	Landlock   = "landlock"
	LimitsOnly = "limits-only"
)

// Sandbox makes boxes. It is safe for concurrent use.
type Sandbox struct {
	layer layer
	dir   *runDir
}

// New finds out which layers hold here, by running a program in them, and removes the boxes of
// processes that were killed. It takes some tens of milliseconds. Close removes the directory.
func New(ctx context.Context, o Options) (*Sandbox, error) {
	if o.Dir == "" {
		o.Dir = os.TempDir()
	}
	sweep(o.Dir)
	dir, err := newRunDir(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Sandbox{dir: dir}
	var problems []error
	for _, candidate := range candidates() {
		if o.Layers != nil && !slices.Contains(o.Layers, candidate.name) {
			continue
		}
		s.layer = candidate
		if err = s.probe(ctx); err == nil {
			return s, nil
		}
		if ctx.Err() != nil {
			return nil, errors.Join(ctx.Err(), s.Close())
		}
		problems = append(problems, fmt.Errorf("%s: %w", candidate.name, err))
	}
	if len(problems) == 0 {
		problems = append(problems, errors.New("none of the layers that may be used is here"))
	}
	problems = append(problems, s.Close())
	return nil, fmt.Errorf("no sandbox works here: %w", errors.Join(problems...))
}

// probe copies a file inside of a box, as programs will.
func (s *Sandbox) probe(ctx context.Context) error {
	box, err := s.Open(ctx)
	if err != nil {
		return err
	}
	const text = "hello from the box"
	err = box.Put(ctx, "in", strings.NewReader(text), int64(len(text)))
	if err == nil {
		err = box.Run(ctx, Command{Program: "/bin/sh", Args: []string{"-c", `read line <in || test -n "$line"; echo "$line" >out`}})
	}
	if err == nil {
		err = expect(box, "out", text+"\n")
	}
	return errors.Join(err, box.Close())
}

func expect(box *Box, name, want string) error {
	file, err := box.OpenFile(name)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // read only
	got := make([]byte, len(want)+1)
	n, _ := file.Read(got) // a short or failed read is another text
	if string(got[:n]) != want {
		return fmt.Errorf("the box gave back %q", got[:n])
	}
	return nil
}

// Has reports by its error which of the programs are missing. Errors: *Error NotStarted.
func (s *Sandbox) Has(programs ...string) error {
	var missing []error
	for _, name := range programs {
		if _, err := program(name); err != nil {
			missing = append(missing, err)
		}
	}
	return errors.Join(missing...)
}

// Layer is the name of the layer in use.
func (s *Sandbox) Layer() string { return s.layer.name }

// Describe says in a sentence which layers hold here.
func (s *Sandbox) Describe() string { return s.layer.describe() }

// Weakness is what a document that takes over its parser could reach here and should not; empty
// when nothing.
func (s *Sandbox) Weakness() string { return s.layer.weakness() }

// Close removes what is left. Boxes must have been closed.
func (s *Sandbox) Close() error { return s.dir.remove() }

// Open makes an empty box.
func (s *Sandbox) Open(ctx context.Context) (*Box, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(s.dir.path, "box-")
	if err != nil {
		return nil, fmt.Errorf("make a box: %w", err)
	}
	b := &Box{sandbox: s, path: path}
	if s.layer.ownUser {
		b.uid = s.layer.user()
		if err := os.Chown(path, int(b.uid), int(b.uid)); err != nil {
			return nil, errors.Join(fmt.Errorf("hand the box over: %w", err), os.RemoveAll(path))
		}
	}
	if b.root, err = os.OpenRoot(path); err != nil {
		return nil, errors.Join(fmt.Errorf("open the box: %w", err), os.RemoveAll(path))
	}
	return b, nil
}

// program finds what is to be run, by the path that is the same inside.
func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &Error{Kind: NotStarted, Program: name, err: err}
	}
	return filepath.Abs(path)
}
