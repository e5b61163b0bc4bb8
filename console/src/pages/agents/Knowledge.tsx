import { create } from '@bufbuild/protobuf';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { TagFilterSchema, type AgentRetrieval } from '#gen/agents_pb';
import type { SourceAttachment } from '#gen/knowledge_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useMutation } from '../../api/useMutation';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { useConfirm } from '../../ui/Dialog';
import { Switch } from '../../ui/Field';
import { List } from '../../ui/List';
import { Badge, Card, Empty } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { tell, tellFailure } from '../../ui/toast';
import { AttachSources } from './AttachSources';
import { useEditor } from './editor';
import { Amount, Lines, OptionalNumber } from './fields';

/** The documents that the agent knows, and how it looks into them. */
export function Knowledge() {
  return (
    <>
      <Sources />
      <Retrieval />
    </>
  );
}

function Sources() {
  const { workspaceId, agentId, mayEdit } = useEditor();
  const [isAdding, setAdding] = useState(false);
  const list = useList(['attachments', agentId], async (pageToken, signal) => {
    const { attachments, nextPageToken } = await api.knowledge.listSourceAttachments(
      { workspaceId, agentId, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: attachments, nextPageToken };
  });
  const add = mayEdit && <Button onPress={() => setAdding(true)}>Attach sources</Button>;
  return (
    <Card title="Sources" actions={list.rows?.length ? add : undefined}>
      <p className="dim small">
        Attached sources count at once, in the published version too: they are not part of the draft.
      </p>
      <List
        label="Attached sources"
        list={list}
        rowKey={({ sourceId }) => sourceId}
        columns={useColumns()}
        href={({ sourceId }) => `/knowledge/${sourceId}`}
        empty={
          <Empty title="It knows no documents yet" action={add}>
            Attach sources of the knowledge base, and the agent answers from them. New ones are added in{' '}
            <a href="#/knowledge">Knowledge</a>.
          </Empty>
        }
      />
      {isAdding && (
        <AttachSources
          attached={new Set(list.rows?.map(({ sourceId }) => sourceId))}
          onClose={() => setAdding(false)}
        />
      )}
    </Card>
  );
}

const modes = [
  { id: 'auto', text: 'Searched' },
  { id: 'prompt', text: 'Always read whole' },
];

function useColumns(): Column<SourceAttachment>[] {
  const { workspaceId, agentId, mayEdit } = useEditor();
  const confirm = useConfirm();
  const client = useQueryClient();
  const changed = {
    onError: tellFailure,
    onSettled: () => client.invalidateQueries({ queryKey: ['attachments', agentId] }),
  };
  const detach = useMutation({
    mutationFn: ({ sourceId }: SourceAttachment) => api.knowledge.detachSource({ workspaceId, agentId, sourceId }),
    onSuccess: (_, { sourceName }) => tell(`${sourceName} is detached.`),
    ...changed,
  });
  const setMode = useMutation({
    mutationFn: ({ sourceId, usageMode }: { sourceId: string; usageMode: string }) =>
      api.knowledge.attachSources({ workspaceId, agentId, sourceIds: [sourceId], usageMode }),
    ...changed,
  });
  const ask = async (row: SourceAttachment) => {
    if (
      await confirm({
        title: `Detach ${row.sourceName}?`,
        text: 'The agent no longer answers from it, at once. The source stays in the knowledge base.',
        action: 'Detach',
      })
    )
      detach.mutate(row);
  };
  return [
    { id: 'name', title: 'Source', cell: ({ sourceName }) => sourceName },
    {
      id: 'status',
      title: 'Status',
      cell: ({ status }) => (
        <Badge tone={status === 'ready' ? 'good' : status === 'failed' ? 'bad' : 'warn'}>{status}</Badge>
      ),
    },
    {
      id: 'mode',
      title: 'Use',
      cell: ({ sourceId, sourceName, usageMode }) => (
        <Select
          label={`Use of ${sourceName}`}
          hideLabel
          choices={modes}
          value={usageMode}
          isDisabled={!mayEdit}
          onChange={(next) => setMode.mutate({ sourceId, usageMode: next })}
        />
      ),
    },
    {
      id: 'more',
      title: '',
      cell: (row) =>
        mayEdit && (
          <Button kind="quiet" aria-label={`Detach ${row.sourceName}`} onPress={() => void ask(row)}>
            Detach
          </Button>
        ),
    },
  ];
}

function Retrieval() {
  const {
    settings: { retrieval },
    edit,
    wrong,
  } = useEditor();
  const set = (patch: Partial<AgentRetrieval>) => edit({ retrieval: { ...retrieval, ...patch } });
  const [isOpen] = useState(retrieval.tags !== undefined);
  const tags = retrieval.tags ?? create(TagFilterSchema);
  const setTags = (patch: Partial<typeof tags>) => {
    const next = { ...tags, ...patch };
    set({ tags: next.allOf.length + next.anyOf.length + next.noneOf.length > 0 ? next : undefined });
  };
  return (
    <Card title="How passages are found">
      <div className="grid-3">
        <Amount
          label="Passages for an answer"
          maxValue={50}
          value={retrieval.topK}
          onChange={(topK) => set({ topK })}
          placeholder="5"
          wrong={wrong('retrieval.top_k')}
        />
        <OptionalNumber
          label="Least similarity"
          minValue={0}
          maxValue={1}
          step={0.05}
          value={retrieval.minSimilarity}
          onChange={(minSimilarity) => set({ minSimilarity })}
          placeholder="the model's"
          hint="0 to 1."
          wrong={wrong('retrieval.min_similarity')}
        />
        <Select
          label="Order by"
          value={retrieval.ranking || 'hybrid'}
          onChange={(ranking) => set({ ranking })}
          choices={[
            { id: 'hybrid', text: 'Meaning and words' },
            { id: 'similarity', text: 'Meaning only' },
          ]}
        />
      </div>
      <Switch isSelected={retrieval.rerank} onChange={(rerank) => set({ rerank })}>
        Have the reranking server order the best 30, if there is one
      </Switch>
      <details className="item" open={isOpen}>
        <summary>Only sources with certain tags</summary>
        <div className="grid-3">
          <Lines
            label="All of"
            value={tags.allOf}
            onChange={(allOf) => setTags({ allOf })}
            hint="One a line."
            wrong={wrong('retrieval.tags.all_of')}
          />
          <Lines
            label="At least one of"
            value={tags.anyOf}
            onChange={(anyOf) => setTags({ anyOf })}
            wrong={wrong('retrieval.tags.any_of')}
          />
          <Lines
            label="None of"
            value={tags.noneOf}
            onChange={(noneOf) => setTags({ noneOf })}
            wrong={wrong('retrieval.tags.none_of')}
          />
        </div>
      </details>
    </Card>
  );
}
