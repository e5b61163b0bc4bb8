import { useMutation } from '../../api/useMutation';

import * as api from '../../api/clients';
import { useHere } from '../../app/caller';
import { Loading, Page } from '../../ui/Page';
import { ChooseOperations } from './ChooseOperations';
import { ReadDocument, type Asked } from './ReadDocument';
import { ToolFailure } from './ToolFailure';
import './tools.css';

export default function ImportTools() {
  const { workspaceId } = useHere();
  const read = useMutation({ mutationFn: (asked: Asked) => api.tools.readOpenApi({ workspaceId, ...asked }) });
  return (
    <Page
      title="Import tools"
      lead={
        <>
          <a href="#/tools">All tools</a> · Makes tools of the operations that an OpenAPI document describes.
        </>
      }
    >
      <ReadDocument isReading={read.isPending} onRead={read.mutate} />
      {read.isPending && <Loading what="Reading the document…" />}
      {read.error && <ToolFailure error={read.error} />}
      {read.data && !read.isPending && <ChooseOperations key={read.submittedAt} found={read.data} />}
    </Page>
  );
}
