// Package schema is the JSON Schema of a tool's arguments: it checks schemas and arguments, and
// bounds what checking may cost, because tenants and MCP servers write the schemas.
package schema
