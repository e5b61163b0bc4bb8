import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import { apiKey, loginURL, type SignIn as State } from '../api/credentials';
import { failureOf } from '../api/failure';
import { whoCalls } from '../api/clients';
import { Button, ButtonLink } from '../ui/Button';
import { TextField } from '../ui/Field';

const refusals: Record<string, string> = {
  'no-role':
    'You are known, but none of your groups has a role here. Whoever runs this service gives ' +
    'one by PARLANCE_OIDC_ROLES, or an owner by People and roles.',
  disabled: 'You have been shut out by an owner of this service.',
  expired: 'The sign-in took too long, or was begun in another browser. Try again.',
  'issuer-denied': 'The page where people sign in said no, or you went back. Try again, or ask whoever runs it.',
  'issuer-refused':
    'The service that signs people in did not take the sign-in. Whoever runs Parlance finds why in the log of the ' +
    'server: the client secret or the clocks may be wrong.',
  'issuer-unavailable': 'The service that signs people in does not answer. Try again in a moment, or use an API key.',
  'no-tenant': 'This service does not know which tenant people belong to. Whoever runs it sets PARLANCE_OIDC_TENANT.',
  'not-secure': 'People sign in over https only. Open this page by an address that begins with https://.',
};

/** The way in: by a provider that was set up, or by an API key. */
export function SignIn({ state, onSignedIn }: { state: State; onSignedIn(): void }) {
  const [key, setKey] = useState('');
  const [wrong, setWrong] = useState('');
  const [isTrying, setTrying] = useState(false);
  const refusal = new URLSearchParams(location.hash.split('?')[1]).get('error');
  const tryKey = async () => {
    setTrying(true);
    apiKey.set(key);
    try {
      await whoCalls();
      onSignedIn();
    } catch (error) {
      apiKey.forget();
      setWrong(failureOf(error).message);
      setTrying(false);
    }
  };
  return (
    <main className="sign-in">
      <div className="card">
        <div className="brand">
          <img src="./icon.svg" alt="" />
          Parlance
        </div>
        <h1>Sign in</h1>
        {refusal && (
          <p className="note bad" role="alert">
            {(Object.hasOwn(refusals, refusal) && refusals[refusal]) || 'The sign-in failed. Try again.'}
          </p>
        )}
        {state.providers.map((provider) => (
          <ButtonLink key={provider.login_url} kind="primary" href={loginURL(provider)}>
            {provider.name}
          </ButtonLink>
        ))}
        {state.providers.length > 0 && <p className="dim small">or</p>}
        <Form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void tryKey();
          }}
        >
          <TextField
            label="API key"
            type="password"
            autoComplete="off"
            value={key}
            onChange={setKey}
            wrong={wrong}
            isRequired
            autoFocus
            hint={
              <>
                It stays in this tab and is gone when you close it. <code>parlance dev</code> writes one to{' '}
                <code>dev.env</code>; <code>parlance keys create</code> makes another.
              </>
            }
          />
          <Button
            type="submit"
            kind={state.providers.length > 0 ? 'secondary' : 'primary'}
            isDisabled={isTrying || key.trim() === ''}
          >
            Use the key
          </Button>
        </Form>
      </div>
    </main>
  );
}
