package sandbox_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"parlance.dev/parlance/platform/sandbox"
)

// dial tries to reach the socket of another program by its path: one that it makes, and one of a
// pair.
const dial = `use Socket; my $to = sockaddr_un($ARGV[0]);
print "reached" if socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, $to);
print "reached by a pair" if socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) && connect(A, sockaddr_un($ARGV[1]));`

// TestSocketsOfOthers: Postgres may trust whoever reaches its socket, and so may the system's log.
func TestSocketsOfOthers(t *testing.T) {
	t.Parallel()
	dir := boxes(t)
	stream, datagrams := filepath.Join(dir, "stream"), filepath.Join(dir, "datagrams")
	listener, err := net.Listen("unix", stream)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	packets, err := net.ListenPacket("unixgram", datagrams)
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	for _, path := range []string{stream, datagrams} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("perl", "-e", dial, stream, datagrams).Output(); string(out) != "reachedreached by a pair" {
		t.Fatalf("outside of a sandbox: %q, %v", out, err)
	}
	t.Run("layers", func(t *testing.T) {
		everyLayer(t, func(t *testing.T, s *sandbox.Sandbox) {
			var out bytes.Buffer
			c := sandbox.Command{Program: "perl", Args: []string{"-e", dial, stream, datagrams}, Stdout: &out}
			if err := open(t, s).Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			weak := strings.Contains(s.Weakness(), "network") || strings.Contains(s.Weakness(), "sockets")
			if reached := out.Len() > 0; reached != weak {
				t.Errorf("%s; weakness %q", out.String(), s.Weakness())
			}
		})
	})
}

// TestWithoutBubblewrap runs the tests of what a program can reach as a user who is not root, where
// no bubblewrap is.
func TestWithoutBubblewrap(t *testing.T) {
	t.Parallel()
	if os.Getenv("PARLANCE_TEST_AS_NOBODY") == "" && os.Geteuid() == 0 {
		asNobody(t, "TestWithoutBubblewrap|TestSocketsOfOthers|TestFilesOfOthers|TestNetwork|TestRun$|TestEnds")
		return
	}
	s, err := sandbox.New(t.Context(), sandbox.Options{
		Dir: boxes(t), Layers: []string{sandbox.Landlock, sandbox.Namespaces, sandbox.OwnUser, sandbox.LimitsOnly},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if runtime.GOOS == "linux" && s.Layer() == sandbox.Landlock && strings.Contains(s.Weakness(), "files") {
		t.Errorf("%s; weakness %q", s.Describe(), s.Weakness())
	}
	if s.Layer() == sandbox.Namespaces && os.Geteuid() != 0 {
		if landlock, err := sandbox.New(t.Context(), sandbox.Options{Dir: boxes(t), Layers: []string{sandbox.Landlock}}); err == nil {
			t.Errorf("%s is used where there is %s", s.Describe(), landlock.Describe())
			landlock.Close()
		}
	}
}

// asNobody runs tests of this package as another user.
func asNobody(t *testing.T, tests string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir := boxes(t)
	copied, scratch := filepath.Join(dir, "test"), filepath.Join(dir, "tmp")
	syscall.ForkLock.RLock() // a program that another test starts now would have the file open for writing: text file busy
	err = os.WriteFile(copied, program, 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(scratch, 0o711); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	if err := os.Chown(scratch, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), copied, "-test.run", tests)
	cmd.Dir = scratch
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + scratch, "PARLANCE_TEST_AS_NOBODY=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as nobody: %v\n%s", err, fmt.Sprint(string(out)))
	}
}
