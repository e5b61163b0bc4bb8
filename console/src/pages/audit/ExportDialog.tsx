import { useState } from 'react';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { download } from '../../api/download';
import { Button } from '../../ui/Button';
import { CodeBlock } from '../../ui/Code';
import { Dialog } from '../../ui/Dialog';
import { NumberField } from '../../ui/Field';
import { FailureNote } from '../../ui/Page';
import { Progress } from '../../ui/Progress';
import { bytes } from '../../ui/format';

async function* linesAfter(afterNumber: number, signal: AbortSignal) {
  for await (const { line } of api.audit.exportAuditLog({ afterNumber }, { signal })) yield line;
}

/** Exports the log as a file, and says how to verify it. */
export function ExportDialog({ onClose }: { onClose(): void }) {
  const [after, setAfter] = useState(0);
  const [size, setSize] = useState(0);
  const [ending] = useState(() => new AbortController());
  const run = useMutation({
    mutationFn: () => download('audit.ndjson', 'application/x-ndjson', linesAfter(after || 0, ending.signal), setSize),
  });
  const close = () => {
    ending.abort();
    onClose();
  };
  return (
    <Dialog title="Export the audit log" onClose={close}>
      <p>Every entry of the tenant, oldest first, as lines of JSON. The export has an entry of its own.</p>
      <NumberField
        label="After entry"
        value={after}
        minValue={0}
        onChange={setAfter}
        hint="0: all. The number of the last entry of an export that you have: only what came after it."
      />
      {run.isPending && <Progress label="Exporting" text={bytes(size)} />}
      {run.isSuccess && (
        <p className="note good" role="status">
          audit.ndjson was saved: {bytes(size)}.
        </p>
      )}
      {run.error && <FailureNote error={run.error} />}
      <h3>Check that nothing was changed or removed</h3>
      <p>
        Each entry holds the hash of the one before it. This reads the file and prints the head; whoever keeps the head
        finds out when the log is cut off.
      </p>
      <CodeBlock code="parlance audit verify --file audit.ndjson" label="How to verify the export" />
      <div className="row end">
        <Button onPress={close}>Close</Button>
        <Button kind="primary" isDisabled={run.isPending} onPress={() => run.mutate()}>
          Export
        </Button>
      </div>
    </Dialog>
  );
}
