#!/bin/sh
# Compares proto/ with that of a git ref (default main) and fails on what breaks callers.
# buf cannot compare with git by itself here: .proto-deps is not in any commit.
set -eu
cd "$(dirname "$0")/.."

ref=${1:-main}
rm -rf .buf-against
mkdir .buf-against
git archive "$ref" buf.yaml proto server/rest/testdata | tar -x -C .buf-against
cp -R .proto-deps .buf-against/.proto-deps
proto/node_modules/.bin/buf breaking --against .buf-against
