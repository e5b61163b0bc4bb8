package main

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"log"
	"os"
	"strings"
	"text/template"

	"parlance.dev/parlance/fault"
)

//go:embed *.tmpl
var templates embed.FS

// outputs maps each template to the file that is made of it.
var outputs = map[string]string{
	"reasons.ts.tmpl": "sdk/typescript/src/api/reasons.gen.ts",
	"reasons.go.tmpl": "sdk/go/reasons.gen.go",
	"reasons.py.tmpl": "sdk/python/src/parlance/_reasons.py",
	"pages.go.tmpl":   "gen/parlance/v1/pages.gen.go",
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	functions := template.FuncMap{
		"name":   name,
		"upper":  func(r fault.Reason) string { return strings.ToUpper(strings.ReplaceAll(string(r), "-", "_")) },
		"quoted": func(text string) string { return "'" + strings.ReplaceAll(text, "'", `\'`) + "'" },
	}
	parsed, err := template.New("").Funcs(functions).ParseFS(templates, "*.tmpl")
	if err != nil {
		return err
	}
	lists, err := pages()
	if err != nil {
		return fmt.Errorf("find the lists of the contract: %w", err)
	}
	for source, path := range outputs {
		var text bytes.Buffer
		var data any = fault.Table()
		if source == "pages.go.tmpl" {
			data = lists
		}
		if err := parsed.ExecuteTemplate(&text, source, data); err != nil {
			return fmt.Errorf("make %s: %w", path, err)
		}
		content := text.Bytes()
		if strings.HasSuffix(path, ".go") {
			if content, err = format.Source(content); err != nil {
				return fmt.Errorf("format %s: %w", path, err)
			}
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// name is a reason as the end of a name in Go: "kb-source-not-ready" is KBSourceNotReady.
func name(reason fault.Reason) string {
	words := strings.Split(string(reason), "-")
	for i, word := range words {
		switch word {
		case "kb", "mcp", "url", "https", "stt", "tts", "id", "ip", "api", "dtmf":
			words[i] = strings.ToUpper(word)
		default:
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}
