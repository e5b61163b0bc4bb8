package oidc

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxTextRunes bounds a name, an address and the name of a group.
	maxTextRunes = 200
	// maxGroups bounds how many groups are kept; those after are not looked at. Issuers bound them
	// too: Entra ID puts at most 200 into a token.
	maxGroups = 500
	// maxSubjectBytes is the longest subject. Source: OpenID Connect Core 1.0, 2.
	maxSubjectBytes = 255
)

// isSubject reports whether a text can be an issuer's id of somebody.
func isSubject(text string) bool {
	return text != "" && len(text) <= maxSubjectBytes && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// identityOf reads an identity out of claims. Groups give roles, so that a name that is not kept as
// it is counts as none: "admins " is another group than "admins".
func identityOf(subject string, claims map[string]any, groupsClaim string) Identity {
	identity := Identity{Subject: subject, Email: textOf(claims["email"])}
	identity.Name = cmp.Or(textOf(claims["name"]), textOf(claims["preferred_username"]))
	for _, group := range listOf(claimAt(claims, groupsClaim)) {
		if group != "" && clean(group) == group && !slices.Contains(identity.Groups, group) && len(identity.Groups) < maxGroups {
			identity.Groups = append(identity.Groups, group)
		}
	}
	return identity
}

// claimAt returns a claim by its name: whole, as in https://example.com/groups, or else by dots,
// as in realm_access.roles. nil: there is none.
func claimAt(claims map[string]any, name string) any {
	if value, has := claims[name]; has {
		return value
	}
	first, rest, nested := strings.Cut(name, ".")
	inner, ok := claims[first].(map[string]any)
	if !nested || !ok {
		return nil
	}
	return claimAt(inner, rest)
}

// listOf returns the texts of a list. One text is a list of one.
func listOf(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var texts []string
		for _, one := range v {
			if text, ok := one.(string); ok {
				texts = append(texts, text)
			}
		}
		return texts
	}
	return nil
}

func textOf(value any) string {
	text, _ := value.(string)
	return clean(text)
}

// clean removes what cannot be shown in a line, and cuts what is too long.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if runes := []rune(strings.TrimSpace(text)); len(runes) > maxTextRunes {
		return string(runes[:maxTextRunes])
	}
	return strings.TrimSpace(text)
}
