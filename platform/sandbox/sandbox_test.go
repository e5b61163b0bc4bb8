package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"parlance.dev/parlance/platform/sandbox"
)

// everyLayer runs a test in each layer that this machine can have; the strongest one must be there.
func everyLayer(t *testing.T, test func(t *testing.T, s *sandbox.Sandbox)) {
	t.Helper()
	held := 0
	for _, name := range []string{sandbox.Bubblewrap, sandbox.Namespaces, sandbox.OwnUser, sandbox.Landlock, sandbox.LimitsOnly} {
		s, err := sandbox.New(t.Context(), sandbox.Options{Dir: boxes(t), Layers: []string{name}})
		if err != nil {
			t.Logf("not here: %v", err)
			continue
		}
		held++
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, s) })
	}
	if held == 0 {
		t.Fatal("no layer holds here")
	}
}

// boxes is a directory that other users can pass through.
func boxes(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "boxes-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t *testing.T, s *sandbox.Sandbox) *sandbox.Box {
	t.Helper()
	box, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return box
}

func script(text string) sandbox.Command {
	return sandbox.Command{Program: "/bin/sh", Args: []string{"-c", text}}
}

func TestRun(t *testing.T) {
	t.Setenv("PARLANCE_TEST_SECRET", "do not tell")
	everyLayer(t, func(t *testing.T, s *sandbox.Sandbox) {
		box := open(t, s)
		if err := box.Put(t.Context(), "page.txt", strings.NewReader("words\n"), 6); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		c := script(`cat page.txt - && env && echo made >made.txt && [ "$PWD" -ef "$HOME" ] && echo "$1"`)
		c.Args = append(c.Args, "sandbox", "an argument; $(not) 'run'")
		c.Env = []string{"MORE=1"}
		c.Stdin, c.Stdout = strings.NewReader("typed\n"), &out
		if err := box.Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), "words\ntyped\n") || !strings.HasSuffix(out.String(), "an argument; $(not) 'run'\n") {
			t.Errorf("got %q", out.String())
		}
		if strings.Contains(out.String(), "TEST_SECRET") || !strings.Contains(out.String(), "MORE=1") {
			t.Errorf("the environment: %q", out.String())
		}
		file, err := box.OpenFile("made.txt")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if made, err := io.ReadAll(file); err != nil || string(made) != "made\n" {
			t.Errorf("got %q, %v", made, err)
		}
	})
}

// TestEnds has a row for each kind of end.
func TestEnds(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		want sandbox.Kind
		c    sandbox.Command
		ours bool
	}{
		{"no such program", sandbox.NotStarted, sandbox.Command{Program: "no-such-program"}, true},
		{"no program", sandbox.NotStarted, sandbox.Command{Program: "/etc"}, true},
		{"limits that cannot be set", sandbox.NotStarted, sandbox.Command{Program: "/bin/true", OpenFiles: 1 << 31}, true},
		{"exit", sandbox.Exited, script("echo no good >&2; exit 3"), false},
		{"crash", sandbox.Crashed, script("sh -c 'kill -SEGV $$'"), false},
		{"killed", sandbox.Killed, script("sh -c 'kill -KILL $$'"), true},
		{"time", sandbox.TimeLimit, sandbox.Command{Program: "sleep", Args: []string{"100"}, WallTime: 300 * time.Millisecond}, false},
		{"time, deaf", sandbox.TimeLimit, with(script("trap '' TERM INT XCPU; sleep 100"),
			func(c *sandbox.Command) { c.WallTime = 300 * time.Millisecond }), false},
		{"CPU", sandbox.CPULimit, with(script("sh -c 'while :; do :; done'"), func(c *sandbox.Command) { c.CPUSeconds = 1 }), false},
		{"memory", sandbox.MemoryLimit, with(script("head -c 500000000 /dev/zero | tail -n 1"),
			func(c *sandbox.Command) { c.MemoryBytes = 100 << 20 }), false},
		{"output", sandbox.OutputLimit, sandbox.Command{Program: "yes", OutputBytes: 100_000}, false},
		{"file", sandbox.OutputLimit, with(script("exec head -c 500000000 /dev/zero >big"),
			func(c *sandbox.Command) { c.FileBytes = 1 << 20 }), false},
	}
	everyLayer(t, func(t *testing.T, s *sandbox.Sandbox) {
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				err := open(t, s).Run(t.Context(), row.c)
				if got := sandbox.KindOf(err); got != row.want || got.Ours() != row.ours {
					t.Errorf("got %q (ours: %t), want %q: %v", got, got.Ours(), row.want, err)
				}
			})
		}
	})
}

func with(c sandbox.Command, change func(*sandbox.Command)) sandbox.Command {
	change(&c)
	return c
}

func TestStatusAndWords(t *testing.T) {
	t.Parallel()
	everyLayer(t, func(t *testing.T, s *sandbox.Sandbox) {
		err := open(t, s).Run(t.Context(), script(`i=0; while [ $i -lt 900 ]; do echo "line $i" >&2; i=$((i+1)); done; exit 3`))
		end, ok := errors.AsType[*sandbox.Error](err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		if end.Status != 3 || !strings.HasSuffix(end.Stderr, "line 899") || len(end.Stderr) > 4096 {
			t.Errorf("got status %d and %d bytes that end in %q", end.Status, len(end.Stderr), end.Stderr[max(0, len(end.Stderr)-20):])
		}
	})
}

// TestTheCallerEnds is about ends that are no fault of the program.
func TestTheCallerEnds(t *testing.T) {
	t.Parallel()
	everyLayer(t, func(t *testing.T, s *sandbox.Sandbox) {
		t.Run("context", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			c := script("echo ready; sleep 100")
			c.Stdout = writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
			if err := open(t, s).Run(ctx, c); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
		t.Run("writer", func(t *testing.T) {
			full := errors.New("no room")
			c := script("trap '' PIPE; while :; do echo more || sleep 100; done")
			c.Stdout = writerFunc(func([]byte) (int, error) { return 0, full })
			if err := open(t, s).Run(t.Context(), c); !errors.Is(err, full) {
				t.Errorf("got %v", err)
			}
		})
	})
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestNetwork(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	call := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", listener.Addr().(*net.TCPAddr).Port)
	if err := exec.Command("bash", "-c", call).Run(); err != nil {
		t.Fatalf("outside of a sandbox: %v", err)
	}
	t.Run("layers", func(t *testing.T) {
		everyLayer(t, func(t *testing.T, s *sandbox.Sandbox) {
			err := open(t, s).Run(t.Context(), sandbox.Command{Program: "bash", Args: []string{"-c", call}})
			if reached := err == nil; reached || strings.Contains(s.Weakness(), "network") {
				t.Errorf("reached the network: %t; %s; weakness %q; %v", reached, s.Describe(), s.Weakness(), err)
			}
			if kind := sandbox.KindOf(err); kind != sandbox.Exited {
				t.Errorf("got %v", err)
			}
		})
	})
}

func TestFilesOfOthers(t *testing.T) {
	t.Parallel()
	dir := boxes(t)
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("the key"), 0o600); err != nil {
		t.Fatal(err)
	}
	everyLayer(t, func(t *testing.T, s *sandbox.Sandbox) {
		var out bytes.Buffer
		c := sandbox.Command{Program: "cat", Args: []string{secret}, Stdout: &out}
		err := open(t, s).Run(t.Context(), c)
		if read, weak := out.Len() > 0, strings.Contains(s.Weakness(), "files"); read != weak {
			t.Errorf("read: %t, weakness %q: %v", read, s.Weakness(), err)
		}
		out.Reset()
		c.Args = []string{fmt.Sprintf("/proc/%d/environ", os.Getpid())}
		if err := open(t, s).Run(t.Context(), c); out.Len() > 0 && s.Weakness() == "" {
			t.Errorf("read our environment: %v", err)
		}
		for _, path := range []string{"/usr/touched", "/touched"} {
			if s.Weakness() != "" {
				continue
			}
			if err := open(t, s).Run(t.Context(), script("echo x >"+path)); sandbox.KindOf(err) != sandbox.Exited {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
}

// TestProcesses never starts more than ten.
func TestProcesses(t *testing.T) {
	t.Parallel()
	const ten = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 50 & all=\"$all $!\"; done; kill $all; wait"
	everyLayer(t, func(t *testing.T, s *sandbox.Sandbox) {
		few := script(ten)
		few.Processes = 6
		err := open(t, s).Run(t.Context(), few)
		counts := s.Layer() != sandbox.LimitsOnly && s.Layer() != sandbox.Landlock
		if limited := err != nil; limited != counts {
			t.Errorf("limited: %t: %v", limited, err)
		}
		enough := script(ten)
		enough.Processes = 14
		if err := open(t, s).Run(t.Context(), enough); err != nil {
			t.Error(err)
		}
	})
}

// TestNothingIsLeft looks for what a program started, after the program's end.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	everyLayer(t, func(t *testing.T, s *sandbox.Sandbox) {
		mark := fmt.Sprintf("98765.%d%d", os.Getpid(), len(s.Layer()))
		left := script("sleep " + mark + " >/dev/null 2>&1 & echo")
		if err := open(t, s).Run(t.Context(), left); err != nil {
			t.Error(err)
		}
		slow := script("sleep " + mark + "1 & sleep " + mark + "2")
		slow.WallTime = 300 * time.Millisecond
		if err := open(t, s).Run(t.Context(), slow); sandbox.KindOf(err) != sandbox.TimeLimit {
			t.Error(err)
		}
		if s.Layer() == sandbox.Bubblewrap || s.Layer() == sandbox.Namespaces {
			away := script("setsid sleep " + mark + "3 >/dev/null 2>&1 & echo")
			if err := open(t, s).Run(t.Context(), away); err != nil {
				t.Error(err)
			}
		}
		for end := time.Now().Add(5 * time.Second); running(t, mark); {
			if time.Now().After(end) {
				t.Fatal("something still runs")
			}
		}
	})
}

// running looks through the machine's processes for an argument.
func running(t *testing.T, mark string) bool {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		line, err := os.ReadFile(path)
		if err == nil && bytes.HasPrefix(line, []byte("sleep\x00"+mark)) {
			return true
		}
	}
	return false
}

func TestOpenFileRefusesTricks(t *testing.T) {
	t.Parallel()
	everyLayer(t, func(t *testing.T, s *sandbox.Sandbox) {
		box := open(t, s)
		err := box.Run(t.Context(), script("ln -s /etc/passwd link && mkfifo pipe && mkdir dir && echo x >plain && ln -s plain near"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"link", "pipe", "dir", "near", "absent", "../plain", "/etc/passwd", "", "..", "-o"} {
			if file, err := box.OpenFile(name); err == nil {
				t.Errorf("opened %q: %v", name, file.Close())
			}
		}
		for _, name := range []string{"link", "plain"} {
			if err := box.Put(t.Context(), name, strings.NewReader("x"), 1); err == nil {
				t.Errorf("put %q in the place of what was there", name)
			}
		}
	})
}

func TestPutTooLarge(t *testing.T) {
	t.Parallel()
	everyLayer(t, func(t *testing.T, s *sandbox.Sandbox) {
		box := open(t, s)
		if err := box.Put(t.Context(), "big", strings.NewReader("12345"), 4); !errors.Is(err, sandbox.ErrTooLarge) {
			t.Errorf("got %v", err)
		}
		if _, err := box.OpenFile("big"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("something was left: %v", err)
		}
	})
}

// TestSweep is about the boxes of processes that were killed.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := boxes(t)
	dead := filepath.Join(dir, "parlance-sandbox-dead")
	if err := os.MkdirAll(filepath.Join(dead, "box-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	living, err := sandbox.New(t.Context(), sandbox.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the dead one's boxes are there: %v", err)
	}
	box := open(t, living)
	other, err := sandbox.New(t.Context(), sandbox.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Run(t.Context(), script("echo still here >file")); err != nil {
		t.Error(err)
	}
	if err := errors.Join(other.Close(), living.Close()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestStartIsKnown runs many short programs side by side: none may seem not to have been started.
func TestStartIsKnown(t *testing.T) {
	t.Parallel()
	everyLayer(t, func(t *testing.T, s *sandbox.Sandbox) {
		results := make(chan error)
		const times, beside = 40, 4
		for range beside {
			go func() {
				for range times / beside {
					box, err := s.Open(context.Background())
					if err == nil {
						err = errors.Join(failed(box.Run(context.Background(), script("exit 7"))), box.Close())
					}
					results <- err
				}
			}()
		}
		for range times {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	})
}

// failed wants an end with status 7.
func failed(err error) error {
	if end, ok := errors.AsType[*sandbox.Error](err); ok && end.Kind == sandbox.Exited && end.Status == 7 {
		return nil
	}
	return fmt.Errorf("not status 7: %w", err)
}

// TestWeakness: who may make users or namespaces hides everything.
func TestWeakness(t *testing.T) {
	t.Parallel()
	s, err := sandbox.New(t.Context(), sandbox.Options{Dir: boxes(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !strings.HasPrefix(s.Describe(), s.Layer()) || (syscall.Geteuid() == 0 && s.Weakness() != "") {
		t.Errorf("%q, weakness %q", s.Describe(), s.Weakness())
	}
}
