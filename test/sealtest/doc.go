// Package sealtest makes keyrings for tests, under master keys that everybody knows.
package sealtest
