import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';

import type { Source } from '#gen/knowledge_pb';

import * as api from '../../api/clients';
import { forget } from '../../api/forget';
import { useMutation } from '../../api/useMutation';
import { useHere, useMay, useMaySeePersonal } from '../../app/caller';
import { useAgentNames } from '../../api/useAgentNames';
import { Button } from '../../ui/Button';
import { useConfirm } from '../../ui/Dialog';
import { Menu, type Action } from '../../ui/Menu';
import { tell, tellFailure } from '../../ui/toast';
import { useAttachments } from './agents';
import { ReplaceContent } from './ReplaceContent';
import { hasPictures } from './types';
import { forgetSource } from './uploads';

/** What can be done with a source: its original, other content, another run, its end. */
export function SourceActions({ source }: { source: Source }) {
  const mayChange = useMay('operator');
  const maySeePersonal = useMaySeePersonal();
  const [isReplacing, setReplacing] = useState(false);
  const runs = useRuns(source);
  const remove = useRemove(source);
  const download = useDownload(source);
  const actions: Action[] = [
    { id: 'replace', text: 'Replace the content', run: () => setReplacing(true) },
    { id: 'again', text: 'Process it again', run: () => runs.mutate('reprocess') },
    ...(hasPictures(source)
      ? [{ id: 'ocr', text: 'Process it again, all pages by OCR', run: () => runs.mutate('ocr') }]
      : []),
    ...(source.url ? [{ id: 'fetch', text: 'Fetch its address now', run: () => runs.mutate('refresh') }] : []),
    ...(source.previous
      ? [{ id: 'restore', text: 'Restore the content before', run: () => runs.mutate('restore') }]
      : []),
    { id: 'delete', text: 'Delete', danger: true, run: () => void remove() },
  ];
  return (
    <>
      {maySeePersonal && (
        <Button isDisabled={download.isPending} onPress={() => download.mutate()}>
          {download.isPending ? 'Loading…' : 'Original'}
        </Button>
      )}
      {mayChange && <Menu label="More for this source" actions={actions} />}
      {isReplacing && <ReplaceContent source={source} onClose={() => setReplacing(false)} />}
    </>
  );
}

type Run = 'reprocess' | 'ocr' | 'refresh' | 'restore';

const done: Record<Run, string> = {
  reprocess: 'It is being processed again.',
  ocr: 'All its pages are being read by OCR.',
  refresh: 'Its address is being fetched.',
  restore: 'It goes back to the content before.',
};

function useRuns({ id: sourceId }: Source) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const ids = { workspaceId, sourceId };
  const start: Record<Run, () => Promise<Source>> = {
    reprocess: () => api.knowledge.reprocessSource(ids),
    ocr: () => api.knowledge.reprocessSource({ ...ids, forceOcr: true }),
    refresh: () => api.knowledge.refreshSource(ids),
    restore: () => api.knowledge.restoreSource(ids),
  };
  return useMutation({
    mutationFn: (run: Run) => start[run](),
    onSuccess: (source, run) => {
      client.setQueryData(['source', workspaceId, sourceId], source);
      tell(done[run]);
    },
    onError: tellFailure,
    onSettled: () => client.invalidateQueries({ queryKey: ['sources'] }),
  });
}

/** A function that asks, deletes the source, and goes to the list. */
function useRemove({ id: sourceId, name }: Source) {
  const { workspaceId } = useHere();
  const confirm = useConfirm();
  const client = useQueryClient();
  const [, go] = useLocation();
  const { data: attachments } = useAttachments();
  const agentIds = (attachments?.get(sourceId) ?? []).map(({ agentId }) => agentId);
  const nameOf = useAgentNames(agentIds);
  const remove = useMutation({
    mutationFn: () => api.knowledge.deleteSource({ workspaceId, sourceId }),
    onSuccess: () => {
      tell(`${name} was deleted.`);
      forgetSource(sourceId);
      go('/knowledge');
      forget(client, ['source', workspaceId, sourceId]);
      for (const key of ['sources', 'attachments', 'kb usage']) void client.invalidateQueries({ queryKey: [key] });
    },
    onError: tellFailure,
  });
  return async () => {
    const users = agentIds.map(nameOf);
    const whose =
      users.length > 0
        ? `These agents answer from it now and will not any more: ${users.join(', ')}.`
        : 'No agent answers from it.';
    const isSure = await confirm({
      title: `Delete ${name}?`,
      text: `${whose} The original and its passages are gone. This cannot be undone.`,
      action: 'Delete',
    });
    if (isSure) remove.mutate();
  };
}

/** Loads the original and has the browser save it. */
function useDownload({ id: sourceId, name, kind, mediaType }: Source) {
  const { workspaceId } = useHere();
  return useMutation({
    mutationFn: async () => {
      const parts: Uint8Array<ArrayBuffer>[] = [];
      for await (const { data } of api.knowledge.downloadSource({ workspaceId, sourceId }))
        parts.push(data as Uint8Array<ArrayBuffer>);
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob(parts, { type: mediaType }));
      const fileName = name.split('/').at(-1) || name;
      link.download = kind === 'inline' && !fileName.endsWith('.md') ? `${fileName}.md` : fileName;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    },
    onError: tellFailure,
  });
}
