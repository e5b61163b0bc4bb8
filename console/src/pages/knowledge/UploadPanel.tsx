import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'wouter';

import type { Source } from '#gen/knowledge_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Button } from '../../ui/Button';
import { bytes, percent } from '../../ui/format';
import { Badge, Card } from '../../ui/Page';
import { Progress } from '../../ui/Progress';
import { tell, tellFailure } from '../../ui/toast';
import { ChooseAgent } from './ChooseAgent';
import { takenTypes } from './types';
import { SourceFailure, SourceProgress, StateBadge } from './SourceState';
import { forgetUploads, isFinal, retryUpload, stopUpload, useUploads, type Upload } from './uploads';
import { isBusy, useSource } from './useSource';

/** The files that this tab sends or has sent, each with how far it is. */
export function UploadPanel() {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const uploads = useUploads(workspaceId);
  const sent = uploads.filter(({ state }) => state === 'sent');
  useEffect(() => {
    if (sent.length > 0) void client.invalidateQueries({ queryKey: ['sources'] });
  }, [client, sent.length]);
  if (uploads.length === 0) return null;
  const ended = uploads.filter(({ state }) => state !== 'sending' && state !== 'waiting');
  const all = uploads.reduce((sum, { file }) => sum + file.size, 0);
  const done = uploads.reduce((sum, { sentBytes, file, state }) => sum + (state === 'sent' ? file.size : sentBytes), 0);
  return (
    <Card
      title="Uploads"
      actions={
        <Button kind="quiet" isDisabled={ended.length === 0} onPress={() => forgetUploads(ended.map(({ id }) => id))}>
          Clear those that have ended
        </Button>
      }
    >
      {uploads.length > 3 && (
        <Progress label={`${sent.length} of ${uploads.length} files sent`} value={all > 0 ? (100 * done) / all : 0} />
      )}
      <ul className="uploads" aria-label="Uploads">
        {uploads.map((one) => (
          <li key={one.id}>{one.source ? <SentRow upload={one} /> : <Row upload={one} />}</li>
        ))}
      </ul>
      {sent.length > 0 && <AttachSent sourceIds={sent.map(({ source }) => source?.id ?? '')} />}
    </Card>
  );
}

const wrongType =
  'This type of file is not taken, or its content is of another type than its name says. ' + `Taken are ${takenTypes}.`;

function Row({ upload: { id, name, file, state, sentBytes, error } }: { upload: Upload }) {
  const failure = error ? failureOf(error) : undefined;
  return (
    <div className="stack" style={{ gap: 4 }}>
      <div className="row between">
        <span>
          <strong>{name}</strong> <span className="dim small">{bytes(file.size)}</span>
        </span>
        <span className="row">
          {state === 'failed' && <Badge tone="bad">refused</Badge>}
          {state === 'stopped' && <Badge>stopped</Badge>}
          {(state === 'waiting' || state === 'sending') && (
            <Button kind="quiet" aria-label={`Stop ${name}`} onPress={() => stopUpload(id)}>
              Stop
            </Button>
          )}
          {(state === 'failed' || state === 'stopped') && (
            <>
              {!isFinal(error) && (
                <Button kind="quiet" aria-label={`Send again: ${name}`} onPress={() => retryUpload(id)}>
                  Send again
                </Button>
              )}
              <Button kind="quiet" aria-label={`Take off the list: ${name}`} onPress={() => forgetUploads([id])}>
                Take off the list
              </Button>
            </>
          )}
        </span>
      </div>
      {state === 'waiting' && <p className="small dim">Waits until another file is sent.</p>}
      {state === 'sending' && (
        <Progress
          label={
            sentBytes < file.size
              ? `Sending: ${bytes(sentBytes)} of ${bytes(file.size)}`
              : 'Sent; the service is storing it'
          }
          value={file.size > 0 ? (100 * sentBytes) / file.size : 0}
          text={percent(sentBytes, file.size)}
        />
      )}
      {failure && (
        <p className="small bad-text" role="alert">
          {failure.reason === 'kb-unsupported-media-type' ? wrongType : failure.message}
        </p>
      )}
    </div>
  );
}

function SentRow({ upload: { source: known, id } }: { upload: Upload }) {
  const { data: source, error } = useSource(known?.id ?? '', { known });
  if (!source) return null;
  return (
    <div className="stack" style={{ gap: 4 }}>
      <div className="row between">
        <Link href={`/knowledge/${source.id}`}>{source.name}</Link>
        <span className="row">
          <StateBadge source={source} />
          <Button
            kind="quiet"
            aria-label={`Take off the list: ${source.name}`}
            isDisabled={isBusy(source) && !error}
            onPress={() => forgetUploads([id])}
          >
            Take off the list
          </Button>
        </span>
      </div>
      {error ? (
        <p className="small bad-text">{failureOf(error).message}</p>
      ) : (
        isBusy(source) && <SourceProgress source={source} />
      )}
      <SourceFailure source={source} />
      {source.warnings.length > 0 && <p className="small dim">{source.warnings.join(' ')}</p>}
    </div>
  );
}

const mostAtOnce = 100; // AttachSources takes no more

/** Attaches those of the sent files that are ready to an agent. */
function AttachSent({ sourceIds }: { sourceIds: string[] }) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const attach = useMutation({
    mutationFn: async (agentId: string) => {
      const ready = sourceIds.filter(
        (id) => client.getQueryData<Source>(['source', workspaceId, id])?.status === 'ready',
      );
      for (let at = 0; at < ready.length; at += mostAtOnce)
        await api.knowledge.attachSources({ workspaceId, agentId, sourceIds: ready.slice(at, at + mostAtOnce) });
      return ready.length;
    },
    onSuccess: (n) =>
      tell(n === 0 ? 'None of them is ready yet.' : `${n} ${n === 1 ? 'source is' : 'sources are'} attached.`),
    onError: tellFailure,
    onSettled: () => client.invalidateQueries({ queryKey: ['attachments'] }),
  });
  return (
    <ChooseAgent
      label="Let an agent answer from them"
      action="Attach those that are ready"
      isDisabled={attach.isPending}
      onChoose={attach.mutate}
    />
  );
}
