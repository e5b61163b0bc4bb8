import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { useFilters } from '../../app/location';
import { Button, ButtonLink } from '../../ui/Button';
import { Page } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { tell } from '../../ui/toast';
import { createRequest, forgetDraft, keepDraft, keptDraft, newDraft, type ToolDraft } from './draft';
import { ToolForm } from './ToolForm';

const kinds = [
  {
    id: 'http',
    text: 'HTTP: one address of your system',
    note: 'The model fills in the arguments; you say what is sent where.',
  },
  { id: 'mcp', text: 'MCP: a server with tools', note: 'The server says which tools it has.' },
];

export default function NewTool() {
  const { workspaceId } = useHere();
  const [filters, change] = useFilters(['kind']);
  const [, go] = useLocation();
  const client = useQueryClient();
  const kind = filters.kind === 'mcp' ? 'mcp' : 'http';
  const [before, setBefore] = useState(() => keptDraft(kind));
  const [start, setStart] = useState(() => before ?? newDraft(kind));
  const begin = (next: 'http' | 'mcp') => {
    const found = keptDraft(next);
    setBefore(found);
    setStart(found ?? newDraft(next));
  };
  const startAnew = () => {
    forgetDraft(kind);
    begin(kind);
  };
  const make = useMutation({
    mutationFn: (draft: ToolDraft, once) => api.tools.createTool(createRequest(workspaceId, draft), once),
    onSuccess: ({ id, slug }) => {
      forgetDraft(kind);
      void client.invalidateQueries({ queryKey: ['tools'] });
      tell(`${slug} was made. Try it, then attach it to an agent.`);
      go(`/tools/${id}?tab=try`);
    },
  });
  return (
    <Page
      title="New tool"
      lead={<a href="#/tools">All tools</a>}
      actions={<ButtonLink href="#/tools/import">Import from OpenAPI</ButtonLink>}
    >
      <div style={{ maxWidth: 420 }}>
        <Select
          label="Kind"
          choices={kinds}
          value={kind}
          onChange={(next) => {
            make.reset();
            begin(next === 'mcp' ? 'mcp' : 'http');
            change({ kind: next });
          }}
        />
      </div>
      {before && (
        <div className="note row between" role="status">
          <span>What you typed here before is back. Secrets are not kept: enter them again.</span>
          <Button onPress={startAnew}>Start anew</Button>
        </div>
      )}
      <ToolForm
        key={`${kind} ${before ? 'before' : ''}`}
        start={start}
        onType={keepDraft}
        error={make.error}
        isSaving={make.isPending}
        action="Make the tool"
        onSave={(draft) => make.mutate(draft)}
      />
    </Page>
  );
}
