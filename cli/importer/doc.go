// Package importer is `parlance import`: it makes agents, tools and sources of what ElevenLabs,
// Vapi and Retell export. Package exports reads the files; this package calls the public API and
// prints what became of each part.
package importer
