import { Chat } from './chat';

export default function Page() {
  return (
    <main>
      <h1>Talk with us</h1>
      <Chat />
    </main>
  );
}
