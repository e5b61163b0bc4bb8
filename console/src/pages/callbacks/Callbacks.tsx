import { navigate } from '../../app/location';
import { Page } from '../../ui/Page';
import { Tabs } from '../../ui/Tabs';
import { Batch } from './Batch';
import { Batches } from './Batches';
import { Calendar } from './Calendar';
import { CallbackList } from './CallbackList';
import { CallbackView } from './CallbackView';
import './callbacks.css';
import { Calls } from './Calls';
import { CallView } from './CallView';
import { Numbers } from './Numbers';
import { Schedules } from './Schedules';
import { ScheduleView } from './ScheduleView';

const lead =
  'Calls of agents to users: planned once, repeatedly or for many numbers. And the numbers on which agents are called.';

export default function Callbacks({ params: { tab = 'calendar', id } }: { params: { tab?: string; id?: string } }) {
  if (id && tab === 'list') return <CallbackView callbackId={id} />;
  if (id && tab === 'schedules') return <ScheduleView scheduleId={id} />;
  if (id && tab === 'batches') return <Batch batchId={id} />;
  if (id && tab === 'calls') return <CallView callId={id} />;
  return (
    <Page title="Callbacks" lead={lead}>
      <Tabs
        label="Callbacks"
        selected={tab}
        onSelect={(to) => navigate(`/callbacks/${to}`)}
        tabs={[
          { id: 'calendar', title: 'Calendar', content: <Calendar /> },
          { id: 'list', title: 'List', content: <CallbackList /> },
          { id: 'schedules', title: 'Schedules', content: <Schedules /> },
          { id: 'batches', title: 'Batches', content: <Batches /> },
          { id: 'numbers', title: 'Numbers', content: <Numbers /> },
          { id: 'calls', title: 'Calls', content: <Calls /> },
        ]}
      />
    </Page>
  );
}
