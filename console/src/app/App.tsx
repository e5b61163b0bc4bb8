import { Code, ConnectError } from '@connectrpc/connect';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Router } from 'wouter';

import { forgetCalls } from '../api/calls';
import { apiKey, isSignedIn, probeSignIn, type SignIn as State } from '../api/credentials';
import { dropAll, stopKeeping } from '../api/kept';
import { ConfirmProvider } from '../ui/Dialog';
import { Toasts } from '../ui/toast';
import { CallerProvider } from './caller';
import { useHashLocation } from './location';
import { Shell } from './Shell';
import { SignIn } from './SignIn';
import { SignInAgain } from './SignInAgain';

/** Errors that the same call would meet again. */
const isFinal = (error: unknown) =>
  [
    Code.Unauthenticated,
    Code.PermissionDenied,
    Code.NotFound,
    Code.InvalidArgument,
    Code.FailedPrecondition,
    Code.Unimplemented,
  ].includes(ConnectError.from(error).code);

function newClient(onSignedOut: () => void) {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => ConnectError.from(error).code === Code.Unauthenticated && onSignedOut(),
    }),
    defaultOptions: { queries: { retry: (failures, error) => failures < 2 && !isFinal(error), staleTime: 5_000 } },
  });
}

export function App() {
  const [state, setState] = useState<State>();
  const [isIn, setIn] = useState(isSignedIn);
  const [client] = useState(() => newClient(() => signedOut(stopKeeping)));
  const signedOut = (forget: () => void) => {
    apiKey.forget();
    forget();
    client.clear();
    forgetCalls();
    setIn(false);
    void probeSignIn().then(setState);
  };
  useEffect(() => {
    void probeSignIn().then((known) => {
      setState(known);
      setIn(isSignedIn());
    });
  }, []);
  if (!isIn && !state) return null;
  return (
    <QueryClientProvider client={client}>
      <ConfirmProvider>
        {isIn ? (
          <Router hook={useHashLocation}>
            <CallerProvider>
              <Shell onSignedOut={() => signedOut(dropAll)} />
              <SignInAgain onGiveUp={() => signedOut(dropAll)} />
            </CallerProvider>
          </Router>
        ) : (
          <SignIn state={state ?? { signed_in: false, providers: [] }} onSignedIn={() => setIn(true)} />
        )}
        <Toasts />
      </ConfirmProvider>
    </QueryClientProvider>
  );
}
