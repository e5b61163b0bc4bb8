// Package dev is `parlance dev`: one installation on this machine, with its own Postgres and Redis.
package dev
