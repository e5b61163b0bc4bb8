import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';

import * as api from '../../api/clients';
import { useHere, useMay } from '../../app/caller';
import { ButtonLink } from '../../ui/Button';
import { Card } from '../../ui/Page';

interface Step {
  title: string;
  text: string;
  href: string;
  isDone: boolean;
}

/** The way to a first conversation, until it has been gone. */
export function FirstSteps() {
  const { workspaceId } = useHere();
  const isOperator = useMay('operator');
  const { data } = useQuery({
    queryKey: ['first-steps', workspaceId],
    queryFn: async ({ signal }) => {
      const one = { workspaceId, pageSize: 1 };
      const [agents, sources, tools, sessions, endpoints] = await Promise.all([
        api.agents.listAgents(one, { signal }),
        api.knowledge.listSources(one, { signal }),
        api.tools.listTools({ workspaceId, pageSize: 200 }, { signal }),
        api.sessions.listSessions(one, { signal }),
        api.webhooks.listWebhookEndpoints(one, { signal }),
      ]);
      return {
        agent: agents.agents[0],
        hasSource: sources.sources.length > 0,
        hasTool: tools.tools.some(({ bucket }) => bucket === 'custom'),
        hasSession: sessions.sessions.length > 0,
        hasEndpoint: endpoints.endpoints.length > 0,
      };
    },
  });
  if (!data || !isOperator) return null;
  const { agent } = data;
  const steps: Step[] = [
    { title: 'Make an agent', text: 'Say in plain words what it is for.', href: '/agents', isDone: !!agent },
    {
      title: 'Give it knowledge',
      text: 'Drop in files, or name a page of the web.',
      href: '/knowledge',
      isDone: data.hasSource,
    },
    {
      title: 'Talk to it',
      text: 'By text or voice, and see what each answer was made of.',
      href: agent ? `/talk?agent=${agent.id}` : '/talk',
      isDone: data.hasSession,
    },
    {
      title: 'Connect a tool',
      text: 'Let it look things up and act, through your API or an MCP server.',
      href: '/tools',
      isDone: data.hasTool,
    },
    {
      title: 'Hear what happens',
      text: 'Signed webhooks tell your systems of sessions, transcripts and more.',
      href: '/webhooks',
      isDone: data.hasEndpoint,
    },
  ];
  const next = steps.find(({ isDone }) => !isDone);
  if (!next) return null;
  return (
    <Card
      title="First steps"
      actions={
        <ButtonLink kind="primary" href={`#${next.href}`}>
          {next.title}
        </ButtonLink>
      }
    >
      <ol className="grid-3" style={{ listStyle: 'none', margin: 0, padding: 0 }}>
        {steps.map(({ title, text, href, isDone }) => (
          <li key={title}>
            <strong>
              {isDone ? '✓ ' : ''}
              <Link href={href}>{title}</Link>
            </strong>
            {isDone && <span className="visually-hidden"> (done)</span>}
            <p className="dim small">{text}</p>
          </li>
        ))}
      </ol>
    </Card>
  );
}
