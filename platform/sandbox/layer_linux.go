package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

const canLimitMemory = true

const (
	// firstUser begins a range that neither distributions nor containers give to anybody.
	// Source: systemd, UIDs and GIDs (1879048192 to 4294967293 are unused).
	firstUser = 1_900_000_000
	users     = 200_000_000
	// nobody is the user id where the range does not exist, as in containers.
	nobody = 65534
)

// niceness of programs: requests and conversations on the same machine come first.
const niceness = 10

// visible is what bubblewrap shows, read-only, where it exists: programs, libraries, fonts, and no
// configuration that could hold a secret.
var visible = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/fonts", "/var/cache/fontconfig",
	"/etc/hosts", "/etc/nsswitch.conf", // without them programs that look up this host ask a name service
}

var devices = []string{"/dev/null", "/dev/zero", "/dev/urandom"}

// candidates are the layers to try, strongest first.
func candidates() []layer {
	root := os.Geteuid() == 0
	var all []layer
	add := func(l layer) {
		l.filter = canFilter && l.prefix == nil // bubblewrap uses sockets itself, and hides those of others
		if root && l.ownUser {
			l.manyUsers = true
			all = append(all, l)
			l.manyUsers = false
		}
		if root || !l.ownUser {
			all = append(all, l)
		}
	}
	if path, err := exec.LookPath("bwrap"); err == nil {
		l := bubblewrap(path)
		l.ownUser, l.countsProcesses = root, true
		add(l)
		l.ownUser, l.countsProcesses = false, !root
		add(l)
	}
	hides := landlockVersion() > 0
	landlock := layer{name: Landlock, landlock: true, filesHidden: true}
	if hides && !root { // namespaces hide no file from a program that has our user id
		add(landlock)
	}
	// Not with Landlock: Go writes the maps of namespaces from the thread that it would keep from it.
	add(layer{
		name: Namespaces, ownUser: root, firstProcess: true, countsProcesses: true, noNetwork: true,
		cloneFlags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC |
			syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS,
	})
	add(layer{name: OwnUser, ownUser: true, countsProcesses: true, landlock: hides, filesHidden: hides})
	if hides && root {
		add(landlock)
	}
	add(layer{name: LimitsOnly})
	return all
}

func bubblewrap(path string) layer {
	words := []string{path, "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--hostname", "localhost"}
	for _, dir := range visible {
		words = append(words, "--ro-bind-try", dir, dir)
	}
	for _, device := range devices {
		words = append(words, "--dev-bind-try", device, device)
	}
	return layer{name: Bubblewrap, prefix: words, inside: "/box", filesHidden: true, noNetwork: true}
}

func (l layer) systemAttributes(attr *syscall.SysProcAttr, uid uint32) {
	attr.Pdeathsig = syscall.SIGKILL
	if l.cloneFlags == 0 {
		return
	}
	attr.Cloneflags = l.cloneFlags
	id := int(uid)
	gid := id
	if uid == 0 {
		id, gid = os.Geteuid(), os.Getegid()
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
}

// awaitExit returns when the process has ended, before it is reaped: its group still is its own.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// confine readies the calling thread, which is thrown away afterwards, for the program that is
// started from it.
func (l layer) confine(box string) error {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, niceness) // fails where we are that low already
	if l.landlock {
		if err := hideFiles(box); err != nil {
			return err
		}
	}
	if !l.filter {
		return nil
	}
	return forbidSockets()
}
