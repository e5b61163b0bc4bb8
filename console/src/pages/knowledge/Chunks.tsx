import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import type { Chunk, Source } from '#gen/knowledge_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useMutation } from '../../api/useMutation';
import { useHere, useMay } from '../../app/caller';
import { useFilters } from '../../app/location';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { SearchField, Switch } from '../../ui/Field';
import { List } from '../../ui/List';
import { Empty } from '../../ui/Page';
import { tellFailure } from '../../ui/toast';
import { Marked, wordsOf } from './Marked';
import { isBusy } from './useSource';

/** 3, pages 4 to 5 */
export const pagesOf = ({ pageStart, pageEnd }: { pageStart: number; pageEnd: number }) => {
  if (pageStart === 0) return '';
  return pageEnd > pageStart ? `pages ${pageStart} to ${pageEnd}` : `page ${pageStart}`;
};

/** The passages of a source, with a search in them. "#12" finds the passage of that number. */
export function Chunks({ source }: { source: Source }) {
  const { workspaceId } = useHere();
  const [filters, change] = useFilters(['find']);
  const find = filters.find.trim();
  const list = useList(['chunks', workspaceId, source.id], async (pageToken, signal) => {
    const { chunks, nextPageToken } = await api.knowledge.listChunks(
      { workspaceId, sourceId: source.id, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: chunks, nextPageToken };
  });
  const { has, isLoading, load } = list.more;
  const needsAll = find !== '' && has && !isLoading;
  useEffect(() => {
    if (needsAll) load();
  }, [needsAll, load]);
  const rows = list.rows?.filter((chunk) => matches(chunk, find));
  return (
    <div className="stack chunks">
      <div style={{ maxWidth: 420 }}>
        <SearchField
          label="Search in the passages"
          value={filters.find}
          onChange={(value) => change({ find: value })}
        />
      </div>
      <p className="visually-hidden" role="status">
        {find !== '' && rows ? `${rows.length} passages fit` : ''}
      </p>
      <List
        label="Passages"
        list={{ ...list, rows }}
        rowKey={({ id }) => id}
        columns={useColumns(source, find)}
        empty={
          find !== '' ? (
            <Empty title="No passage fits" action={<Button onPress={() => change({ find: '' })}>Show all</Button>} />
          ) : (
            <Empty title="No passages">
              {isBusy(source) ? 'They are shown when the source is ready.' : 'Nothing of it could be read: see above.'}
            </Empty>
          )
        }
      />
    </div>
  );
}

function matches({ content, heading, index }: Chunk, find: string): boolean {
  const number = /^#(\d+)$/.exec(find)?.[1];
  if (number) return index + 1 === Number(number);
  const text = find.toLowerCase();
  return content.toLowerCase().includes(text) || heading.toLowerCase().includes(text);
}

function useColumns(source: Source, find: string): Column<Chunk>[] {
  const { workspaceId } = useHere();
  const mayChange = useMay('operator');
  const client = useQueryClient();
  const update = useMutation({
    mutationFn: ({ id, disabled }: { id: string; disabled: boolean }) =>
      api.knowledge.updateChunk({ workspaceId, sourceId: source.id, chunkId: id, disabled }),
    onError: tellFailure,
    onSettled: () =>
      Promise.all(['chunks', 'source', 'sources'].map((name) => client.invalidateQueries({ queryKey: [name] }))),
  });
  return [
    {
      id: 'place',
      title: 'Place',
      cell: (chunk) => (
        <span className="nowrap">
          #{chunk.index + 1}
          <br />
          <span className="dim small">{pagesOf(chunk)}</span>
        </span>
      ),
    },
    { id: 'text', title: 'Text', cell: (chunk) => <ChunkText chunk={chunk} find={find} /> },
    { id: 'tokens', title: 'Tokens', number: true, cell: ({ tokenCount }) => tokenCount },
    {
      id: 'on',
      title: 'Can be found',
      cell: ({ id, disabled, index }) =>
        mayChange ? (
          <Switch
            isSelected={!disabled}
            isDisabled={update.isPending}
            onChange={(isOn) => update.mutate({ id, disabled: !isOn })}
          >
            <span className="nowrap">{disabled ? 'off' : 'on'}</span>
            <span className="visually-hidden">: passage {index + 1}</span>
          </Switch>
        ) : disabled ? (
          'off'
        ) : (
          'on'
        ),
    },
  ];
}

const shortLength = 320;

function ChunkText({ chunk: { content, heading, disabled }, find }: { chunk: Chunk; find: string }) {
  const [isOpen, setOpen] = useState(false);
  const isLong = content.length > shortLength;
  const shown = isLong && !isOpen && find === '' ? `${content.slice(0, shortLength)}…` : content;
  return (
    <div className="stack" style={{ gap: 4 }}>
      {heading && <span className="dim small">{heading}</span>}
      <div className={`passage ${disabled ? 'off' : ''}`}>
        <Marked text={shown} words={wordsOf(find)} />
      </div>
      {isLong && find === '' && (
        <div>
          <Button kind="quiet" aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
            {isOpen ? 'Less' : 'All of it'}
          </Button>
        </div>
      )}
    </div>
  );
}
