// Package complete makes shell completion offer ids of agents, tools, sources and other things that
// the installation has. It asks the public API while the person waits, so it asks once, for a
// short time, and offers nothing when that fails.
package complete
