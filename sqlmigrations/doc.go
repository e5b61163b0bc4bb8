// Package sqlmigrations is the history of the database's schema: one file a step, named
// NNNN_verb_noun.tx.up.sql (.tx. = in one transaction), forward only, harmless to repeat and
// safe while the previous binary is still running. schema.sql is the dump of what they make.
package sqlmigrations
