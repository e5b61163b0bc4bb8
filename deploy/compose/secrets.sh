#!/bin/sh
# Makes ./secrets for compose.yaml: the master key, the password of Postgres, and the database URL
# with it. What is there already is left alone, so it can be run again. Keep a copy of master.key
# apart from the backups: without it stored secrets cannot be read again.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p secrets
# The files are readable because the containers run as a user of their own (65532); the directory
# is not, so nobody else on this machine gets to them.
chmod 0700 secrets
umask 0333

make() { # make NAME: standard input becomes secrets/NAME, whole or not at all
	cat >"secrets/.$1.$$"
	mv "secrets/.$1.$$" "secrets/$1"
	echo "made secrets/$1"
}
random() { head -c "$1" /dev/urandom; }

[ -s secrets/master.key ] || random 32 | base64 | make master.key
[ -s secrets/postgres-password ] || random 24 | od -An -vtx1 | tr -d ' \n' | make postgres-password
[ -s secrets/database-url ] ||
	printf 'postgres://parlance:%s@postgres:5432/parlance?sslmode=disable' "$(cat secrets/postgres-password)" | make database-url
