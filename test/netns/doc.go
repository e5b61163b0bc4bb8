// Package netns gives programs of a test a network of their own, as another machine has: a network
// namespace of Linux with nothing but loopback. What such a program may reach, and who may reach
// it, is forwarded by the test. It needs root and ip (package iproute2).
package netns
