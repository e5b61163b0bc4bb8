import { mostAgents, useAgents } from './agents';

/** Says that there are more agents than are asked what they have. */
export function NotAllAgents() {
  const { data: agents = [] } = useAgents();
  if (agents.length < mostAgents) return null;
  return (
    <p className="dim small">
      Only the first {mostAgents} agents by name are listed here. What another one has is on its own page.
    </p>
  );
}
