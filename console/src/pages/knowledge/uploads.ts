// Files on their way to the service. They are kept here and not in a page, so that they go on while
// another page is looked at.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { useSyncExternalStore } from 'react';

import {
  KnowledgeService,
  ReplaceSourceContentRequestSchema,
  UploadSourceRequestSchema,
  type Source,
} from '#gen/knowledge_pb';

import { signedIn } from '../../api/again';
import { failureOf } from '../../api/failure';
import { upload } from '../../api/upload';

/** A file that is to be sent. */
export interface FileToSend {
  file: File;
  /** Its name, with its folders: handbook/returns.md */
  name: string;
  /** The source whose content it replaces; without it a new one is made. */
  replaces?: string;
}

export interface Upload extends FileToSend {
  id: number;
  workspaceId: string;
  tags: string[];
  state: 'waiting' | 'sending' | 'sent' | 'failed' | 'stopped';
  sentBytes: number;
  error?: unknown;
  /** What it became. */
  source?: Source;
}

const parallel = 3;
const chunkBytes = 1 << 20; // the most that UploadSourceRequest.data takes
let uploads: readonly Upload[] = [];
let lastId = 0;
const stops = new Map<number, AbortController>();
const listeners = new Set<() => void>();

function set(next: readonly Upload[]) {
  uploads = next;
  for (const listener of listeners) listener();
}

const change = (id: number, changes: Partial<Upload>) =>
  set(uploads.map((one) => (one.id === id ? { ...one, ...changes } : one)));

/** Begins as many of those that wait as may be sent at once. */
function next(): void {
  const free = parallel - uploads.filter(({ state }) => state === 'sending').length;
  for (const one of uploads.filter(({ state }) => state === 'waiting').slice(0, Math.max(0, free))) void send(one);
}

/** Sends a file's bytes, to become a source or to replace the content of one. */
function transfer(
  { id, file, name, workspaceId, tags, replaces: sourceId }: Upload,
  signal: AbortSignal,
): Promise<Source> {
  const how = {
    dataField: 2,
    chunkSize: chunkBytes,
    signal,
    onProgress: (sentBytes: number) => change(id, { sentBytes }),
  };
  if (sourceId) {
    const metadata = { workspaceId, sourceId, filename: file.name };
    const first = [create(ReplaceSourceContentRequestSchema, { part: { case: 'metadata', value: metadata } })];
    return upload(KnowledgeService.method.replaceSourceContent, file, { first, ...how });
  }
  const metadata = { workspaceId, filename: file.name, mediaType: '', name, tags };
  const first = [create(UploadSourceRequestSchema, { part: { case: 'metadata', value: metadata } })];
  return upload(KnowledgeService.method.uploadSource, file, { first, ...how });
}

async function send(one: Upload): Promise<void> {
  const { id } = one;
  const stop = new AbortController();
  stops.set(id, stop);
  change(id, { state: 'sending', sentBytes: 0, error: undefined });
  try {
    const source = await signedIn(() => transfer(one, stop.signal));
    change(id, { state: 'sent', source });
  } catch (error) {
    change(id, stop.signal.aborted ? { state: 'stopped' } : { state: 'failed', error });
  } finally {
    stops.delete(id);
    next();
  }
}

const warn = (event: BeforeUnloadEvent) => event.preventDefault();

function warnWhileSending(): void {
  const isSending = uploads.some(({ state }) => state === 'waiting' || state === 'sending');
  if (isSending) addEventListener('beforeunload', warn);
  else removeEventListener('beforeunload', warn);
}
listeners.add(warnWhileSending);

const empty = new ConnectError('The file is empty: there is nothing in it to read.', Code.InvalidArgument);

/** Whether the same file would be refused again. */
export const isFinal = (error: unknown) => failureOf(error).code === Code.InvalidArgument;

/** Sends files, three at a time. Empty ones are not sent. */
export function addUploads(workspaceId: string, files: FileToSend[], tags: string[]): void {
  set([
    ...uploads,
    ...files.map((chosen): Upload => ({
      ...chosen,
      id: ++lastId,
      workspaceId,
      tags,
      sentBytes: 0,
      ...(chosen.file.size > 0 ? { state: 'waiting' } : { state: 'failed', error: empty }),
    })),
  ]);
  next();
}

/** Whether a file of this name and size is on its way already. */
export const isOnItsWay = (workspaceId: string, { name, file }: FileToSend) =>
  uploads.some(
    (one) =>
      (one.state === 'waiting' || one.state === 'sending') &&
      one.workspaceId === workspaceId &&
      one.name === name &&
      one.file.size === file.size,
  );

/** Stops a file that is being sent, or takes one back that waits. */
export function stopUpload(id: number): void {
  const stop = stops.get(id);
  if (stop) stop.abort();
  else change(id, { state: 'stopped' });
}

/** Sends a file again from its beginning. */
export function retryUpload(id: number): void {
  change(id, { state: 'waiting', sentBytes: 0, error: undefined });
  next();
}

/** Takes uploads that have ended off the list; what they became stays. */
export const forgetUploads = (ids: number[]) =>
  set(uploads.filter(({ id, state }) => !ids.includes(id) || state === 'sending' || state === 'waiting'));

/** Takes what became a source off the list, when that is deleted. */
export const forgetSource = (sourceId: string) => set(uploads.filter(({ source }) => source?.id !== sourceId));

/** The uploads of this tab into a workspace. */
export function useUploads(workspaceId: string): readonly Upload[] {
  const all = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => uploads,
  );
  return all.filter((one) => one.workspaceId === workspaceId);
}
