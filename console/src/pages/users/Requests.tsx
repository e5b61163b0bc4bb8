import { useEffect } from 'react';

import type { PrivacyCounts, PrivacyRequest } from '#gen/privacy_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useHere } from '../../app/caller';
import type { Column } from '../../ui/DataTable';
import { bytes } from '../../ui/format';
import { List } from '../../ui/List';
import { Badge, Card, Empty } from '../../ui/Page';
import { Progress } from '../../ui/Progress';
import { Time } from '../../ui/Time';
import { userHref } from './href';

const names: [Exclude<keyof PrivacyCounts, `$${string}`>, string, string][] = [
  ['sessions', 'session', 'sessions'],
  ['turns', 'turn', 'turns'],
  ['toolCalls', 'call of a tool', 'calls of tools'],
  ['memories', 'memory', 'memories'],
  ['recordings', 'recording', 'recordings'],
  ['callbacks', 'callback', 'callbacks'],
  ['events', 'event', 'events'],
  ['undelivered', 'delivery on its way', 'deliveries on their way'],
  ['answers', 'kept answer', 'kept answers'],
  ['exports', 'earlier copy', 'earlier copies'],
];

/** 3 sessions, 12 turns, 1 memory; empty when there is nothing. */
export const countsText = (counts: PrivacyCounts | undefined) =>
  names
    .filter(([name]) => counts && counts[name] > 0)
    .map(([name, one, many]) => `${counts?.[name]} ${counts?.[name] === 1 ? one : many}`)
    .join(', ');

const isOpen = ({ status }: PrivacyRequest) => status === 'queued' || status === 'processing';

/** What was asked for: copies and erasures, of one user or of all. */
export function Requests({ userId = '' }: { userId?: string }) {
  const { workspaceId } = useHere();
  const list = useList(['privacy-requests', workspaceId, userId], async (pageToken, signal) => {
    const { requests, nextPageToken } = await api.privacy.listPrivacyRequests(
      { workspaceId, userId, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: requests, nextPageToken };
  });
  const { refetch } = list;
  const isBusy = list.rows?.some(isOpen);
  useEffect(() => {
    const timer = isBusy ? setInterval(() => void refetch(), 1000) : undefined;
    return () => clearInterval(timer);
  }, [isBusy, refetch]);
  const columns: Column<PrivacyRequest>[] = [
    { id: 'kind', title: 'Asked for', cell: ({ kind }) => (kind === 'export' ? 'A copy' : 'Erasure') },
    ...(userId
      ? []
      : [
          {
            id: 'user',
            title: 'User',
            cell: (row: PrivacyRequest) =>
              row.userId ? (
                <a href={`#${userHref(row.userId, 'privacy')}`}>{row.userId}</a>
              ) : (
                <span className="dim">erased</span>
              ),
          },
        ]),
    { id: 'status', title: 'State', cell: (row) => <State row={row} /> },
    { id: 'counts', title: 'What', cell: ({ counts }) => countsText(counts) || '–' },
    { id: 'at', title: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: 'file', title: 'Result', cell: (row) => <File row={row} /> },
  ];
  const table = (
    <List
      label="Privacy requests"
      list={list}
      rowKey={({ id }) => id}
      columns={columns}
      empty={
        <Empty title="Nothing was asked for">
          {userId ? (
            "Copies and erasures of this user's data are listed here."
          ) : (
            <>Copies and erasures of users’ data are listed here. Open a user to ask for one.</>
          )}
        </Empty>
      }
    />
  );
  return userId ? <Card title="Requests">{table}</Card> : table;
}

function State({ row }: { row: PrivacyRequest }) {
  if (row.status === 'ready') return <Badge tone="good">done</Badge>;
  if (row.status === 'failed')
    return (
      <>
        <Badge tone="bad">failed</Badge> <span className="small">{row.error}</span>
      </>
    );
  return (
    <>
      <Progress label={row.status === 'queued' ? 'Waiting' : 'At work'} />
      {row.error && <span className="small">Tried again: {row.error}</span>}
    </>
  );
}

function File({ row }: { row: PrivacyRequest }) {
  const notCovered = row.certificate?.notCovered ?? [];
  if (row.kind !== 'export')
    return notCovered.length === 0 ? (
      '–'
    ) : (
      <details className="small">
        <summary>What it cannot reach</summary>
        <ul>
          {notCovered.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </details>
    );
  if (/^https?:\/\//.test(row.downloadUrl))
    return (
      <>
        <a href={row.downloadUrl} rel="noreferrer" download>
          Download
        </a>{' '}
        <span className="dim small">
          {bytes(row.sizeBytes)}, until <Time at={row.expiresAt} exact />
        </span>
      </>
    );
  return <span className="dim">{row.status === 'ready' ? 'no longer there, or not for you' : '–'}</span>;
}
