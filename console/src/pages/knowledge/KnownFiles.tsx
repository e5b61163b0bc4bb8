import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import type { Known } from './known';
import type { FileToSend } from './uploads';

const mostShown = 10;

/** Asks what is to be done with files of which there are sources already. */
export function KnownFiles({
  known,
  onSend,
  onClose,
}: {
  known: Known[];
  onSend(files: FileToSend[]): void;
  onClose(): void;
}) {
  const sendAs = (asSent: (one: Known) => FileToSend) => {
    onSend(known.map(asSent));
    onClose();
  };
  const isOne = known.length === 1;
  return (
    <Dialog title={isOne ? 'This file is there already' : 'These files are there already'} onClose={onClose}>
      <p>
        {isOne
          ? 'There is a source of this name and size already.'
          : `There are sources of these ${known.length} names and sizes already.`}
      </p>
      <ul>
        {known.slice(0, mostShown).map(({ chosen: { name } }) => (
          <li key={name}>{name}</li>
        ))}
        {known.length > mostShown && <li>and {known.length - mostShown} more</li>}
      </ul>
      <div className="row end">
        <Button onPress={onClose}>Skip</Button>
        <Button onPress={() => sendAs(({ chosen }) => chosen)}>Add again</Button>
        <Button kind="primary" onPress={() => sendAs(({ chosen, sourceId }) => ({ ...chosen, replaces: sourceId }))}>
          {isOne ? 'Replace it' : 'Replace them'}
        </Button>
      </div>
    </Dialog>
  );
}
