import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import type { CallbackSchedule } from '#gen/callbacks_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useList } from '../../api/useList';
import { useHere, useMay } from '../../app/caller';
import { navigate } from '../../app/location';
import { AgentName } from '../../ui/AgentName';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { List } from '../../ui/List';
import { Badge, Empty } from '../../ui/Page';
import { Switch } from '../../ui/Field';
import { tellFailure } from '../../ui/toast';
import { cronWords } from './cronWords';
import { ScheduleForm } from './ScheduleForm';
import { wordsIn } from './zones';

/** Calls that repeat. */
export function Schedules() {
  const { workspaceId } = useHere();
  const may = useMay('operator');
  const [isNew, setNew] = useState(false);
  const list = useList(['schedules', workspaceId], async (pageToken, signal) => {
    const { schedules, nextPageToken } = await api.callbacks.listCallbackSchedules(
      { workspaceId, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: schedules, nextPageToken };
  });
  const add = may && (
    <Button kind="primary" onPress={() => setNew(true)}>
      New schedule
    </Button>
  );
  return (
    <div className="stack">
      <div className="row end">{add}</div>
      <List
        label="Schedules"
        list={list}
        rowKey={({ id }) => id}
        columns={useColumns()}
        href={({ id }) => `/callbacks/schedules/${id}`}
        empty={
          <Empty title="No schedules yet" action={add}>
            A schedule has an agent call a user again and again, such as each Monday at nine.
          </Empty>
        }
      />
      {isNew && (
        <ScheduleForm onClose={() => setNew(false)} onSaved={({ id }) => navigate(`/callbacks/schedules/${id}`)} />
      )}
    </div>
  );
}

function useColumns(): Column<CallbackSchedule>[] {
  const may = useMay('operator');
  return [
    { id: 'user', title: 'User', cell: ({ userId }) => userId },
    { id: 'cron', title: 'When', cell: ({ cron }) => cronWords(cron) ?? <code>{cron}</code> },
    { id: 'zone', title: 'Time zone', cell: ({ timezone }) => timezone },
    {
      id: 'next',
      title: 'Next run',
      cell: ({ nextRuns: [next], timezone, enabled }) =>
        enabled && next ? wordsIn(timezone, timestampDate(next)) : <span className="dim">none</span>,
    },
    { id: 'agent', title: 'Agent', cell: ({ agentId }) => <AgentName id={agentId} /> },
    {
      id: 'on',
      title: 'State',
      cell: (schedule) =>
        may ? (
          <OnSwitch schedule={schedule} />
        ) : (
          <Badge tone={schedule.enabled ? 'good' : undefined}>{schedule.enabled ? 'on' : 'off'}</Badge>
        ),
    },
  ];
}

/** Turns a schedule on and off. */
export function OnSwitch({
  schedule: { id: scheduleId, workspaceId, userId, enabled },
}: {
  schedule: CallbackSchedule;
}) {
  const client = useQueryClient();
  const turn = useMutation({
    mutationFn: (isOn: boolean) =>
      api.callbacks.updateCallbackSchedule({
        workspaceId,
        scheduleId,
        enabled: isOn,
        updateMask: { paths: ['enabled'] },
      }),
    onError: tellFailure,
    onSettled: () => client.invalidateQueries({ queryKey: ['schedules'] }),
  });
  return (
    <Switch
      isSelected={turn.isPending ? turn.variables : enabled}
      isDisabled={turn.isPending}
      onChange={(isOn) => turn.mutate(isOn)}
    >
      {enabled ? 'On' : 'Off'}
      <span className="visually-hidden">: the schedule of {userId}</span>
    </Switch>
  );
}
