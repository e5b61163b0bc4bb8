import { Redirect } from 'wouter';

import { useHere } from '../../app/caller';
import { ButtonLink } from '../../ui/Button';
import { Page } from '../../ui/Page';
import { Attention } from './Attention';
import { FirstSteps } from './FirstSteps';
import { Numbers } from './Numbers';

export default function Overview() {
  const { caller } = useHere();
  if (caller.role === 'billing') return <Redirect to="/usage" />;
  return (
    <Page
      title="Overview"
      lead="What happened here, and what needs you."
      actions={
        <ButtonLink kind="primary" href="#/talk">
          Talk to an agent
        </ButtonLink>
      }
    >
      <Attention />
      <FirstSteps />
      <Numbers />
    </Page>
  );
}
