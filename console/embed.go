package console

import "embed"

// Files are the page: index.html, style.css, icon.svg and js/.
//
//go:embed index.html style.css icon.svg js
var Files embed.FS
