import { useQuery } from '@tanstack/react-query';

import type { Session } from '#gen/sessions_pb';

import * as api from '../api/clients';
import { Facts } from '../ui/Page';
import { Query } from '../ui/Query';
import { Tabs } from '../ui/Tabs';
import { count } from '../ui/format';
import { EventList } from './EventList';
import type { EventLog } from './log';
import { Json } from './turn/Part';

/** What a session is like now. */
export const useSessionFacts = (
  sessionId: string,
  options: { refetchInterval?: (session: Session | undefined) => number | false } = {},
) =>
  useQuery({
    queryKey: ['session', sessionId, 'facts'],
    queryFn: ({ signal }) => api.sessions.getSession({ sessionId }, { signal }),
    refetchInterval: ({ state }) => options.refetchInterval?.(state.data) ?? false,
  });

/** Beside a conversation: the events of its sockets, and the session's state. */
export function SidePanel({ sessionId, log }: { sessionId: string; log: EventLog }) {
  return (
    <aside className="talk-side" aria-label="Behind the conversation">
      <Tabs
        label="Behind the conversation"
        tabs={[
          { id: 'events', title: 'Events', content: <EventList log={log} /> },
          { id: 'session', title: 'Session', content: <About sessionId={sessionId} /> },
        ]}
      />
    </aside>
  );
}

function About({ sessionId }: { sessionId: string }) {
  return (
    <Query query={useSessionFacts(sessionId)}>
      {(session) => {
        const variables = { ...session.dynamicVariables, ...session.assignedVariables };
        return (
          <div className="stack">
            <Facts
              facts={[
                [
                  'Session',
                  <a key="id" href={`#/sessions/${session.id}`}>
                    <code>{session.id}</code>
                  </a>,
                ],
                ['Status', [session.status.replace('_', ' '), session.endReason].filter(Boolean).join(': ')],
                ['Agent version', session.agentVersion],
                ['User', session.userId],
                ['Kind', session.modality],
                ['Language', session.language],
                ['Turns', session.turnCount],
                [
                  'Tokens',
                  session.usage &&
                    `${count(session.usage.inputTokens)} read, ${count(session.usage.outputTokens)} written`,
                ],
                ['Cost', session.usage?.cost && `${session.usage.cost} ${session.usage.currency}`],
                ['Tool calls', session.usage?.toolCalls],
              ]}
            />
            {Object.keys(variables).length > 0 && <Json label="Variables" text={JSON.stringify(variables)} />}
          </div>
        );
      }}
    </Query>
  );
}
