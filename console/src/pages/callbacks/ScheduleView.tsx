import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';

import type { Callback, CallbackSchedule } from '#gen/callbacks_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useLiveList } from '../../api/useLiveList';
import { useHere, useMay } from '../../app/caller';
import { navigate } from '../../app/location';
import { AgentName } from '../../ui/AgentName';
import { Button, ButtonLink } from '../../ui/Button';
import { useConfirm } from '../../ui/Dialog';
import { List } from '../../ui/List';
import { Card, Empty, Facts, Page } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Time } from '../../ui/Time';
import { tell, tellFailure } from '../../ui/toast';
import { UserLink } from '../users/UserLink';
import { useCallbackColumns } from './CallbackList';
import { cronWords } from './cronWords';
import { ScheduleForm } from './ScheduleForm';
import { OnSwitch } from './Schedules';
import { wordsIn } from './zones';

/** One schedule with its next runs and the calls that were made of it. */
export function ScheduleView({ scheduleId }: { scheduleId: string }) {
  const { workspaceId } = useHere();
  const query = useQuery({
    queryKey: ['schedules', workspaceId, scheduleId],
    refetchInterval: 15_000,
    queryFn: ({ signal }) => api.callbacks.getCallbackSchedule({ workspaceId, scheduleId }, { signal }),
  });
  if (!query.data)
    return (
      <Page title="Schedule">
        <Query query={query}>{() => null}</Query>
      </Page>
    );
  return <Shown schedule={query.data} />;
}

function Shown({ schedule }: { schedule: CallbackSchedule }) {
  const may = useMay('operator');
  const [isEditing, setEditing] = useState(false);
  const { cron, timezone, userId, exceptions, nextRuns } = schedule;
  const remove = useRemove(schedule);
  return (
    <Page
      title={`Calls of ${userId}`}
      lead={schedule.reason}
      actions={
        <>
          <ButtonLink href="#/callbacks/schedules" kind="quiet">
            All schedules
          </ButtonLink>
          {may && <Button onPress={() => setEditing(true)}>Change</Button>}
          {may && (
            <Button kind="danger" onPress={() => void remove()}>
              Delete
            </Button>
          )}
        </>
      }
    >
      <div className="grid-2">
        <Card title="When" actions={may ? <OnSwitch schedule={schedule} /> : undefined}>
          <Facts
            facts={[
              ['Runs', cronWords(cron) ?? <code>{cron}</code>],
              ['Expression', <code>{cron}</code>],
              ['Time zone', timezone],
              ['From', schedule.startsAt && wordsIn(timezone, timestampDate(schedule.startsAt))],
              ['Until', schedule.endsAt && wordsIn(timezone, timestampDate(schedule.endsAt))],
              ['Not on', exceptions.join(', ')],
              [
                'Skipped',
                schedule.skippedRuns > 0 && (
                  <>
                    {schedule.skippedRuns}, the last <Time at={schedule.lastSkippedAt} />: no worker ran within an hour
                  </>
                ),
              ],
            ]}
          />
        </Card>
        <Card title="Whom">
          <Facts
            facts={[
              ['User', <UserLink userId={userId} />],
              ['Number', schedule.phoneNumber],
              [
                'Agent',
                <Link href={`/agents/${schedule.agentId}`}>
                  <AgentName id={schedule.agentId} />
                </Link>,
              ],
              [
                'Variables',
                Object.entries(schedule.dynamicVariables)
                  .map(([name, value]) => `${name}=${value}`)
                  .join(', '),
              ],
              ['Id', <code>{schedule.id}</code>],
            ]}
          />
        </Card>
      </div>
      <Card title="Next runs">
        {!schedule.enabled ? (
          <p className="note warn">It is off: nobody is called until it is turned on.</p>
        ) : nextRuns.length === 0 ? (
          <p>It does not run any more.</p>
        ) : (
          <ol className="runs" aria-label="Next runs">
            {nextRuns.map((run) => (
              <li key={String(run.seconds)}>{wordsIn(timezone, timestampDate(run))}</li>
            ))}
          </ol>
        )}
      </Card>
      <h2>Calls</h2>
      <CallsOf scheduleId={schedule.id} />
      {isEditing && (
        <ScheduleForm
          schedule={schedule}
          onClose={() => setEditing(false)}
          onSaved={() => {
            setEditing(false);
            tell('Saved.');
          }}
        />
      )}
    </Page>
  );
}

function useRemove({ id: scheduleId, workspaceId, userId }: CallbackSchedule) {
  const confirm = useConfirm();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.callbacks.deleteCallbackSchedule({ workspaceId, scheduleId }),
    onError: tellFailure,
    onSuccess: () => {
      tell('The schedule was deleted.');
      client.removeQueries({ queryKey: ['schedules'] });
      navigate('/callbacks/schedules');
    },
  });
  return async () => {
    if (
      await confirm({
        title: 'Delete the schedule?',
        text: `${userId} is not called by it any more, and its planned calls are cancelled. Calls that were made stay.`,
        action: 'Delete',
      })
    )
      remove.mutate();
  };
}

const idOf = ({ id }: Callback) => id;

/** The callbacks of a schedule or of a batch. */
export function CallsOf({ scheduleId = '', batchId = '' }: { scheduleId?: string; batchId?: string }) {
  const { workspaceId } = useHere();
  const list = useLiveList(
    ['callbacks', workspaceId, 'of', scheduleId, batchId],
    async (pageToken, signal) => {
      const { callbacks, nextPageToken } = await api.callbacks.listCallbacks(
        { workspaceId, pageSize: 200, pageToken, scheduleId, batchId },
        { signal },
      );
      return { rows: callbacks, nextPageToken };
    },
    idOf,
  );
  return (
    <List
      label="Calls"
      list={list}
      rowKey={idOf}
      columns={useCallbackColumns()}
      href={({ id }) => `/callbacks/list/${id}`}
      empty={<Empty title="No calls yet">A run becomes a call when it is due.</Empty>}
    />
  );
}
