import { failureOf } from '../../api/failure';
import { FailureNote } from '../../ui/Page';

/** What went wrong with a plan for calls; without a carrier, what to set up. */
export function CallFailure({ error }: { error: unknown }) {
  if (!error) return null;
  if (failureOf(error).reason !== 'provider-not-configured') return <FailureNote error={error} />;
  return (
    <div className="note warn stack" role="alert">
      <strong>Calls need a carrier, and none is set up.</strong>
      <span>
        Whoever runs this service sets <code>PARLANCE_TWILIO_ACCOUNT_SID</code>,{' '}
        <code>PARLANCE_TWILIO_AUTH_TOKEN_FILE</code>, <code>PARLANCE_TWILIO_FROM_NUMBER</code> and{' '}
        <code>PARLANCE_PUBLIC_URL</code>, or this workspace gets a provider credential of the kind telephony.{' '}
        <code>parlance dev</code> has a simulated line, for which nothing is needed.
      </span>
    </div>
  );
}
