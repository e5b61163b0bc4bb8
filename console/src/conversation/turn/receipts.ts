// Receipts of turns: what an answer was made from, under one hash.

import { toJson, type JsonValue } from '@bufbuild/protobuf';
import { useQuery } from '@tanstack/react-query';

import { TurnReceiptSchema, type Turn, type TurnReceipt } from '#gen/sessions_pb';

import { serviceURL } from '../../api/base';
import * as api from '../../api/clients';
import { authorize } from '../../api/credentials';

/** A turn's receipt. A turn that goes on has none. */
export const useReceipt = ({ id, sessionId, status }: Turn) =>
  useQuery({
    queryKey: ['receipt', id],
    staleTime: Infinity,
    enabled: status !== 'in_progress',
    queryFn: ({ signal }) => api.sessions.getTurnReceipt({ sessionId, turnId: id }, { signal }),
  });

/** A receipt as JSON, with the names of the contract. */
export const receiptJson = (receipt: TurnReceipt) =>
  JSON.stringify(toJson(TurnReceiptSchema, receipt, { useProtoFieldName: true }), null, 2);

/** JSON with sorted keys and no spaces (RFC 8785), which the hash is computed from. */
function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value && typeof value === 'object')
    return `{${Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`)
      .join(',')}}`;
  return JSON.stringify(value);
}

/** What came of checking a hash. */
export interface Check {
  tone: 'good' | 'bad' | 'dim';
  text: string;
}

/** Checks a receipt's hash: against its content as REST has it, and against the hash in its turn. */
export async function checkReceipt({ id, sessionId, receiptHash }: Turn, signal: AbortSignal): Promise<Check> {
  if (!globalThis.crypto?.subtle)
    return { tone: 'dim', text: 'The hash is not checked here: browsers compute it on https and localhost only.' };
  const headers = new Headers();
  authorize(headers);
  const response = await fetch(
    serviceURL(`v1/sessions/${encodeURIComponent(sessionId)}/turns/${encodeURIComponent(id)}/receipt`),
    { headers, signal },
  );
  if (!response.ok) throw new TypeError(`The receipt could not be read (${response.status}).`);
  const { hash, ...content } = (await response.json()) as { hash: string } & Record<string, JsonValue>;
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonical(content)));
  const own = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  if (own !== hash) return { tone: 'bad', text: `The receipt was changed: its content has the hash ${own}.` };
  if (receiptHash && receiptHash !== hash)
    return { tone: 'bad', text: `The turn has the hash of another receipt: ${receiptHash}.` };
  return { tone: 'good', text: 'The hash is right: it is that of the content, and the turn’s.' };
}
