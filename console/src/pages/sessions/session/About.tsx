import { Link } from 'wouter';

import type { Session } from '#gen/sessions_pb';

import { Json } from '../../../conversation/turn/Part';
import { Card, Facts } from '../../../ui/Page';
import { Time } from '../../../ui/Time';
import { count, duration } from '../../../ui/format';
import { UserLink } from '../../users/UserLink';

const reasons: Record<string, string> = {
  ended_by_api: 'ended through the API',
  end_call: 'the agent ended it',
  hang_up: 'the user hung up',
  no_turns: 'the user hung up before anything was said',
  idle_timeout: 'nobody said anything for as long as the agent waits',
  max_duration: 'it lasted as long as the agent allows',
  disconnected: 'the connection was lost, and nobody came back',
  expired: 'it was not used before its token expired',
  internal_error: 'the service had a fault',
};

const likes = ({ likes: up, dislikes: down }: { likes: number; dislikes: number }) => `${up} liked, ${down} disliked`;

/** What is known of a session. */
export function About({
  session,
  agentName,
  isAgentGone,
}: {
  session: Session;
  agentName: string;
  isAgentGone: boolean;
}) {
  const { usage, feedback } = session;
  const variables = { ...session.dynamicVariables, ...session.assignedVariables };
  return (
    <Card>
      <div className="session-facts">
        <Facts
          facts={[
            [
              'Agent',
              <span key="agent">
                {isAgentGone ? (
                  <code>{session.agentId}</code>
                ) : (
                  <Link href={`/agents/${session.agentId}`}>{agentName}</Link>
                )}{' '}
                <span className="dim">version {session.agentVersion}</span>
              </span>,
            ],
            ['User', <UserLink key="user" userId={session.userId} />],
            ['Kind', session.modality],
            ['Language', session.language],
            ['Ended because', session.endReason && (reasons[session.endReason] ?? session.endReason)],
          ]}
        />
        <Facts
          facts={[
            ['Began', session.startedAt ? <Time key="began" at={session.startedAt} exact /> : 'not yet'],
            ['Ended', session.endedAt && <Time key="ended" at={session.endedAt} exact />],
            ['Length', session.startedAt && duration(session.durationMs)],
            ['Turns', session.turnCount],
            ['Feedback', feedback && likes(feedback)],
          ]}
        />
        <Facts
          facts={[
            ['Tokens', usage && `${count(usage.inputTokens)} read, ${count(usage.outputTokens)} written`],
            ['Tool calls', usage?.toolCalls],
            [
              'Cost',
              usage && (usage.cost ? `${usage.cost} ${usage.currency}` : 'not known: the model has no price here'),
            ],
            ['Content deleted', session.contentDeletedAt && <Time key="deleted" at={session.contentDeletedAt} exact />],
          ]}
        />
      </div>
      {Object.keys(variables).length > 0 && (
        <details className="part">
          <summary>Variables</summary>
          <Json label="Variables" text={JSON.stringify(variables)} />
        </details>
      )}
    </Card>
  );
}
