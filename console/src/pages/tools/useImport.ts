import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import type { CreateToolRequest, OpenApiOperation } from '#gen/tools_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useHere } from '../../app/caller';

/** How the tools show who calls. */
export interface Auth {
  way: 'none' | 'authorization' | 'header';
  /** The header's name. */
  name: string;
  value: string;
}

/** What became of an operation. */
export interface Outcome {
  state: 'running' | 'made' | 'failed';
  toolId?: string;
  message?: string;
}

const secretsOf = ({ way, name, value }: Auth) => ({
  ...(way === 'authorization' ? { authHeader: value } : {}),
  ...(way === 'header' && name.trim() !== '' ? { secretHeaders: { [name.trim()]: value } } : {}),
});

/** Makes tools of operations one after the other, and says of each what became of it. */
export function useImport() {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const [outcomes, setOutcomes] = useState(new Map<string, Outcome>());
  const [isRunning, setRunning] = useState(false);
  const note = (operation: string, outcome: Outcome) =>
    setOutcomes((before) => new Map(before).set(operation, outcome));

  /** Makes the tool or brings it up to date, and returns its id. */
  const makeOne = async (
    { tool, toolId, changedFields }: OpenApiOperation & { tool: CreateToolRequest },
    auth: Auth,
  ) => {
    const { $typeName: _, ...fields } = tool;
    const secrets = secretsOf(auth);
    if (!toolId) return (await api.tools.createTool({ ...fields, ...secrets, workspaceId })).id;
    const paths = [
      ...changedFields,
      ...('authHeader' in secrets ? ['auth_header'] : []),
      ...('secretHeaders' in secrets ? ['secret_headers'] : []),
    ];
    if (paths.length > 0)
      await api.tools.updateTool({ ...fields, ...secrets, workspaceId, toolId, updateMask: { paths } });
    return toolId;
  };

  const run = async (operations: OpenApiOperation[], auth: Auth, agentId: string) => {
    setRunning(true);
    setOutcomes(
      (before) =>
        new Map([
          ...before,
          ...operations.map(({ operation }): [string, Outcome] => [operation, { state: 'running' }]),
        ]),
    );
    for (const operation of operations) {
      const { tool } = operation;
      if (!tool) continue;
      let toolId = outcomes.get(operation.operation)?.toolId; // made before, but not attached
      try {
        toolId ??= await makeOne({ ...operation, tool }, auth);
        if (agentId) await api.tools.attachTool({ workspaceId, agentId, toolId, enabled: true });
        note(operation.operation, { state: 'made', toolId });
      } catch (error) {
        note(operation.operation, { state: 'failed', toolId, message: failureOf(error).message });
      }
    }
    for (const key of ['tools', 'tool users']) void client.invalidateQueries({ queryKey: [key] });
    setRunning(false);
  };
  return { outcomes, isRunning, run };
}
