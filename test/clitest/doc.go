// Package clitest runs commands of `parlance` in tests: alone, or on a running service.
package clitest
