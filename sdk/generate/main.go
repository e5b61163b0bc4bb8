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
	for source, path := range outputs {
		var text bytes.Buffer
		if err := parsed.ExecuteTemplate(&text, source, fault.Table()); err != nil {
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
