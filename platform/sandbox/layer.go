package sandbox

import (
	"math/rand/v2"
	"strings"
	"syscall"
)

// layer is one way to keep a program in its box.
type layer struct {
	name string
	// prefix are bubblewrap's words; nil for other layers.
	prefix []string
	// inside is how the box is called inside; empty is its own path.
	inside string
	// ownUser: the program runs with another user id than ours; manyUsers: each box has its own.
	ownUser, manyUsers bool
	// cloneFlags are Linux's, for namespaces that we make ourselves.
	cloneFlags uintptr
	// firstProcess: the shell is the first process of a namespace, and all end with it.
	firstProcess bool
	// countsProcesses: a limit on processes counts the box's alone.
	countsProcesses bool
	// filesHidden: the program sees no files but the system's.
	filesHidden bool
	// landlock hides them.
	landlock bool
	// noNetwork: the layer takes the network away. filter: the program can make no sockets at all.
	noNetwork, filter bool
}

// user is the user id of a new box: two boxes are strangers, also those of two workers.
func (l layer) user() uint32 {
	if !l.manyUsers {
		return nobody
	}
	return firstUser + rand.Uint32N(users) //nolint:gosec // the user id is no secret
}

// wrap puts the layer's words before the program's, and says how the box is called inside.
func (l layer) wrap(box string, words []string) (all []string, home string) {
	if l.prefix == nil {
		return words, box
	}
	all = append(all, l.prefix...)
	all = append(all, "--bind", box, l.inside, "--chdir", l.inside, "--remount-ro", "/", "--")
	return append(all, words...), l.inside
}

func (l layer) attributes(attr *syscall.SysProcAttr, uid uint32) {
	if uid != 0 {
		attr.Credential = &syscall.Credential{Uid: uid, Gid: uid}
	}
	l.systemAttributes(attr, uid)
}

func (l layer) describe() string {
	holds := []string{"limits on memory, CPU, time, files and output"}
	if l.filesHidden {
		holds = append(holds, "no files but the system's and its own")
	}
	if l.noNetwork || l.filter {
		holds = append(holds, "no network")
	}
	if l.ownUser {
		holds = append(holds, "a user of its own")
	}
	return l.name + ": " + strings.Join(holds, ", ")
}

func (l layer) weakness() string {
	var reach []string
	if !l.ownUser && !l.filesHidden {
		reach = append(reach, "the files and processes of this service's user, secrets among them")
	}
	switch {
	case l.filter || l.prefix != nil:
	case l.noNetwork:
		reach = append(reach, "the sockets of other programs on this machine")
	default:
		reach = append(reach, "the network")
	}
	return strings.Join(reach, " and ")
}
