// Package tools is `parlance tools`: adding tools, also from an OpenAPI document, listing, trying
// and removing them.
package tools
