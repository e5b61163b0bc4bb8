import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import type { PhoneNumber } from '#gen/telephony_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useList } from '../../api/useList';
import { useHere, useMay } from '../../app/caller';
import { AgentName } from '../../ui/AgentName';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { useConfirm } from '../../ui/Dialog';
import { List } from '../../ui/List';
import { Menu } from '../../ui/Menu';
import { Badge, Empty } from '../../ui/Page';
import { tell, tellFailure } from '../../ui/toast';
import { LookUpSecret, NumberForm } from './NumberForm';

/** The numbers on which agents are called. */
export function Numbers() {
  const { workspaceId } = useHere();
  const may = useMay('operator');
  const [edited, setEdited] = useState<PhoneNumber | 'new'>();
  const [secret, setSecret] = useState('');
  const list = useList(['numbers', workspaceId], async (pageToken, signal) => {
    const { phoneNumbers, nextPageToken } = await api.telephony.listPhoneNumbers(
      { workspaceId, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: phoneNumbers, nextPageToken };
  });
  const add = may && (
    <Button kind="primary" onPress={() => setEdited('new')}>
      New number
    </Button>
  );
  return (
    <div className="stack">
      <div className="row end">{add}</div>
      <List
        label="Numbers"
        list={list}
        rowKey={({ id }) => id}
        columns={useColumns(setEdited, setSecret)}
        empty={
          <Empty title="No numbers yet" action={add}>
            An agent answers the numbers that you add. They are numbers of your carrier's account; on the simulated line
            of parlance dev, +12015550100.
          </Empty>
        }
      />
      {edited && (
        <NumberForm
          number={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={(number) => {
            setEdited(undefined);
            setSecret(number.lookupSecret);
          }}
        />
      )}
      {secret && <LookUpSecret secret={secret} onClose={() => setSecret('')} />}
    </div>
  );
}

function useColumns(onEdit: (number: PhoneNumber) => void, onSecret: (secret: string) => void): Column<PhoneNumber>[] {
  const may = useMay('operator');
  const confirm = useConfirm();
  const client = useQueryClient();
  const after = { onError: tellFailure, onSettled: () => client.invalidateQueries({ queryKey: ['numbers'] }) };
  const of = ({ id: numberId, workspaceId }: PhoneNumber) => ({ numberId, workspaceId });
  const rotate = useMutation({
    mutationFn: (number: PhoneNumber) => api.telephony.rotatePhoneNumberSecret(of(number)),
    onSuccess: ({ lookupSecret }) => onSecret(lookupSecret),
    ...after,
  });
  const remove = useMutation({
    mutationFn: (number: PhoneNumber) => api.telephony.deletePhoneNumber(of(number)),
    onSuccess: () => tell('The number is not answered any more.'),
    ...after,
  });
  const askRotate = async (number: PhoneNumber) => {
    if (
      await confirm({
        title: 'Make a new secret?',
        text:
          'Look-ups are signed with it at once; the old one signs no more. Until your program knows ' +
          'it, callers are answered without a look-up.',
        action: 'Make it',
      })
    )
      rotate.mutate(number);
  };
  const askRemove = async (number: PhoneNumber) => {
    if (
      await confirm({
        title: `Stop answering ${number.phoneNumber}?`,
        text: 'Callers are not answered any more. The carrier keeps the number, and calls that were made stay in the list.',
        action: 'Delete',
      })
    )
      remove.mutate(number);
  };
  const columns: Column<PhoneNumber>[] = [
    {
      id: 'number',
      title: 'Number',
      cell: ({ phoneNumber, name }) => (
        <>
          <span className="nowrap">{phoneNumber}</span> {name && <span className="dim">{name}</span>}
        </>
      ),
    },
    { id: 'state', title: 'State', cell: (number) => <NumberState number={number} /> },
    { id: 'agent', title: 'Agent', cell: ({ agentId }) => <AgentName id={agentId} /> },
    {
      id: 'lookup',
      title: 'Look-up',
      cell: ({ lookupUrl, lookupSecretHint }) =>
        lookupUrl ? (
          <span>
            {lookupUrl} <code className="small">…{lookupSecretHint}</code>
          </span>
        ) : (
          <span className="dim">nobody is asked</span>
        ),
    },
  ];
  if (!may) return columns;
  return [
    ...columns,
    {
      id: 'more',
      title: '',
      cell: (number) => (
        <Menu
          label={`More for ${number.phoneNumber}`}
          actions={[
            { id: 'edit', text: 'Change', run: () => onEdit(number) },
            {
              id: 'rotate',
              text: 'New secret for look-ups',
              isDisabled: !number.lookupUrl,
              run: () => void askRotate(number),
            },
            { id: 'delete', text: 'Delete', danger: true, run: () => void askRemove(number) },
          ]}
        />
      ),
    },
  ];
}

function NumberState({ number: { enabled, configured, configureUrl } }: { number: PhoneNumber }) {
  if (!enabled) return <Badge>off: calls are rejected</Badge>;
  if (configured) return <Badge tone="good">answers</Badge>;
  return (
    <span>
      <Badge tone="warn">not set up at the carrier</Badge>{' '}
      <span className="small">
        Have it call, by POST: <code>{configureUrl}</code>
      </span>
    </span>
  );
}
