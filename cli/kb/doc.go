// Package kb is `parlance kb`: adding, listing, changing, asking and measuring the sources of a
// workspace.
package kb
