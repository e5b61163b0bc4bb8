// When a sign-in ends under an open page: signing in again over the page, which stays as it is.

import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { askBy } from '../api/again';
import { loginURL, probeSignIn, proof, type SignIn } from '../api/credentials';
import { continueAs, dropAll } from '../api/kept';
import { Button, ButtonLink } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { Page } from '../ui/Page';
import { useHere } from './caller';
import { KeyForm } from './KeyForm';

const channelName = 'parlance.sign-in'; // on which another tab says that somebody has signed in

/** Somebody else has signed in: nothing of the page is for them. */
function startAnew(): void {
  dropAll();
  location.reload();
}

/** Asks the caller to sign in again when a call was refused because the sign-in has ended. */
export function SignInAgain({ onGiveUp }: { onGiveUp(): void }) {
  const { caller } = useHere();
  const client = useQueryClient();
  const [end, setEnd] = useState<(isIn: boolean) => void>();
  const isPerson = caller.kind === 'person';
  useEffect(
    () =>
      askBy(async () => {
        const before = proof();
        // Another tab may have signed in anew: then only what proves it here is old.
        if (isPerson && (await probeSignIn()).person?.id === caller.id && proof() !== before) return true;
        return new Promise<boolean>((resolve) =>
          setEnd(() => (isIn: boolean) => {
            setEnd(undefined);
            resolve(isIn);
          }),
        );
      }),
    [caller.id, isPerson],
  );
  if (!end) return null;
  const goOn = () => {
    end(true);
    void client.invalidateQueries({ queryKey: ['caller'] }); // with another role, or another key
  };
  const giveUp = () => {
    end(false);
    onGiveUp();
  };
  return (
    <Dialog role="alertdialog" title="Your sign-in has ended" onClose={giveUp} hasNoClose>
      <p>Sign in again to go on. This page and what you typed on it stay.</p>
      {isPerson ? <AsPerson onDone={goOn} /> : <ByKey onDone={goOn} />}
      <div className="row end">
        <Button kind="quiet" onPress={giveUp}>
          Leave this page
        </Button>
      </div>
    </Dialog>
  );
}

/** The sign-in at the provider is in another tab; here it is seen when it is done. */
function AsPerson({ onDone }: { onDone(): void }) {
  const { caller } = useHere();
  const [state, setState] = useState<SignIn>();
  useEffect(() => {
    const before = proof();
    const look = async () => {
      const known = await probeSignIn();
      setState(known);
      if (known.person && known.person.id !== caller.id) startAnew();
      else if (known.person && proof() !== before) onDone();
    };
    const looking = () => void look();
    looking();
    const channel = new BroadcastChannel(channelName);
    channel.addEventListener('message', looking);
    addEventListener('focus', looking);
    return () => {
      channel.close();
      removeEventListener('focus', looking);
    };
  }, [caller.id]); // eslint-disable-line react-hooks/exhaustive-deps
  return (
    <>
      <p className="dim small">It opens another tab. Come back here when you are signed in as {caller.name}.</p>
      {state?.providers.map((provider) => (
        <ButtonLink key={provider.login_url} kind="primary" href={loginURL(provider, '#/signed-in')} target="_blank">
          {provider.name}
        </ButtonLink>
      ))}
    </>
  );
}

function ByKey({ onDone }: { onDone(): void }) {
  const { caller } = useHere();
  return (
    <KeyForm
      hint="The key that was used is not valid any more: it was deleted, has expired, or was replaced."
      onKey={(now) => {
        if (now.tenantId !== caller.tenantId || now.workspaceId !== caller.workspaceId) return startAnew();
        continueAs(now.id); // also another key, in place of one that was deleted
        onDone();
      }}
    />
  );
}

/** What a tab shows in which somebody has signed in for a page that is open in another one. */
export function SignedIn() {
  useEffect(() => {
    const channel = new BroadcastChannel(channelName);
    channel.postMessage('signed in');
    return () => channel.close();
  }, []);
  return (
    <Page title="You are signed in">
      <p>Close this tab, and go on in the one that you came from.</p>
      <div>
        <ButtonLink href="#/">Go to the overview</ButtonLink>
      </div>
    </Page>
  );
}
