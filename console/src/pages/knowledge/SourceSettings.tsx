import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import type { Source } from '#gen/knowledge_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Button } from '../../ui/Button';
import { TextField } from '../../ui/Field';
import { Card, FailureNote } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { tell } from '../../ui/toast';
import { intervals } from './AddPages';
import { parseTags } from './TagList';

/** A source's name, tags, and how often its address is fetched. */
export function SourceSettings({ source }: { source: Source }) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const [name, setName] = useState(source.name);
  const [tags, setTags] = useState(source.tags.join(', '));
  const [refreshEvery, setRefreshEvery] = useState(source.refreshEvery);
  const save = useMutation({
    mutationFn: () =>
      api.knowledge.updateSource({
        workspaceId,
        sourceId: source.id,
        name,
        tags: parseTags(tags),
        ...(source.url ? { refreshEvery } : {}),
        updateMask: { paths: ['name', 'tags', ...(source.url ? ['refresh_every'] : [])] },
      }),
    onSuccess: (saved) => {
      client.setQueryData(['source', workspaceId, source.id], saved);
      void client.invalidateQueries({ queryKey: ['sources'] });
      tell('Saved.');
    },
  });
  const wrong = save.error ? failureOf(save.error).fields : {};
  const choices = intervals.some(({ id }) => id === source.refreshEvery)
    ? intervals
    : [...intervals, { id: source.refreshEvery, text: `Every ${source.refreshEvery}` }];
  return (
    <Card title="Name and tags">
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          isRequired
          wrong={wrong['name']}
          hint="It is searched too, and shown in citations."
        />
        <TextField
          label="Tags"
          value={tags}
          onChange={setTags}
          placeholder="faq, lang:de"
          wrong={wrong['tags']}
          hint="Agents, sessions and queries can narrow what they see by tags."
        />
        {source.url && (
          <Select label="Fetch its address" choices={choices} value={refreshEvery} onChange={setRefreshEvery} />
        )}
        {save.error && <FailureNote error={save.error} />}
        <div className="row end">
          <Button kind="primary" type="submit" isDisabled={save.isPending || name.trim() === ''}>
            Save
          </Button>
        </div>
      </Form>
    </Card>
  );
}
