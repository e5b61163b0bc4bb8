// Package people is the commands `parlance people` and `parlance whoami`: who signs in at the
// console and what they may do, and who is calling, over the public API.
package people
