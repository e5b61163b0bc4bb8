// Which agents have which tools. The API lists tools by agent, so the agents are asked one by one.

import { useQuery } from '@tanstack/react-query';

import type { AgentTool } from '#gen/tools_pb';

import * as api from '../../api/clients';
import { useHere } from '../../app/caller';
import { forEachAgent, useAgents } from '../knowledge/agents';

export interface ToolUser {
  agentId: string;
  enabled: boolean;
  /** Why it is off; empty when it is on. */
  disabledReason: string;
  /** 0: no cap. */
  maxCallsPerSession: number;
}

/** The agents that have each tool, by the tool's id. A tool of an MCP server is one, however many it stands for. */
export function useToolUsers() {
  const { workspaceId } = useHere();
  const { data: agents } = useAgents();
  return useQuery({
    queryKey: ['tool users', workspaceId],
    enabled: !!agents,
    queryFn: async ({ signal }) => {
      const byTool = new Map<string, ToolUser[]>();
      const add = (agentId: string, { tool, enabled, disabledReason, maxCallsPerSession }: AgentTool) => {
        if (!tool || disabledReason === 'not_enabled') return;
        const users = byTool.get(tool.id) ?? [];
        const known = users.find((user) => user.agentId === agentId);
        if (known) known.enabled ||= enabled;
        else byTool.set(tool.id, [...users, { agentId, enabled, disabledReason, maxCallsPerSession }]);
      };
      await forEachAgent(agents ?? [], async (agentId) => {
        for (let pageToken = ''; ;) {
          const page = await api.tools.listAgentTools({ workspaceId, agentId, pageSize: 200, pageToken }, { signal });
          for (const tool of page.tools) add(agentId, tool);
          pageToken = page.nextPageToken;
          if (pageToken === '') return;
        }
      });
      return byTool;
    },
  });
}
