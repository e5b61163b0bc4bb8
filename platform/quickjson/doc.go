// Package quickjson reads and writes JSON that comes in hundreds and is mostly of one shape: pieces of a model's answer,
// frames of clients. Where it says yes, it has read what encoding/json would; it says no to all that is not simple, and to any
// doubt, and then encoding/json has the word. So the readers of a shape are tables of the members it knows, and are
// tested by comparing.
//
// A [Writer] writes such shapes member by member, as encoding/json would without its escapes for HTML, and in less than
// half of its time. What writes a shape is tested by comparing, too.
//
// What the readers do not know on purpose: escapes of four digits, fractions, members twice, names with capitals or escapes,
// spaces other than blanks.
package quickjson
