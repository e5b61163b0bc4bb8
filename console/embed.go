package console

import (
	"embed"
	"io/fs"
)

//go:embed dist
var embedded embed.FS

// Files are what `npm run build` makes: index.html, icon.svg and assets/.
func Files() fs.FS {
	files, err := fs.Sub(embedded, "dist")
	if err != nil { // "dist" is a valid path
		panic(err)
	}
	return files
}
