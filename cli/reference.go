package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/fault"
)

func newConfig() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use: "config", Short: "Print every setting with its value here, flag, default and meaning", GroupID: "admin", Args: command.ExactArgs(),
		Long: `Prints every setting with the value that a command started here would use: that of the environment, or the
default. Values of secrets are ***. Flags of a command win over these values.`,
		Example: `  parlance config
  PARLANCE_LISTEN=127.0.0.1:9000 parlance config | grep PARLANCE_LISTEN`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if markdown {
				return writeConfigMarkdown(cmd.OutOrStdout())
			}
			return writeConfigText(cmd.OutOrStdout(), app.OSSource(nil))
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print docs/configuration.md")
	return cmd
}

// writeConfigText lists the settings with the values in force; values of secrets are ***.
func writeConfigText(w io.Writer, source app.Source) error {
	var text strings.Builder
	group := ""
	for _, setting := range app.Settings() {
		if setting.Group != group {
			group = setting.Group
			fmt.Fprintf(&text, "\n%s\n", group)
		}
		value, err := source.InForce(setting)
		switch {
		case err != nil:
			value = " cannot be read: " + err.Error()
		case value != "":
			value = " = " + term.Clean(value)
		}
		fmt.Fprintf(&text, "  %s (--%s)%s\n      %s%s\n", setting.Env(), setting.Flag(), value, setting.Help, defaultWords(setting))
	}
	_, err := io.WriteString(w, strings.TrimPrefix(text.String(), "\n"))
	return err
}

func defaultWords(setting app.Setting) string {
	if setting.Default == "" {
		return ""
	}
	return " Default: " + setting.Default + "."
}

// configIntro is the beginning of docs/configuration.md.
const configIntro = `<!-- Made by: go run ./cmd/parlance config --markdown > docs/configuration.md -->
# Configuration

Every setting is an environment variable and a flag of the commands that use it; the flag wins.
Settings are read once, at the start, and all that is wrong with them is said at once.
Those marked *secret* can also be given as a file: the variable with ` + "`_FILE`" + ` behind its name
holds the path. Their values are never printed or logged.

` + "`parlance server` and `parlance worker` need " + "`DATABASE_URL`, `REDIS_URL`, `PARLANCE_BLOB_URL`" + `
and ` + "`PARLANCE_MASTER_KEY_FILE`. `parlance dev`" + ` makes all four by itself.
`

func writeConfigMarkdown(w io.Writer) error {
	var text strings.Builder
	text.WriteString(configIntro)
	group := ""
	for _, setting := range app.Settings() {
		if setting.Group != group {
			group = setting.Group
			fmt.Fprintf(&text, "\n## %s\n\n| variable | flag | default | meaning |\n|---|---|---|---|\n", group)
		}
		fmt.Fprintf(&text, "| `%s` | `--%s` | %s | %s |\n", setting.Env(), setting.Flag(), code(setting.Default), settingMeaning(setting))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func settingMeaning(setting app.Setting) string {
	meaning := cell(setting.Help)
	var also []string
	for _, alias := range setting.Aliases {
		if alias != setting.Env() {
			also = append(also, code(alias))
		}
	}
	if len(also) > 0 {
		meaning += " " + strings.Join(also, ", ") + " is honoured when it is unset."
	}
	if setting.Secret {
		meaning += " *Secret.*"
	}
	return meaning
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + cell(text) + "`"
}

// cell escapes a text for a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "|", `\|`), "\n", " ")
}

func newErrors() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use: "errors [CODE]", Short: "Explain the error codes of the API", GroupID: "use", Args: command.AtMostOneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if markdown {
				return writeErrorsMarkdown(cmd.OutOrStdout())
			}
			return writeErrorsText(cmd.OutOrStdout(), args)
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print docs/errors.md")
	return cmd
}

func writeErrorsText(w io.Writer, codes []string) error {
	entries := fault.Table()
	if len(codes) > 0 {
		entry, ok := fault.Lookup(fault.Reason(codes[0]))
		if !ok {
			return command.Usagef("there is no error code %q; without a code the command lists all", codes[0])
		}
		entries = []fault.Entry{entry}
	}
	var text strings.Builder
	for _, entry := range entries {
		fmt.Fprintf(&text, "%s (HTTP %d, Connect %s)\n    %s. %s\n", entry.Reason, entry.Kind.Status(), entry.Kind.Code(),
			entry.Title, entry.Advice)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// errorsIntro is the beginning of docs/errors.md.
const errorsIntro = `<!-- Made by: go run ./cmd/parlance errors --markdown > docs/errors.md -->
# Errors

REST answers errors as ` + "`application/problem+json`" + ` (RFC 9457): ` + "`type`" + ` (a URL that explains the
code), ` + "`title`, `status`, `detail`" + ` (what to do), ` + "`code`, `instance`, `request_id`" + ` and, where fields
are at fault, ` + "`errors[]` of `{field, code, message}`" + `. Over Connect, gRPC and gRPC-Web the same error
is a status code with a ` + "`google.rpc.ErrorInfo`" + ` whose ` + "`reason`" + ` is the code, and a
` + "`google.rpc.BadRequest`" + ` for the fields.

Codes are permanent: switch on them, never on the text.

| code | HTTP | Connect | what happened | what to do |
|---|---|---|---|---|
`

func writeErrorsMarkdown(w io.Writer) error {
	var text strings.Builder
	text.WriteString(errorsIntro)
	for _, entry := range fault.Table() {
		fmt.Fprintf(&text, "| `%s` | %d | `%s` | %s | %s |\n", entry.Reason, entry.Kind.Status(), entry.Kind.Code(),
			cell(entry.Title), cell(entry.Advice))
	}
	_, err := io.WriteString(w, text.String())
	return err
}
