package keeper

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/platform/devstack"
)

// patience is far more than anything here takes; a test that fails waits this long.
const patience = time.Minute

// testState is a keeper's directory that nobody else uses.
func testState(t *testing.T) state {
	t.Helper()
	dir, err := os.MkdirTemp("", "prl-keep-")
	if err != nil {
		t.Fatalf("make directory: %v", err)
	}
	err = os.Chmod(dir, 0o711)
	if err != nil {
		t.Fatalf("open directory: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return state{dir: dir}
}

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-deadline.C:
			t.Fatalf("not within %v: %s", patience, what)
		case <-ticker.C:
		}
	}
}

func running(t *testing.T, dir string) bool {
	t.Helper()
	out, err := exec.Command("ps", "-axww", "-o", "args").Output()
	if err != nil {
		t.Fatalf("ps: %v", err)
	}
	return strings.Contains(string(out), dir)
}

func ended(t *testing.T, s state) func() bool {
	return func() bool {
		_, dataErr := os.Stat(s.dataDir())
		_, readyErr := os.Stat(s.readyFile())
		return errors.Is(dataErr, os.ErrNotExist) && errors.Is(readyErr, os.ErrNotExist) && !running(t, s.dataDir())
	}
}

func answers(t *testing.T, url string) bool {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		return false
	}
	return conn.Close(t.Context()) == nil
}

func TestKeeperEndsAfterLastUser(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := testState(t)
	first, firstLock, err := join(ctx, s)
	if err != nil {
		t.Fatalf("join: %v", err)
	}
	second, secondLock, err := join(ctx, s)
	if err != nil || second != first {
		t.Fatalf("second join: %+v, %v, want %+v", second, err, first)
	}
	firstLock.Unlock()

	// One user is left: longer than idleAfter, and it still answers.
	began := time.Now()
	eventually(t, "idle time passed", func() bool { return time.Since(began) > idleAfter+2*checkEvery })
	if !answers(t, second.DatabaseURL) {
		t.Error("the stack ended although it had a user")
	}
	secondLock.Unlock()
	eventually(t, "everything gone", ended(t, s))

	// And again from nothing.
	third, thirdLock, err := join(ctx, s)
	if err != nil {
		t.Fatalf("join after the end: %v", err)
	}
	if !answers(t, third.DatabaseURL) {
		t.Error("new stack does not answer")
	}
	thirdLock.Unlock()
	eventually(t, "everything gone again", ended(t, s))
}

// holdVariable makes TestHold the body of another process.
const holdVariable = "PARLANCE_TEST_HOLD"

// TestHold is not a test of its own: TestKeeperEndsAfterKill runs it in a process and kills that.
func TestHold(t *testing.T) {
	dir := os.Getenv(holdVariable)
	if dir == "" {
		return
	}
	_, lock, err := join(t.Context(), state{dir: dir})
	if err != nil {
		t.Fatalf("join: %v", err)
	}
	defer lock.Unlock()
	_, _ = os.Stdout.WriteString("\nholding\n")
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // until killed
}

func TestKeeperEndsAfterKill(t *testing.T) {
	t.Parallel()
	s := testState(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHold$", "-test.v")
	cmd.Env = append(cmd.Environ(), holdVariable+"="+s.dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatalf("pipe: %v", err)
	}
	defer func() { _ = stdin.Close() }()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("pipe: %v", err)
	}
	err = cmd.Start()
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	holding := false
	for lines := bufio.NewScanner(stdout); !holding && lines.Scan(); {
		holding = lines.Text() == "holding"
	}
	if !holding || !running(t, s.dataDir()) {
		t.Fatalf("holding %t, servers running %t, want both", holding, running(t, s.dataDir()))
	}
	err = cmd.Process.Signal(syscall.SIGKILL)
	if err != nil {
		t.Fatalf("kill: %v", err)
	}
	_ = cmd.Wait() // "signal: killed"
	eventually(t, "everything gone after a kill", ended(t, s))
}

func TestJoinAfterKeeperWasKilled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := testState(t)
	first, firstLock, err := join(ctx, s)
	if err != nil {
		t.Fatalf("join: %v", err)
	}
	err = syscall.Kill(first.PID, syscall.SIGKILL)
	if err != nil {
		t.Fatalf("kill keeper: %v", err)
	}
	dead, err := devstack.LockExclusive(ctx, s.keeperLock())
	if err != nil {
		t.Fatalf("wait for the keeper's lock: %v", err)
	}
	dead.Unlock()
	firstLock.Unlock()
	second, secondLock, err := join(ctx, s)
	if err != nil {
		t.Fatalf("join after the keeper was killed: %v", err)
	}
	if second.PID == first.PID || !answers(t, second.DatabaseURL) {
		t.Errorf("keeper %d after %d, want a new one whose database answers", second.PID, first.PID)
	}
	secondLock.Unlock()
	eventually(t, "everything gone", ended(t, s))
}
