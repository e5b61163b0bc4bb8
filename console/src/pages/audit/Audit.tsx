import { useState } from 'react';

import type { AuditEntry } from '#gen/audit_pb';

import * as api from '../../api/clients';
import { useLiveList } from '../../api/useLiveList';
import { useHere, useMay } from '../../app/caller';
import { addressWith, useFilters } from '../../app/location';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { FilterDays, Filters, FilterText } from '../../ui/Filters';
import { List } from '../../ui/List';
import { Badge, Empty, Page } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { Time } from '../../ui/Time';
import { dayBegins, dayEnds } from '../../ui/days';
import { ActorLine } from './ActorLine';
import { changesOf } from './changes';
import { EntryDialog } from './EntryDialog';
import { ExportDialog } from './ExportDialog';

const names = ['actor', 'action', 'resource', 'user', 'from', 'until', 'workspace'] as const;
const idOf = ({ id }: AuditEntry) => id;

export default function Audit() {
  const mayAll = useMayReadAll();
  const [filters, change] = useFilters(names);
  const [{ entry: shownNumber }, show] = useFilters(['entry']);
  const [isExporting, setExporting] = useState(false);
  const list = useEntries(filters, mayAll);
  const isFiltered = Object.values(filters).some(Boolean);
  const clear = () => change(Object.fromEntries(names.map((name) => [name, ''])));
  const shown = list.rows?.find(({ number }) => String(number) === shownNumber);
  return (
    <Page
      title="Audit"
      lead={
        mayAll
          ? 'Who changed what, when and from where, in the whole tenant.'
          : 'Who changed what, when and from where, in this workspace.'
      }
      actions={mayAll && <Button onPress={() => setExporting(true)}>Export</Button>}
    >
      <AuditFilters filters={filters} change={change} mayAll={mayAll} onClear={isFiltered ? clear : undefined} />
      <List
        label="Audit log"
        list={list}
        rowKey={idOf}
        columns={columns}
        href={({ number }) => addressWith({ entry: String(number) })}
        empty={
          isFiltered ? (
            <Empty title="No entry matches" action={<Button onPress={clear}>Clear filters</Button>} />
          ) : (
            <Empty title="Nothing was changed yet">
              Each change of a key, a person or a command appears here. Conversations do not: they have transcripts.
            </Empty>
          )
        }
      />
      {shown && <EntryDialog entry={shown} onClose={() => show({ entry: '' })} />}
      {isExporting && <ExportDialog onClose={() => setExporting(false)} />}
    </Page>
  );
}

/** Whether the whole tenant's log may be read; others read that of the workspace. */
function useMayReadAll(): boolean {
  const { caller } = useHere();
  return useMay('admin') && caller.workspaceId === '';
}

type Filter = Record<(typeof names)[number], string>;

function useEntries(filters: Filter, mayAll: boolean) {
  const { workspaceId } = useHere();
  return useLiveList(
    ['audit', workspaceId, mayAll, filters],
    async (pageToken, signal) => {
      const { actor, action, resource, user, from, until, workspace } = filters;
      const of = {
        pageSize: 200,
        pageToken,
        actor,
        action,
        resourceId: resource,
        userId: user,
        since: dayBegins(from),
        until: dayEnds(until),
      };
      const { entries, nextPageToken } = mayAll
        ? await api.audit.listAuditEntries({ ...of, workspaceId: workspace }, { signal })
        : await api.audit.listWorkspaceAuditEntries({ ...of, workspaceId }, { signal });
      return { rows: entries, nextPageToken };
    },
    idOf,
  );
}

function AuditFilters({
  filters,
  change,
  mayAll,
  onClear,
}: {
  filters: Filter;
  change(changes: Partial<Filter>): void;
  mayAll: boolean;
  onClear?: () => void;
}) {
  const { workspaces } = useHere();
  return (
    <Filters many onClear={onClear}>
      <FilterText
        label="Who"
        value={filters.actor}
        onChange={(actor) => change({ actor })}
        placeholder="key_… or per_…"
      />
      <FilterText
        label="Action"
        value={filters.action}
        onChange={(action) => change({ action })}
        placeholder="agent."
      />
      <FilterText
        label="Resource"
        value={filters.resource}
        onChange={(resource) => change({ resource })}
        placeholder="agt_…"
      />
      <FilterText label="User" value={filters.user} onChange={(user) => change({ user })} placeholder="Whole id" />
      {mayAll && workspaces.length > 1 && (
        <Select
          label="Workspace"
          choices={[{ id: '', text: 'All' }, ...workspaces.map(({ id, name: text }) => ({ id, text }))]}
          value={filters.workspace}
          onChange={(workspace) => change({ workspace })}
        />
      )}
      <FilterDays from={filters.from} until={filters.until} onChange={change} />
    </Filters>
  );
}

const columns: Column<AuditEntry>[] = [
  { id: 'action', title: 'Action', cell: ({ action }) => action },
  { id: 'actor', title: 'Who', cell: (entry) => <ActorLine entry={entry} /> },
  {
    id: 'resource',
    title: 'Resource',
    cell: ({ resourceId, resourceType }) => (
      <span>
        {resourceType} {resourceId && <code className="small">{resourceId}</code>}
      </span>
    ),
  },
  { id: 'changed', title: 'Changed', cell: (entry) => <Changed entry={entry} /> },
  { id: 'at', title: 'When', cell: ({ at }) => <Time at={at} /> },
  { id: 'number', title: 'Number', number: true, cell: ({ number }) => number },
];

/** The names of the fields that changed, or why nothing did. */
function Changed({ entry }: { entry: AuditEntry }) {
  if (entry.outcome === 'unknown') return <Badge tone="warn">may have been made</Badge>;
  if (entry.outcome !== 'done') return <Badge tone="bad">refused: {entry.outcome}</Badge>;
  const fields = changesOf(entry)
    .map(({ path }) => path)
    .filter((path) => path !== 'updated_at');
  if (!entry.before && entry.after) return <Badge tone="good">made</Badge>;
  if (entry.before && !entry.after) return <Badge tone="bad">deleted</Badge>;
  if (fields.length === 0) return <span className="dim">–</span>;
  return (
    <span className="small">
      {fields.slice(0, 3).join(', ')}
      {fields.length > 3 && ` and ${fields.length - 3} more`}
    </span>
  );
}
