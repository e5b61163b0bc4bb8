import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { useLocation } from 'wouter';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Dialog } from '../../ui/Dialog';
import { NumberField, TextField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { Loading } from '../../ui/Page';
import { Select } from '../../ui/Select';
import { tell } from '../../ui/toast';
import { parseTags } from './TagList';

/** How often a page is fetched again. */
export const intervals = [
  { id: '', text: 'Once' },
  { id: '1h', text: 'Every hour' },
  { id: '24h', text: 'Every day' },
  { id: '168h', text: 'Every week' },
  { id: '720h', text: 'Every 30 days' },
];

/** Makes a source of a web page, or one of each page of a sitemap. */
export function AddPages({ isSitemap, onClose }: { isSitemap: boolean; onClose(): void }) {
  const { workspaceId } = useHere();
  const [, go] = useLocation();
  const client = useQueryClient();
  const [url, setUrl] = useState('');
  const [name, setName] = useState('');
  const [refreshEvery, setRefreshEvery] = useState('24h');
  const [maxPages, setMaxPages] = useState(100);
  const [tags, setTags] = useState('');
  const make = useMutation({
    mutationFn: async (_, once) => {
      const common = { workspaceId, url: url.trim(), refreshEvery, tags: parseTags(tags) };
      if (!isSitemap) return { page: await api.knowledge.createUrlSource({ ...common, name }, once) };
      return { sitemap: await api.knowledge.createSitemapSources({ ...common, maxPages }, once) };
    },
    onSuccess: ({ page, sitemap }) => {
      void client.invalidateQueries({ queryKey: ['sources'] });
      if (page) go(`/knowledge/${page.id}`);
      if (sitemap)
        tell(
          `${sitemap.pagesFound} pages found; ${sitemap.sources.length} added, ${sitemap.pagesKnown} were here already.`,
        );
      onClose();
    },
  });
  const wrong = make.error ? failureOf(make.error).fields : {};
  return (
    <Dialog title={isSitemap ? 'Add a sitemap' : 'Add a web page'} onClose={onClose}>
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <TextField
          label="Address"
          value={url}
          onChange={setUrl}
          isRequired
          autoFocus
          wrong={wrong['url']}
          placeholder={isSitemap ? 'https://example.org/sitemap.xml' : 'https://example.org/returns'}
          hint={
            isSitemap
              ? 'Each page of the same host becomes a source.'
              : 'This page only: links are not followed, scripts are not run.'
          }
        />
        {isSitemap ? (
          <NumberField
            label="At most so many pages"
            value={maxPages}
            onChange={setMaxPages}
            minValue={1}
            maxValue={500}
            wrong={wrong['max_pages']}
          />
        ) : (
          <TextField
            label="Name"
            value={name}
            onChange={setName}
            placeholder="The address, when left empty"
            wrong={wrong['name']}
          />
        )}
        <Select label="Fetch" choices={intervals} value={refreshEvery} onChange={setRefreshEvery} />
        <TextField label="Tags" value={tags} onChange={setTags} placeholder="faq, lang:de" wrong={wrong['tags']} />
        {make.isPending && isSitemap && <Loading what="Reading the sitemap…" />}
        <FormFoot of={make} onClose={onClose} isDisabled={url.trim() === ''}>
          {isSitemap ? 'Add its pages' : 'Add the page'}
        </FormFoot>
      </Form>
    </Dialog>
  );
}
