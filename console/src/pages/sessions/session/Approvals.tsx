import { useQuery, useQueryClient } from '@tanstack/react-query';

import type { Approval } from '#gen/sessions_pb';

import * as api from '../../../api/clients';
import { useList } from '../../../api/useList';
import { useMay } from '../../../app/caller';
import { ApprovalForm } from '../../../conversation/Waiting';
import type { Column } from '../../../ui/DataTable';
import { List } from '../../../ui/List';
import { Badge, Empty } from '../../../ui/Page';
import { Time } from '../../../ui/Time';
import { tellFailure } from '../../../ui/toast';

const tones = { waiting: 'accent', approved: 'good', denied: 'bad', expired: 'warn', withdrawn: undefined } as const;

const deciders: Record<string, string> = { session_token: 'the user', socket: 'the user', '': 'nobody' };

const columns: Column<Approval>[] = [
  { id: 'tool', title: 'Tool', cell: ({ slug }) => <code>{slug}</code> },
  {
    id: 'status',
    title: 'Decision',
    cell: ({ status }) => <Badge tone={tones[status as keyof typeof tones]}>{status}</Badge>,
  },
  { id: 'input', title: 'Input', cell: ({ inputJson }) => <code className="clamped">{inputJson}</code> },
  { id: 'reason', title: 'Reason', cell: ({ reason }) => reason },
  { id: 'by', title: 'By', cell: ({ decidedBy }) => deciders[decidedBy] ?? <code>{decidedBy}</code> },
  { id: 'asked', title: 'Asked', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** The calls of a session that somebody was asked about. */
export function Approvals({ sessionId }: { sessionId: string }) {
  const list = useList(['session', sessionId, 'approvals'], async (pageToken, signal) => {
    const { approvals, nextPageToken } = await api.sessions.listApprovals(
      { sessionId, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: approvals, nextPageToken };
  });
  return (
    <List
      label="Approvals"
      list={list}
      rowKey={({ callId }) => callId}
      columns={columns}
      empty={
        <Empty title="Nobody was asked">
          A tool whose calls need an approval asks here, and wherever the conversation is.
        </Empty>
      }
    />
  );
}

/** The calls that wait for somebody's word now. */
export function WaitingApprovals({ sessionId, pollMs }: { sessionId: string; pollMs: number }) {
  const may = useMay('runtime');
  const client = useQueryClient();
  const waiting = useQuery({
    queryKey: ['session', sessionId, 'waiting'],
    enabled: may,
    refetchInterval: pollMs,
    queryFn: async ({ signal }) =>
      (await api.sessions.listApprovals({ sessionId, status: 'waiting', pageSize: 50 }, { signal })).approvals,
  });
  const decide = async (callId: string, approve: boolean, reason: string) => {
    try {
      await api.sessions.decideApproval({ sessionId, callId, approve, reason });
      return true;
    } catch (error) {
      tellFailure(error);
      return false;
    } finally {
      await client.invalidateQueries({ queryKey: ['session', sessionId] });
    }
  };
  return waiting.data?.map(({ callId, slug, inputJson }) => (
    <ApprovalForm
      key={callId}
      name={slug}
      input={inputJson}
      onDecide={(isAllowed, reason) => decide(callId, isAllowed, reason)}
    />
  ));
}
