import { ShownSecret as Shown } from '../../ui/ShownSecret';

/** Shows an endpoint's secret, the only time. */
export const ShownSecret = (props: { secret: string; isRotated?: boolean; onClose(): void }) => (
  <Shown
    title="Signing secret"
    secret={props.secret}
    label="The signing secret"
    onClose={props.onClose}
    after={
      props.isRotated && (
        <p>
          The old secret goes on signing for 24 hours beside this one, so that you can change your program without
          losing an event.
        </p>
      )
    }
  >
    <p>
      It is shown only now: put it where your program finds it. With it your program knows that a request comes from
      here.
    </p>
  </Shown>
);
