import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';

import type { User as UserMessage } from '#gen/memory_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useHere } from '../../app/caller';
import { count } from '../../ui/format';
import { FailureNote, Page } from '../../ui/Page';
import { Tabs } from '../../ui/Tabs';
import { Time } from '../../ui/Time';
import { Memories } from './Memories';
import { PrivacyOfUser } from './PrivacyOfUser';
import { SessionsOfUser } from './SessionsOfUser';
import { userHref, userIdOf } from './href';
import './users.css';

/** One user: memories, sessions, and what may be asked for. */
export default function User({
  params: { userId: param = '', tab = 'memory' },
}: {
  params: { userId?: string; tab?: string };
}) {
  const { workspaceId } = useHere();
  const [, go] = useLocation();
  const userId = userIdOf(param);
  const query = useQuery({
    queryKey: ['user', workspaceId, userId],
    queryFn: ({ signal }) => api.memory.getUser({ workspaceId, userId }, { signal }),
  });
  const isUnknown = query.error && failureOf(query.error).reason === 'not-found';
  return (
    <Page
      title={userId}
      lead={isUnknown ? 'Nothing is stored of this user: neither a session nor a memory.' : 'A user of your agents.'}
    >
      {query.error && !isUnknown && <FailureNote error={query.error} />}
      {query.data && !isUnknown && <Numbers user={query.data} />}
      <Tabs
        label="About the user"
        selected={['memory', 'sessions', 'privacy'].includes(tab) ? tab : 'memory'}
        onSelect={(id) => go(userHref(userId, id), { replace: true })}
        tabs={[
          { id: 'memory', title: 'Memory', content: <Memories userId={userId} /> },
          { id: 'sessions', title: 'Sessions', content: <SessionsOfUser userId={userId} /> },
          { id: 'privacy', title: 'Consent and privacy', content: <PrivacyOfUser userId={userId} /> },
        ]}
      />
    </Page>
  );
}

function Numbers({ user }: { user: UserMessage }) {
  const numbers = [
    ['Sessions', count(user.sessions)],
    ['Turns', count(user.turns)],
    ['Memories', count(user.memories)],
    ['Tokens read', count(user.inputTokens)],
    ['Tokens written', count(user.outputTokens)],
    ['First seen', <Time key="first" at={user.firstSeenAt} />],
    ['Last seen', <Time key="last" at={user.lastSeenAt} />],
  ] as const;
  return (
    <dl className="numbers">
      {numbers.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
