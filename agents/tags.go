package agents

import (
	"fmt"
	"regexp"
	"slices"

	"golang.org/x/text/unicode/norm"

	"parlance.dev/parlance/fault"
)

// MaxTags is how many tags a source has, or a list of a filter.
const MaxTags = 20

// tagPattern is the form of a tag.
var tagPattern = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N}\p{M}_.:/-]{0,63}$`)

// TagFilter chooses sources of the knowledge base by their tags. A source must pass all three
// lists; an empty list lets all through.
type TagFilter struct {
	AllOf  []string `json:"all_of,omitempty"`
	AnyOf  []string `json:"any_of,omitempty"`
	NoneOf []string `json:"none_of,omitempty"`
}

// IsEmpty says that it lets everything through.
func (f TagFilter) IsEmpty() bool { return len(f.AllOf)+len(f.AnyOf)+len(f.NoneOf) == 0 }

// Passes says whether a source with these tags is chosen.
func (f TagFilter) Passes(tags []string) bool {
	has := func(tag string) bool { return slices.Contains(tags, tag) }
	lacks := func(tag string) bool { return !has(tag) }
	return !slices.ContainsFunc(f.AllOf, lacks) && !slices.ContainsFunc(f.NoneOf, has) &&
		(len(f.AnyOf) == 0 || slices.ContainsFunc(f.AnyOf, has))
}

// Check refuses what cannot be a tag. field is the filter's, for the error. Errors: Invalid
// invalid-request.
func (f TagFilter) Check(field string) error {
	for name, list := range map[string][]string{"all_of": f.AllOf, "any_of": f.AnyOf, "none_of": f.NoneOf} {
		if err := CheckTags(field+"."+name, list); err != nil {
			return err
		}
	}
	return nil
}

// CheckTags refuses what cannot be tags. Errors: Invalid invalid-request on field.
func CheckTags(field string, tags []string) error {
	if len(tags) > MaxTags {
		return fault.InvalidField(field, "max_items", "%s may have %d tags.", field, MaxTags)
	}
	for i, tag := range tags {
		if !tagPattern.MatchString(tag) || !norm.NFC.IsNormalString(tag) {
			return fault.InvalidField(fmt.Sprintf("%s[%d]", field, i), "tag",
				"%q is not a tag: 1 to 64 letters, digits and -_.:/, beginning with a letter or digit, accents composed (NFC).", tag)
		}
	}
	return nil
}
