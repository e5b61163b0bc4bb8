import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import type { Person } from '#gen/people_pb';

import * as api from '../../api/clients';
import { providers } from '../../api/credentials';
import { useList } from '../../api/useList';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { CodeBlock } from '../../ui/Code';
import type { Column } from '../../ui/DataTable';
import { useConfirm } from '../../ui/Dialog';
import { List } from '../../ui/List';
import { Menu } from '../../ui/Menu';
import { Badge, Card, Empty, Page } from '../../ui/Page';
import { Time } from '../../ui/Time';
import { tell, tellFailure } from '../../ui/toast';
import { RoleDialog } from './RoleDialog';
import { roles } from './roles';

const setup = `PARLANCE_OIDC_ISSUER=https://login.example.org/realms/staff
PARLANCE_OIDC_CLIENT_ID=parlance
PARLANCE_OIDC_CLIENT_SECRET=…
PARLANCE_OIDC_ROLES=platform=owner,support=operator,quality=analyst,finance=billing`;

export default function People() {
  const [changing, setChanging] = useState<Person>();
  const list = useList(['people'], async (pageToken, signal) => {
    const { people, nextPageToken } = await api.people.listPeople({ pageSize: 200, pageToken }, { signal });
    return { rows: people, nextPageToken };
  });
  return (
    <Page
      title="People and roles"
      lead="Who signs in at this console. People appear when they first sign in; their groups at your identity provider give them a role."
    >
      <List label="People" list={list} rowKey={({ id }) => id} columns={useColumns(setChanging)} empty={<NoPeople />} />
      <Card title="What the roles may do">
        <dl className="facts">
          {roles.map(({ id, text, note }) => (
            <div key={id} style={{ display: 'contents' }}>
              <dt>{text}</dt>
              <dd>{note}</dd>
            </div>
          ))}
        </dl>
      </Card>
      {changing && <RoleDialog person={changing} onClose={() => setChanging(undefined)} />}
    </Page>
  );
}

function NoPeople() {
  const [provider] = providers();
  if (provider)
    return (
      <Empty title="Nobody has signed in yet">
        Whoever signs in with {provider.name} is listed here. The page for it is what is seen without a key.
      </Empty>
    );
  return (
    <>
      <Empty title="Nobody has signed in yet">
        Set up an OpenID Connect provider (Keycloak, Okta, Entra ID, Google, Dex …), and people sign in with the
        accounts that they have. Until then, keys are the way in.
      </Empty>
      <CodeBlock code={setup} label="Settings of the server" />
    </>
  );
}

function useColumns(onChange: (person: Person) => void): Column<Person>[] {
  const { caller } = useHere();
  const confirm = useConfirm();
  const client = useQueryClient();
  const changed = { onError: tellFailure, onSettled: () => client.invalidateQueries({ queryKey: ['people'] }) };
  const shut = useMutation({
    mutationFn: ({ id, disabled }: Person) => api.people.updatePerson({ personId: id, disabled: !disabled }),
    ...changed,
  });
  const remove = useMutation({
    mutationFn: ({ id }: Person) => api.people.deletePerson({ personId: id }),
    onSuccess: (_, { name }) => tell(`${name} was signed out and forgotten.`),
    ...changed,
  });
  const askShut = async (person: Person) => {
    const isSure =
      person.disabled ||
      (await confirm({
        title: `Shut ${person.name} out?`,
        text: 'They are signed out at once and cannot sign in again until you let them.',
        action: 'Shut out',
      }));
    if (isSure) shut.mutate(person);
  };
  const askRemove = async (person: Person) => {
    const isSure = await confirm({
      title: `Forget ${person.name}?`,
      action: 'Forget',
      text:
        'They are signed out, and what is kept of them here is deleted; the audit log stays. If ' +
        'they may still sign in at your provider they appear again when they do: to keep them out, shut them out.',
    });
    if (isSure) remove.mutate(person);
  };
  return [
    {
      id: 'name',
      title: 'Name',
      cell: ({ id, name, email }) => (
        <>
          <strong>{name}</strong> {id === caller.id && <Badge tone="accent">you</Badge>}
          {email && email !== name && <div className="dim small">{email}</div>}
        </>
      ),
    },
    {
      id: 'role',
      title: 'Role',
      cell: ({ role, assignedRole, disabled }) => (
        <>
          {disabled ? (
            <Badge tone="bad">shut out</Badge>
          ) : (
            <Badge tone={role === 'owner' ? 'accent' : undefined}>{role}</Badge>
          )}{' '}
          {assignedRole && <span className="dim small">given here</span>}
        </>
      ),
    },
    { id: 'groups', title: 'Groups', cell: ({ groups }) => <span className="small">{groups.join(', ') || '–'}</span> },
    { id: 'signed', title: 'Signed in', cell: ({ signedInAt }) => <Time at={signedInAt} /> },
    { id: 'browsers', title: 'Browsers', number: true, cell: ({ signIns }) => signIns },
    {
      id: 'more',
      title: '',
      cell: (person) => (
        <Menu
          label={`More for ${person.name}`}
          actions={[
            { id: 'role', text: 'Change the role', run: () => onChange(person) },
            {
              id: 'shut',
              text: person.disabled ? 'Let in again' : 'Shut out',
              danger: !person.disabled,
              run: () => void askShut(person),
            },
            { id: 'forget', text: 'Forget', danger: true, run: () => void askRemove(person) },
          ]}
        />
      ),
    },
  ];
}
