// Package app is the one place where the parts are joined: Config, read once from flags and the
// environment, and Open, which makes every service from it.
//
//	settings.go  every setting: name, default, help; docs/configuration.md is generated from it
//	config.go    Config and Load
//	app.go       Open → App → Close
package app
