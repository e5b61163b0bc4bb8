package app

import (
	"context"
	"errors"
	"fmt"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/phone"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/provider/carrier/twilio"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/telephony/numbers"
	"parlance.dev/parlance/workspaces"
)

// Twilio is the carrier of the installation. Without an account there are no calls, but for
// workspaces with a credential of their own.
type Twilio struct {
	// Name is the carrier's name in calls and addresses: twilio, or simulated for `parlance dev`.
	Name       string
	AccountSID string
	AuthToken  seal.Secret
	BaseURL    string
	// FromNumber is E.164.
	FromNumber string
}

// telephonySettings lists the settings of the carrier.
func (c *Config) telephonySettings() []Setting {
	return group("Telephony",
		setting("TWILIO_ACCOUNT_SID", "", text(&c.Twilio.AccountSID),
			"Account SID (AC…) at Twilio, for calls. Default: none, and what needs a carrier is answered with 409 provider-not-configured, "+
				"but for workspaces with a credential of the kind telephony."),
		setting("TWILIO_AUTH_TOKEN", "", text(&c.Twilio.AuthToken),
			"Auth token of the account. It also signs Twilio's requests to /v1/telephony/, which needs PUBLIC_URL to be the address that "+
				"Twilio reaches.").secret(),
		setting("TWILIO_FROM_NUMBER", "", c.parseFromNumber,
			"Number, with its country's code, that calls come from when neither the agent nor the workspace has one."),
		setting("TWILIO_BASE_URL", twilio.DefaultBaseURL, address(&c.Twilio.BaseURL, "http", "https"),
			"Root of Twilio's interface, without the version, for its regions, proxies and tests."),
	)
}

func (c *Config) parseFromNumber(v string) error {
	c.Twilio.FromNumber = ""
	if v == "" {
		return nil
	}
	number, ok := phone.Parse(v)
	if !ok {
		return errors.New("is no telephone number with its country's code, such as +4930123456")
	}
	c.Twilio.FromNumber = number.E164
	return nil
}

// check returns an error for settings that cannot work together. It names the setting.
func (t Twilio) check() error {
	if (t.AccountSID == "") == t.AuthToken.IsSet() {
		return errors.New("PARLANCE_TWILIO_ACCOUNT_SID and PARLANCE_TWILIO_AUTH_TOKEN belong together")
	}
	return nil
}

// carriers are the installation's carrier and those of workspaces.
type carriers struct {
	installed   carrier.Carrier // nil: none
	credentials *workspaces.Credentials
	guard       *publicnet.Guard
}

// choose returns the carrier of a workspace. Errors: Precondition provider-not-configured.
func (c *carriers) choose(ctx context.Context, ref workspaces.Ref) (carrier.Carrier, error) {
	own, err := c.credentials.OfKind(ctx, ref, workspaces.CredentialTelephony)
	if err != nil {
		return nil, err
	}
	if credential, has := own[twilio.DefaultName]; has {
		return c.open(credential.Credential, credential.APIKey)
	}
	if c.installed == nil {
		return nil, fault.New(fault.ProviderNotConfigured,
			"There is no carrier for telephone calls. Add a credential of the kind telephony to the workspace, or set "+
				"PARLANCE_TWILIO_ACCOUNT_SID and PARLANCE_TWILIO_AUTH_TOKEN. parlance dev has a simulated line.")
	}
	return c.installed, nil
}

// open makes the carrier of a workspace's credential, behind the guard.
func (c *carriers) open(own workspaces.Credential, key seal.Secret) (carrier.Carrier, error) {
	made, err := twilio.New(twilio.Config{
		AccountSID: own.AccountID, AuthToken: key, BaseURL: own.BaseURL, Client: c.guard.Client(publicnet.ClientOptions{}),
	})
	if err != nil {
		return nil, fault.Wrap(err, fault.ProviderNotConfigured, "The workspace's credential %s cannot be used: %s.", own.ID, err)
	}
	return made, nil
}

// account makes the carrier of a credential that may be deleted.
func (c *carriers) account(ctx context.Context, own workspaces.Credential) (carrier.Carrier, error) {
	key, err := c.credentials.Open(ctx, own)
	if err != nil {
		return nil, err
	}
	return c.open(own, key)
}

// TestCredential makes one small call that costs nothing.
func (c *carriers) TestCredential(ctx context.Context, own workspaces.Credential, key seal.Secret) (workspaces.CredentialTest, error) {
	ctx, cancel := context.WithTimeout(ctx, credentialTestTimeout)
	defer cancel()
	made, err := c.open(own, key)
	if err == nil {
		err = made.Check(ctx)
	}
	if err != nil && ctx.Err() == nil {
		detail := fault.From(err).Message
		if refused, is := errors.AsType[*carrier.Refused](err); is {
			detail = refused.Error()
		}
		return workspaces.CredentialTest{Detail: detail}, nil
	}
	return workspaces.CredentialTest{OK: err == nil, Detail: own.Provider + " knows the account."}, err
}

// newCarriers opens the installation's carrier.
func (a *App) newCarriers(guard *publicnet.Guard) (*carriers, error) {
	c := &carriers{credentials: a.credentials, guard: guard}
	settings := a.Config.Twilio
	if settings.AccountSID == "" {
		return c, nil
	}
	operator, err := a.Config.operatorGuard()
	if err != nil {
		return nil, err
	}
	client, err := operator.OperatorClient([]string{settings.BaseURL}, publicnet.ClientOptions{})
	if err != nil {
		return nil, fmt.Errorf("Twilio: %w", err)
	}
	c.installed, err = twilio.New(twilio.Config{
		Name: settings.Name, AccountSID: settings.AccountSID, AuthToken: settings.AuthToken, BaseURL: settings.BaseURL, Client: client,
	})
	return c, err
}

// openTelephony makes calls and callbacks, and the tools that plan them.
func (a *App) openTelephony(guard *publicnet.Guard, keyring *seal.Keyring) error {
	made, err := a.newCarriers(guard)
	if err != nil {
		return err
	}
	a.carriers = made
	base := a.publicBase()
	a.Numbers = numbers.New(numbers.Deps{
		DB: a.db, Workspaces: a.Workspaces, Agents: a.Agents, Keys: keyring, Guard: guard, CarrierFunc: made.choose,
		WebhookURL: func(name string, id numbers.ID) string { return telephony.NumberURL(base, name, id) },
		Log:        a.log, Now: a.now, Registry: a.metrics.Registry, LookUpTimeout: a.lookUp,
	})
	a.Calls = telephony.New(telephony.Deps{
		DB: a.db, Workspaces: a.Workspaces, Agents: a.Agents, Sessions: a.Sessions, Handovers: a.handover, Numbers: a.Numbers,
		CarrierFunc: made.choose, AccountFunc: made.account, DefaultFrom: a.Config.Twilio.FromNumber, Usage: a.Usage, PublicURL: base,
		Registry: a.metrics.Registry, Log: a.log, Now: a.now,
	})
	a.Callbacks = callbacks.New(callbacks.Deps{
		DB: a.db, Workspaces: a.Workspaces, Agents: a.Agents, Calls: a.Calls, Log: a.log, Now: a.now,
	})
	for name, builtin := range a.Callbacks.Builtins() {
		a.Tools.Register(name, builtin)
	}
	return nil
}
