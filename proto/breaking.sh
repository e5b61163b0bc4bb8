#!/bin/sh
# Fails on what breaks callers of the contract: compares proto/ with the descriptor set of the last
# release in proto/released/, or with proto/ of a git ref: proto/breaking.sh main.
set -eu
cd "$(dirname "$0")/.."
buf=proto/node_modules/.bin/buf

if [ $# -eq 0 ]; then
	last=$(ls proto/released/*.binpb | sort -V | tail -1)
	echo "comparing with $last"
	exec $buf breaking proto --against "$last"
fi
rm -rf .buf-against
mkdir .buf-against
git archive "$1" buf.yaml proto server/rest/testdata | tar -x -C .buf-against
cp -R .proto-deps .buf-against/.proto-deps # in no commit, so buf cannot compare with git by itself
$buf breaking --against .buf-against
