import { loginURL, type SignIn as State } from '../api/credentials';
import { ButtonLink } from '../ui/Button';
import { KeyForm } from './KeyForm';

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
  const refusal = new URLSearchParams(location.hash.split('?')[1]).get('error');
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
        <KeyForm
          isSecondary={state.providers.length > 0}
          onKey={onSignedIn}
          hint={
            <>
              It stays in this tab and is gone when you close it. <code>parlance dev</code> writes one to{' '}
              <code>dev.env</code>; <code>parlance keys create</code> makes another.
            </>
          }
        />
      </div>
    </main>
  );
}
