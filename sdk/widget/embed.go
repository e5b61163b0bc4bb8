// Package widget holds the script that customers put into their pages, and its audio worklets, as
// the server sends them at /widget/. They are built from src with `npm run build`.
package widget

import (
	"embed"
	"io/fs"
)

//go:embed dist/widget.js dist/microphone-worklet.js dist/player-worklet.js
var dist embed.FS

// Files returns widget.js, microphone-worklet.js and player-worklet.js.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil { // the name is valid
		panic(err)
	}
	return files
}
