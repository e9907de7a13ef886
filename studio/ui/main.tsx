import '@xyflow/react/dist/style.css';
import 'uplot/dist/uPlot.min.css';
import './style/theme.css';
import './style/frame.css';
import './style/canvas.css';
import './style/block.css';
import './style/readout.css';
import './style/wire.css';
import './style/dialog.css';
import './style/results.css';
import './style/explain.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App';

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
