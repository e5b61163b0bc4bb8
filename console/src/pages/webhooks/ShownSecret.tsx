import { Button } from '../../ui/Button';
import { CodeBlock } from '../../ui/Code';
import { Dialog } from '../../ui/Dialog';

/** Shows an endpoint's secret, the only time. */
export function ShownSecret({ secret, isRotated, onClose }: { secret: string; isRotated?: boolean; onClose(): void }) {
  return (
    <Dialog title="Signing secret" onClose={onClose}>
      <p>
        It is shown only now: put it where your program finds it. With it your program knows that a request comes from
        here.
      </p>
      <CodeBlock code={secret} label="The signing secret" />
      {isRotated && (
        <p>
          The old secret goes on signing for 24 hours beside this one, so that you can change your program without
          losing an event.
        </p>
      )}
      <div className="row end">
        <Button kind="primary" onPress={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
