import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

import * as api from '../../api/clients';
import { useHere, useMay } from '../../app/caller';
import { Card } from '../../ui/Page';

const refreshMs = 15_000;

/** What waits for somebody: people who want a person, sources and webhooks that failed, limits that are near. */
export function Attention() {
  const matters = [useWaiting(), useWebhooks(), useFailed(), useLimits()].flat();
  if (matters.length === 0) return null;
  return (
    <Card title="Needs you">
      <ul className="stack" style={{ margin: 0, paddingInlineStart: 18 }}>
        {matters.map((matter, at) => (
          <li key={at}>{matter}</li>
        ))}
      </ul>
    </Card>
  );
}

function useWaiting(): ReactNode[] {
  const { workspaceId } = useHere();
  const { data } = useQuery({
    queryKey: ['waiting', workspaceId],
    refetchInterval: refreshMs,
    queryFn: ({ signal }) =>
      api.sessions.listSessions({ workspaceId, handover: 'requested', pageSize: 50 }, { signal }),
  });
  return (data?.sessions ?? []).map(({ id, userId }) => (
    <>
      <Link href={`/sessions/${id}`}>{userId}</Link> waits for a person.
    </>
  ));
}

function useWebhooks(): ReactNode[] {
  const { workspaceId } = useHere();
  const { data } = useQuery({
    queryKey: ['webhooks', workspaceId, 'attention'],
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => api.webhooks.listWebhookEndpoints({ workspaceId, pageSize: 200 }, { signal }),
  });
  return (data?.endpoints ?? [])
    .filter(({ status }) => status === 'disabled')
    .map(({ id, url }) => (
      <>
        The webhook <Link href={`/webhooks/${id}`}>{url}</Link> was switched off, because its deliveries kept failing.
      </>
    ));
}

/** callbacks → callback, deliveries → delivery, analyses → analysis */
const singular = (kind: string) =>
  kind
    .replace(/ies$/, 'y')
    .replace(/yses$/, 'ysis')
    .replace(/([^i])s$/, '$1');

function useFailed(): ReactNode[] {
  const isOperator = useMay('operator');
  const { caller } = useHere();
  const { data } = useQuery({
    queryKey: ['backlog'],
    enabled: isOperator && !caller.workspaceId,
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => api.queues.getBacklog({}, { signal }),
  });
  const failed = (data?.kinds ?? []).filter((kind) => kind.failed > 0);
  return failed.map(({ kind, failed: n }) => (
    <>
      <Link href="/queues">
        {n} {n === 1 ? singular(kind) : kind}
      </Link>{' '}
      failed in the last 7 days.
    </>
  ));
}

function useLimits(): ReactNode[] {
  const { data } = useQuery({ queryKey: ['usage', ''], queryFn: ({ signal }) => api.usage.getUsage({}, { signal }) });
  return (data?.meters ?? [])
    .filter(({ limit, percent }) => limit > 0 && percent >= 80)
    .map(({ meter, percent }) => (
      <>
        <Link href="/usage">{meter}</Link>: {Math.round(percent)} % of this month's limit is used.
      </>
    ));
}
