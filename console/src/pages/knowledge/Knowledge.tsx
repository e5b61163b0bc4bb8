import { useState } from 'react';

import { useHere, useMay } from '../../app/caller';
import { Button, ButtonLink } from '../../ui/Button';
import { Page } from '../../ui/Page';
import { AddPages } from './AddPages';
import { AddText } from './AddText';
import { DropArea } from './DropArea';
import './knowledge.css';
import { SourceList } from './SourceList';
import { Storage } from './Storage';
import { UploadPanel } from './UploadPanel';

type Adding = 'text' | 'page' | 'sitemap';

export default function Knowledge() {
  const mayChange = useMay('operator');
  const mayAsk = useMay('runtime');
  const { workspaceId } = useHere();
  const [adding, setAdding] = useState<Adding>();
  const close = () => setAdding(undefined);
  return (
    <Page
      title="Knowledge"
      lead="What agents answer from: documents, pasted text and web pages. An agent sees only what is attached to it."
      actions={
        <>
          {mayAsk && <ButtonLink href="#/knowledge/test">Ask a question</ButtonLink>}
          <ButtonLink href="#/knowledge/evaluations">Evaluations</ButtonLink>
        </>
      }
    >
      <Storage />
      {mayChange && (
        <DropArea workspaceId={workspaceId}>
          <Button kind="quiet" onPress={() => setAdding('text')}>
            Paste text
          </Button>
          <Button kind="quiet" onPress={() => setAdding('page')}>
            Add a web page
          </Button>
          <Button kind="quiet" onPress={() => setAdding('sitemap')}>
            Add a sitemap
          </Button>
        </DropArea>
      )}
      <UploadPanel />
      <SourceList />
      {adding === 'text' && <AddText onClose={close} />}
      {(adding === 'page' || adding === 'sitemap') && <AddPages isSitemap={adding === 'sitemap'} onClose={close} />}
    </Page>
  );
}
