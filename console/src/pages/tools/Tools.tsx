import { useDeferredValue } from 'react';

import type { Tool } from '#gen/tools_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useHere, useMay } from '../../app/caller';
import { useFilters } from '../../app/location';
import { Button, ButtonLink } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { SearchField } from '../../ui/Field';
import { count } from '../../ui/format';
import { List } from '../../ui/List';
import { Badge, Empty, Page } from '../../ui/Page';
import { Select } from '../../ui/Select';
import './tools.css';
import { useToolUsers } from './users';

/** Where a tool comes from. */
export const bucketNames: Record<string, string> = {
  custom: 'yours',
  opt_in: 'built in',
  memory: 'memory',
  system: 'always on',
};

/** http, mcp, or where it comes from. */
export const kindName = ({ kind, bucket }: Tool) =>
  kind === 'mcp' ? 'MCP server' : kind === 'http' ? 'HTTP' : (bucketNames[bucket] ?? bucket);

const buckets = [
  { id: '', text: 'All tools' },
  { id: 'custom', text: 'Yours' },
  { id: 'opt_in', text: 'Built in, switched on per agent' },
  { id: 'memory', text: 'Memory' },
  { id: 'system', text: 'Always on' },
];

export default function Tools() {
  const { workspaceId } = useHere();
  const mayChange = useMay('operator');
  const [filters, change] = useFilters(['q', 'of']);
  const q = useDeferredValue(filters.q);
  const list = useList(['tools', workspaceId, q], async (pageToken, signal) => {
    const { tools, nextPageToken } = await api.tools.listTools(
      { workspaceId, q, includeHidden: true, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: tools, nextPageToken };
  });
  const bucket = filters.of;
  const rows = list.rows
    ?.filter((tool) => bucket === '' || tool.bucket === bucket)
    .toSorted((a, b) => Number(b.bucket === 'custom') - Number(a.bucket === 'custom'));
  const add = mayChange && (
    <ButtonLink kind="primary" href="#/tools/new">
      New tool
    </ButtonLink>
  );
  const isFiltered = q !== '' || (bucket !== '' && bucket !== 'custom');
  return (
    <Page
      title="Tools"
      lead="What agents can do beside talking: call your systems, use an MCP server, end a call."
      actions={
        <>
          {mayChange && <ButtonLink href="#/tools/import">Import from OpenAPI</ButtonLink>}
          {add}
        </>
      }
    >
      <div className="filters">
        <SearchField
          label="Search in names and descriptions"
          value={filters.q}
          onChange={(value) => change({ q: value })}
        />
        <Select label="Which" hideLabel choices={buckets} value={bucket} onChange={(of) => change({ of })} />
      </div>
      <List
        label="Tools"
        list={{ ...list, rows }}
        rowKey={({ id }) => id}
        href={({ id }) => `/tools/${encodeURIComponent(id)}`}
        columns={useColumns()}
        empty={
          isFiltered ? (
            <Empty title="No such tool" action={<Button onPress={() => change({ q: '', of: '' })}>Show all</Button>} />
          ) : (
            <Empty title="No tools of yours yet" action={add}>
              Make one of an address of your system, or import many from an OpenAPI document.
            </Empty>
          )
        }
      />
    </Page>
  );
}

function useColumns(): Column<Tool>[] {
  const { data: users } = useToolUsers();
  const shorten = (text: string) => (text.length > 160 ? `${text.slice(0, 160)}…` : text);
  return [
    { id: 'name', title: 'Name', cell: ({ slug }) => <code>{slug}</code> },
    {
      id: 'kind',
      title: 'Kind',
      cell: (tool) => <Badge tone={tool.bucket === 'custom' ? 'accent' : undefined}>{kindName(tool)}</Badge>,
    },
    { id: 'description', title: 'What it does', cell: ({ description }) => shorten(description) },
    {
      id: 'where',
      title: 'Calls',
      cell: ({ method, webhookUrl, mcpServerUrl }) => (
        <span className="mono">{webhookUrl ? `${method} ${shorten(webhookUrl)}` : shorten(mcpServerUrl) || '–'}</span>
      ),
    },
    {
      id: 'agents',
      title: 'Agents',
      number: true,
      cell: ({ id }) => (users ? count(users.get(id)?.filter(({ enabled }) => enabled).length ?? 0) : '…'),
    },
  ];
}
