// Package pgtest gives each test a Postgres database of its own, already migrated.
//
// The first use in a process finds the server: DATABASE_URL, or the shared ephemeral stack (see
// package keeper). The first use with a set of migrations makes a template database named after
// their hash; every test then gets a clone of it, in about 20 ms, which is dropped when the test
// ends. With PARLANCE_TEST_KEEP=1 the database of a failed test stays and the test's log says how
// to connect.
//
// A database that DATABASE_URL names is not touched itself: databases are made beside it, so its
// user needs CREATEDB, and pgvector if the migrations do.
package pgtest
