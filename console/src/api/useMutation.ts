// Requests that change something, as forms and buttons send them.

import { useMutation as useLibraryMutation, type MutateOptions, type UseMutationOptions } from '@tanstack/react-query';
import { useRef } from 'react';

import { failureOf } from './failure';

/** What a request is sent with, so that the service does it once however often it is sent. */
export interface Once {
  headers: { 'Idempotency-Key': string };
}

function newOnce(): Once {
  // Not randomUUID, which browsers have on secure pages only.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return { headers: { 'Idempotency-Key': [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('') } };
}

/** Variables as a text, which is the same for the same values. */
const textOf = (variables: unknown) =>
  JSON.stringify(variables, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));

interface Options<Data, Variables> extends Omit<UseMutationOptions<Data, Error, Variables>, 'mutationFn'> {
  /** `once` belongs to the form that is open: give it to a call that makes something. */
  mutationFn(variables: Variables, once: Once): Promise<Data>;
}

/**
 * The library's useMutation, but what is being sent is not sent again: a second call with the same
 * variables, compared by their values, is ignored until the first has ended. `isPending` alone is too
 * late for a double click.
 */
export function useMutation<Data = unknown, Variables = void>({ mutationFn, ...options }: Options<Data, Variables>) {
  const once = useRef<Once>(undefined);
  const sending = useRef(new Map<string, Promise<Data>>());
  const mutation = useLibraryMutation<Data, Error, Variables>({
    ...options,
    mutationFn: async (variables) => {
      once.current ??= newOnce();
      try {
        return await mutationFn(variables, once.current);
      } catch (error) {
        // Refused: the next attempt is another request. Without an answer it may have been done.
        if (failureOf(error).reason) once.current = undefined;
        throw error;
      }
    },
  });
  type Send = (variables: Variables, callbacks?: MutateOptions<Data, Error, Variables>) => Promise<Data>;
  const sendAnyway = mutation.mutateAsync as Send;
  const send: Send = (variables, callbacks) => {
    const what = textOf(variables);
    const running = sending.current.get(what);
    if (running) return running;
    const sent = sendAnyway(variables, callbacks).finally(() => sending.current.delete(what));
    sending.current.set(what, sent);
    return sent;
  };
  const sendSilently = (...args: Parameters<Send>) => {
    send(...args).catch(() => undefined); // mutation.error has it
  };
  return {
    ...mutation,
    mutate: sendSilently as typeof mutation.mutate,
    mutateAsync: send as typeof mutation.mutateAsync,
  };
}
