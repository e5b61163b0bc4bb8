package command

import "strings"

// Variables parses the values of a flag --var, which may be repeated: NAME=VALUE.
func Variables(given []string) (map[string]string, error) {
	variables := make(map[string]string, len(given))
	for _, one := range given {
		name, value, ok := strings.Cut(one, "=")
		if !ok || name == "" {
			return nil, Usagef("--var %q is not NAME=VALUE", one)
		}
		variables[name] = value
	}
	return variables, nil
}
