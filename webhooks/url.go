package webhooks

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/publicnet"
)

const maxURLChars = 2048

// urlField is a member of requests that holds a URL to which signed requests go.
type urlField struct {
	// name is the member's.
	name string
	// noPublicURL is advice for callers whose receiver has no public URL, noUser for those whose
	// receiver wants a password. Both may be empty.
	noPublicURL, noUser string
}

var endpointURL = urlField{
	name:        "url",
	noPublicURL: "`parlance listen --forward-to URL` brings events to a program on your own machine.",
	noUser:      "Send them in headers, as Authorization.",
}

// CheckURL refuses a URL to which signed requests cannot go, with an error on the field: it is
// https, at most 2,048 characters, and its host resolves to public addresses. The guard's client
// checks the address again at each dial, because it may change.
// Errors: Invalid webhook-url-not-https, webhook-url-not-public, webhook-url-unresolvable,
// invalid-request.
func CheckURL(ctx context.Context, guard *publicnet.Guard, field, raw string) error {
	f := urlField{name: field}
	u, err := f.parse(raw)
	if err != nil {
		return err
	}
	return f.checkAddress(ctx, guard, u)
}

// parse refuses what is not an https URL. It does not resolve the host.
func (f urlField) parse(raw string) (*url.URL, error) {
	switch {
	case raw == "":
		return nil, fault.InvalidField(f.name, "required", "%s is required.", f.name)
	case len([]rune(raw)) > maxURLChars:
		return nil, fault.InvalidField(f.name, "max_len", "%s can have at most %d characters.", f.name, maxURLChars)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fault.InvalidField(f.name, "invalid",
			"%s is not a URL: it is one such as https://example.org/hook, without spaces around it.", f.name)
	}
	if u.Scheme != "https" {
		return nil, f.refuse(fault.WebhookURLNotHTTPS, "The URL of a webhook begins with https://.")
	}
	if u.User != nil {
		return nil, fault.InvalidField(f.name, "invalid", "%s",
			strings.TrimSpace(f.name+" cannot carry a user name or a password. "+f.noUser))
	}
	return u, nil
}

// checkAddress refuses a URL whose host is not public now.
func (f urlField) checkAddress(ctx context.Context, guard *publicnet.Guard, u *url.URL) error {
	err := guard.CheckLiteral(u)
	if err == nil {
		err = guard.CheckResolves(ctx, u.Hostname())
	}
	switch {
	case errors.Is(err, publicnet.ErrURL):
		return fault.InvalidField(f.name, "invalid",
			"%s needs a host, and may have a port from 1 to 65535: https://example.org:8443/hook.", f.name)
	case errors.Is(err, publicnet.ErrNotPublic):
		return f.refuse(fault.WebhookURLNotPublic, "The host of "+f.name+" must resolve to public addresses only.")
	case errors.Is(err, publicnet.ErrUnresolvable):
		return fault.OnField(fault.WebhookURLUnresolvable, f.name,
			"The host name %q does not resolve: look whether it is spelt right, and whether its DNS entry is there already.", u.Hostname())
	}
	return err
}

// refuse makes the error of a URL that cannot be used, with the advice.
func (f urlField) refuse(reason fault.Reason, sentence string) error {
	return fault.OnField(reason, f.name, "%s", strings.TrimSpace(sentence+" "+f.noPublicURL))
}
