import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';

import type { CallbackBatch } from '#gen/callbacks_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { download } from '../../api/download';
import { useHere, useMay } from '../../app/caller';
import { AgentName } from '../../ui/AgentName';
import { Button, ButtonLink } from '../../ui/Button';
import { useConfirm } from '../../ui/Dialog';
import { Card, Facts, Page } from '../../ui/Page';
import { Progress } from '../../ui/Progress';
import { Query } from '../../ui/Query';
import { Time } from '../../ui/Time';
import { count } from '../../ui/format';
import { tell, tellFailure } from '../../ui/toast';
import { overOf } from './Batches';
import { CallsOf } from './ScheduleView';
import { StateBadge, stateText } from './words';
import { ownZone, wordsIn } from './zones';

/** One batch: how far it is, and its calls. */
export function Batch({ batchId }: { batchId: string }) {
  const { workspaceId } = useHere();
  const query = useQuery({
    queryKey: ['batches', workspaceId, batchId],
    refetchInterval: 2000,
    queryFn: ({ signal }) => api.callbacks.getCallbackBatch({ workspaceId, batchId }, { signal }),
  });
  if (!query.data)
    return (
      <Page title="Batch">
        <Query query={query}>{() => null}</Query>
      </Page>
    );
  return <Shown batch={query.data} />;
}

function Shown({ batch }: { batch: CallbackBatch }) {
  const { name, status, progress, timezone, windowFrom, windowUntil } = batch;
  const total = progress?.total ?? 0;
  const numbers = progress
    ? {
        scheduled: progress.scheduled,
        dialing: progress.dialing,
        in_progress: progress.inProgress,
        completed: progress.completed,
        no_answer: progress.noAnswer,
        failed: progress.failed,
        canceled: progress.canceled,
      }
    : {};
  return (
    <Page title={name} lead={batch.reason} actions={<Actions batch={batch} />}>
      <div className="grid-2">
        <Card title="Progress" actions={<StateBadge status={status} />}>
          <Progress
            label="Calls that are over"
            value={total > 0 ? (100 * overOf(batch)) / total : 0}
            text={`${count(overOf(batch))} of ${count(total)}`}
          />
          <Facts
            facts={Object.entries(numbers)
              .filter(([, n]) => n > 0)
              .map(([state, n]) => [stateText(state), count(n)])}
          />
        </Card>
        <Card title="Set up">
          <Facts
            facts={[
              [
                'Agent',
                <Link href={`/agents/${batch.agentId}`}>
                  <AgentName id={batch.agentId} />
                </Link>,
              ],
              [
                'Hours',
                windowFrom || windowUntil
                  ? `${windowFrom} to ${windowUntil}`
                  : "all day, but for the agent's quiet hours",
              ],
              ['Time zone', timezone || "each number's own"],
              ['Calls at once', batch.concurrency],
              ['Begins', batch.startsAt && wordsIn(timezone || ownZone, timestampDate(batch.startsAt))],
              ['Made', <Time at={batch.createdAt} />],
              ['Over', batch.endedAt && <Time at={batch.endedAt} />],
              ['Id', <code>{batch.id}</code>],
            ]}
          />
        </Card>
      </div>
      <h2>Calls</h2>
      <CallsOf batchId={batch.id} />
    </Page>
  );
}

async function* resultsOf(of: { workspaceId: string; batchId: string }) {
  for await (const { data } of api.callbacks.exportCallbackBatch(of)) yield data;
}

function Actions({ batch: { id: batchId, workspaceId, name, status } }: { batch: CallbackBatch }) {
  const may = useMay('operator');
  const confirm = useConfirm();
  const client = useQueryClient();
  const of = { workspaceId, batchId };
  const control = useMutation({
    mutationFn: (action: 'pause' | 'resume' | 'stop') => api.callbacks.controlCallbackBatch({ ...of, action }),
    onSuccess: (_, action) =>
      tell({ pause: 'Paused: no new calls begin.', resume: 'It goes on.', stop: 'Stopped.' }[action]),
    onError: tellFailure,
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['batches'] }),
        client.invalidateQueries({ queryKey: ['callbacks'] }),
      ]),
  });
  const save = useMutation({
    mutationFn: () => download(`${name.replace(/[^\p{L}\p{N}]+/gu, '-')}.csv`, 'text/csv', resultsOf(of)),
    onError: tellFailure,
  });
  const isOpen = status === 'running' || status === 'paused';
  const askStop = async () => {
    if (
      await confirm({
        title: 'Stop the batch?',
        text: 'Whoever was not called yet is not called. Calls that go on end by themselves. A batch that was stopped cannot be resumed.',
        action: 'Stop',
      })
    )
      control.mutate('stop');
  };
  return (
    <>
      <ButtonLink href="#/callbacks/batches" kind="quiet">
        All batches
      </ButtonLink>
      {may && (
        <Button isDisabled={save.isPending} onPress={() => save.mutate()}>
          Results as CSV
        </Button>
      )}
      {may && status === 'running' && (
        <Button isDisabled={control.isPending} onPress={() => control.mutate('pause')}>
          Pause
        </Button>
      )}
      {may && status === 'paused' && (
        <Button kind="primary" isDisabled={control.isPending} onPress={() => control.mutate('resume')}>
          Resume
        </Button>
      )}
      {may && isOpen && (
        <Button kind="danger" isDisabled={control.isPending} onPress={() => void askStop()}>
          Stop
        </Button>
      )}
    </>
  );
}
