package tools_test

import (
	"fmt"
	"strings"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

// digitsJSON and digitsYAML describe an operation whose bounds no double holds.
const (
	digitsJSON = `{"openapi": "3.1.0", "info": {"title": "Digits"}, "servers": [{"url": "%s"}], "paths": {"/a": {"post": {
		"operationId": "send", "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {
			"account": {"enum": [9007199254740993]}, "code": {"const": 123456789012345678901234567890},
			"amount": {"minimum": -9007199254740995, "exclusiveMaximum": 9007199254740997, "default": 12345678901234567.25},
			"text": {"enum": ["9007199254740993", "\u00009007199254740993"]}, "small": {"minimum": 1e-3, "maximum": 7}
		}}}}}}}}}`
	digitsYAML = `
openapi: 3.1.0
info: {title: Digits}
servers: [{url: '%s'}]
paths:
  /a:
    post:
      operationId: send
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                account: {enum: [&account 9007199254740993]}
                code: {const: 123456789012345678901234567890}
                amount: {minimum: -9007199254740995, exclusiveMaximum: 9007199254740997, default: 12345678901234567.25}
                text: {enum: ["9007199254740993", "\09007199254740993"]}
                small: {minimum: 1e-3, maximum: 7}
`
)

// The schemas of a document keep the digits of their numbers, and a document with another digit
// differs.
func TestToolsAddDigits(t *testing.T) {
	t.Parallel()
	w := startTools(t)
	for name, document := range map[string]string{"json": digitsJSON, "yaml": digitsYAML} {
		document = fmt.Sprintf(document, w.api.URL)
		add := func(want string, more ...string) {
			t.Helper()
			clitest.WriteFile(t, w.document, document)
			w.add(t, append([]string{"--all", "--yes", "--prefix", name}, more...)...).Wants(t, command.ExitDone, want)
		}
		add("1 made")
		shown := w.tools(t, "", "show", name+"_send", "--json")
		shown.Wants(t, command.ExitDone,
			`"enum":[9007199254740993]`, `"const":123456789012345678901234567890`, `"minimum":-9007199254740995`,
			`"exclusiveMaximum":9007199254740997`, `"default":12345678901234567.25`, `"enum":["9007199254740993","9007199254740993"]`,
			`"minimum":0.001`, `"maximum":7`)
		add("1 there already")
		document = strings.ReplaceAll(document, "9007199254740993]", "9007199254740992]")
		add("differs: input_schema")
		add("1 updated", "--update")
		w.tools(t, "", "run", name+"_send", "--arg", "account=9007199254740992").Wants(t, command.ExitDone)
		add("1 there already")
	}
}
