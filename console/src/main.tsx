import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import { App } from './app/App';
import { restoreTheme } from './app/theme';
import './styles/base.css';
import './styles/ui.css';
import './styles/shell.css';

restoreTheme();
const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
