import { useDeferredValue } from 'react';

import type { Source } from '#gen/knowledge_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useHere } from '../../app/caller';
import { useFilters } from '../../app/location';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { SearchField } from '../../ui/Field';
import { bytes, count } from '../../ui/format';
import { List } from '../../ui/List';
import { Empty } from '../../ui/Page';
import { Progress } from '../../ui/Progress';
import { Select } from '../../ui/Select';
import { Time } from '../../ui/Time';
import { useAttachments } from './agents';
import { StateBadge } from './SourceState';
import { parseTags, TagList } from './TagList';
import { kindName } from './types';
import { isBusy, useSource } from './useSource';

const states = [
  { id: '', text: 'All states' },
  { id: 'ready', text: 'Ready' },
  { id: 'processing', text: 'Being read' },
  { id: 'queued', text: 'Waiting' },
  { id: 'failed', text: 'Failed' },
];

/** The sources of the workspace, with filters. */
export function SourceList() {
  const { workspaceId } = useHere();
  const [filters, change] = useFilters(['q', 'tags', 'state']);
  const q = useDeferredValue(filters.q);
  const tags = useDeferredValue(filters.tags);
  const status = filters.state;
  const list = useList(['sources', workspaceId, q, tags, status], async (pageToken, signal) => {
    const { sources, nextPageToken } = await api.knowledge.listSources(
      { workspaceId, q, tags: parseTags(tags), status, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: sources, nextPageToken };
  });
  const isFiltered = q !== '' || tags !== '' || status !== '';
  return (
    <section className="stack">
      <h2>Sources</h2>
      <div className="filters">
        <SearchField label="Search by name" value={filters.q} onChange={(value) => change({ q: value })} />
        <SearchField
          label="Only with the tags"
          placeholder="Only with the tags…"
          value={filters.tags}
          onChange={(value) => change({ tags: value })}
        />
        <Select label="State" hideLabel choices={states} value={status} onChange={(state) => change({ state })} />
      </div>
      <List
        label="Sources"
        list={list}
        rowKey={({ id }) => id}
        href={({ id }) => `/knowledge/${id}`}
        columns={useColumns()}
        empty={
          isFiltered ? (
            <Empty
              title="No such source"
              action={<Button onPress={() => change({ q: '', tags: '', state: '' })}>Show all</Button>}
            >
              Nothing fits the search.
            </Empty>
          ) : (
            <Empty title="No sources yet">
              Drop a document above, paste a text or add a web page. When it is ready, attach it to an agent and ask it
              something.
            </Empty>
          )
        }
      />
    </section>
  );
}

function useColumns(): Column<Source>[] {
  const { data: attachments } = useAttachments();
  return [
    { id: 'name', title: 'Name', cell: ({ name }) => name },
    { id: 'state', title: 'State', cell: (source) => <StateCell source={source} /> },
    { id: 'type', title: 'Type', cell: (source) => <span className="nowrap">{kindName(source)}</span> },
    {
      id: 'size',
      title: 'Size',
      number: true,
      cell: ({ sizeBytes }) => <span className="nowrap">{bytes(sizeBytes)}</span>,
    },
    { id: 'chunks', title: 'Passages', number: true, cell: ({ chunkCount }) => count(chunkCount) },
    {
      id: 'agents',
      title: 'Agents',
      number: true,
      cell: ({ id }) => (attachments ? count(attachments.get(id)?.length ?? 0) : '…'),
    },
    {
      id: 'tags',
      title: 'Tags',
      cell: ({ tags }) => (tags.length > 0 ? <TagList tags={tags} /> : <span className="dim">none</span>),
    },
    { id: 'changed', title: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  ];
}

/** The state of a source, which is asked for while it is being read. */
function StateCell({ source: listed }: { source: Source }) {
  return isBusy(listed) ? <BusyCell source={listed} /> : <StateBadge source={listed} />;
}

function BusyCell({ source: listed }: { source: Source }) {
  const { data: source = listed } = useSource(listed.id, { known: listed });
  return isBusy(source) ? (
    <div style={{ minWidth: 120 }}>
      <Progress label={source.status === 'queued' ? 'waiting' : source.stage} value={source.progress} />
    </div>
  ) : (
    <StateBadge source={source} />
  );
}
