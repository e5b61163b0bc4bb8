import type { Session as SessionType } from '#gen/sessions_pb';

import { useFilters } from '../../app/location';
import { useSessionFacts } from '../../conversation/SidePanel';
import { useTranscript } from '../../conversation/transcript';
import { Badge, Loading, Page } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Tabs, type TabDef } from '../../ui/Tabs';
import { About } from './session/About';
import { Actions } from './session/Actions';
import { Analysis } from './session/Analysis';
import { Approvals, WaitingApprovals } from './session/Approvals';
import { Handover } from './session/Handover';
import { Recording } from './session/Recording';
import { Timeline } from './session/Timeline';
import { ToolCalls } from './session/ToolCalls';
import { Transcript } from './session/Transcript';
import { isOpen, useAgentName } from './session/useAgentName';
import { usePlayer } from './session/usePlayer';
import '../../conversation/conversation.css';
import '../../conversation/turn/turn.css';
import './session/session.css';

/** How often a session that goes on is looked at, in milliseconds. */
const pollMs = 2500;

const tones = { pending: undefined, in_progress: 'accent', completed: 'good', failed: 'bad' } as const;

/** A session: what was said, what it was made of, its sound, and taking part in it. */
export default function Session({ params }: { params: { sessionId?: string } }) {
  const sessionId = params.sessionId ?? '';
  const facts = useSessionFacts(sessionId, { refetchInterval: (session) => (isOpen(session) ? pollMs : false) });
  const session = facts.data;
  return (
    <Page
      title="Session"
      lead={<code>{sessionId}</code>}
      actions={
        session && (
          <>
            <Badge tone={tones[session.status as keyof typeof tones]}>
              {isOpen(session) && session.status === 'in_progress' ? 'in progress' : session.status}
            </Badge>
            <Actions session={session} />
          </>
        )
      }
    >
      <Query query={facts}>{(found) => <Content session={found} />}</Query>
    </Page>
  );
}

function Content({ session }: { session: SessionType }) {
  const [filters, change] = useFilters(['turn', 'tab']);
  const transcript = useTranscript(session.id, { refetchInterval: isOpen(session) ? pollMs : false });
  const { name: agentName, isGone } = useAgentName(session);
  const player = usePlayer(session);
  const turns = transcript.data;
  const tabs: TabDef[] = [
    {
      id: 'transcript',
      title: 'Transcript',
      content: (
        <Query query={transcript}>
          {(found) => (
            <Transcript session={session} turns={found} agentName={agentName} player={player} chosen={filters.turn} />
          )}
        </Query>
      ),
    },
    { id: 'timeline', title: 'Timeline', content: turns ? <Timeline session={session} turns={turns} /> : <Loading /> },
    {
      id: 'tools',
      title: `Tool calls${session.usage?.toolCalls ? ` (${session.usage.toolCalls})` : ''}`,
      content: <ToolCalls sessionId={session.id} />,
    },
    { id: 'approvals', title: 'Approvals', content: <Approvals sessionId={session.id} /> },
  ];
  if (session.analysis && session.analysis.status !== 'none')
    tabs.push({ id: 'analysis', title: 'Analysis', content: <Analysis analysis={session.analysis} /> });
  const tab = filters.tab || 'transcript';
  return (
    <>
      <Handover session={session} />
      {isOpen(session) && <WaitingApprovals sessionId={session.id} pollMs={pollMs} />}
      <About session={session} agentName={agentName} isAgentGone={isGone} />
      <Recording session={session} player={player} turns={turns ?? []} agentName={agentName} />
      <Tabs
        label="Parts of the session"
        tabs={tabs}
        selected={tabs.some(({ id }) => id === tab) ? tab : 'transcript'}
        onSelect={(id) => change({ tab: id === 'transcript' ? '' : id })}
      />
    </>
  );
}
