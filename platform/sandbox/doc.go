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
//   - Linux's Landlock, unless we are root: no files but those that bubblewrap shows, and no other
//     processes. Namespaces would hide no file from a program that has our user id
//   - namespaces of our own: no network, no other processes; as root also with a user id that
//     nothing else has
//   - a user id that nothing else has and Landlock, as root where namespaces are forbidden
//     (containers); then Landlock alone
//   - nothing more than the limits
//
// and always by limits on memory, CPU seconds, wall time, open files, the size of files and of the
// output, by a low priority, without a core dump, with no variable of our environment, and by an
// end of the whole process group. In all layers but bubblewrap, Linux's seccomp forbids to make a
// socket of any kind: neither the network nor a server's socket in the file system is in reach.
//
// Error.Kind says what went wrong. A few lines of shell inside of all layers set the limits and
// write one byte to a pipe, then the program takes their place: without that byte it was not
// started.
//
// A process that is killed leaves its boxes behind; the next New on the machine removes them.
//
// The package knows no program and no document.
package sandbox
