import { Button as AriaButton, type ButtonProps } from 'react-aria-components/Button';
import { Link, type LinkProps } from 'react-aria-components/Link';

type Kind = 'primary' | 'secondary' | 'danger' | 'quiet';

/** A button. `icon`: it has no text, and needs an aria-label. */
export function Button({
  kind = 'secondary',
  icon,
  className = '',
  ...props
}: Omit<ButtonProps, 'className'> & { kind?: Kind; icon?: boolean; className?: string }) {
  return <AriaButton {...props} className={`button ${kind} ${icon ? 'icon' : ''} ${className}`} />;
}

/** A link that looks like a button. */
export function ButtonLink({ kind = 'secondary', ...props }: LinkProps & { kind?: Kind }) {
  return <Link {...props} className={`button ${kind}`} />;
}
