// Package sandbox runs a program on bytes that are not trusted, such as a parser of PDF files or a
// reader of images.
//
//	New ──► which layers hold here? ──► Sandbox ──Open──► Box: Put, Run, Open, Remove ──► Close
//
// A box is a directory of its own, made for one document and removed with it. What runs in it is
// held by the first of these layers that works on this machine; New tries them with a real program:
//
//   - bubblewrap: no network, no other processes, of the file system only /usr and its like,
//     read-only, and the box; as root also with a user id that nothing else has
//   - namespaces of our own, where there is no bubblewrap: no network, no other processes; as root
//     also with a user id that nothing else has
//   - a user id that nothing else has, as root where namespaces are forbidden (containers)
//   - nothing more than the limits: any other user in a container
//
// and always by limits on memory, CPU seconds, wall time, open files, the size of files and of the
// output, by a low priority, without a core dump, with no variable of our environment, and by an
// end of the whole process group. Where the layer does not take the network away, Linux's seccomp
// does: no socket but those between processes can be made. In the last two, Linux's Landlock hides
// all files but those that bubblewrap shows, and other processes.
//
// Error.Kind says what went wrong. A few lines of shell inside of all layers set the limits and
// write one byte to a pipe, then the program takes their place: without that byte it was not
// started.
//
// A process that is killed leaves its boxes behind; the next New on the machine removes them.
//
// The package knows no program and no document.
package sandbox
