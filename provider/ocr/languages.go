package ocr

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// languagePattern is the form of a name.
var languagePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,40}(/[A-Za-z0-9_]{1,40})?$`)

// SplitLanguages splits a list like "eng,deu" or "eng+deu". It does not look at the names.
func SplitLanguages(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '+' || r == ' ' })
}

// CheckLanguages gives the names without repetitions, or an error that names the first that is not
// of the form of a language's. Languages have the names that tesseract gives them: eng, chi_sim,
// script/Latin.
func CheckLanguages(names []string) ([]string, error) {
	var languages []string
	for _, name := range names {
		if !languagePattern.MatchString(name) {
			return nil, fmt.Errorf("%q is not the name of a language of tesseract, such as eng or chi_sim", name)
		}
		if !slices.Contains(languages, name) {
			languages = append(languages, name)
		}
	}
	return languages, nil
}

// LanguageError says which languages have no data here.
type LanguageError struct {
	Missing, Installed []string
}

// Error says what to install.
func (e *LanguageError) Error() string {
	return fmt.Sprintf("tesseract has no data for %s (it has %s): install %s on Debian and Ubuntu, tesseract-lang with Homebrew, or name "+
		"another language",
		strings.Join(e.Missing, ", "), strings.Join(e.Installed, ", "), e.packages())
}

// packages are the missing languages' in Debian and Ubuntu.
func (e *LanguageError) packages() string {
	packages := make([]string, len(e.Missing))
	for i, language := range e.Missing {
		packages[i] = "tesseract-ocr-" + strings.ReplaceAll(strings.ToLower(language), "_", "-")
	}
	return strings.Join(packages, " ")
}

// Fault is the error as the fault of a picture that was to be read in these languages.
func (e *LanguageError) Fault() *Fault {
	return &Fault{Kind: Unsupported, Cause: e, Message: fmt.Sprintf(
		"The worker has no OCR data for %s (it has %s): install %s there and reprocess the source, or set other ocr_languages.",
		strings.Join(e.Missing, ", "), strings.Join(e.Installed, ", "), e.packages())}
}

// CheckInstalled checks that all languages are installed. Errors: *LanguageError.
func CheckInstalled(languages, installed []string) error {
	missing := slices.DeleteFunc(slices.Clone(languages), func(name string) bool { return slices.Contains(installed, name) })
	if len(missing) == 0 {
		return nil
	}
	return &LanguageError{Missing: missing, Installed: installed}
}
