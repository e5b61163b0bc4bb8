import { useAgentNames } from '../api/useAgentNames';

/** The name of an agent. */
export function AgentName({ id }: { id: string }) {
  return <bdi>{useAgentNames([id])(id)}</bdi>;
}
