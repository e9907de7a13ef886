import { enginesOf } from '../../core/engines';
import { bytesText, secondsText } from '../../core/tensor';
import { sentence } from '../api';
import { useDocument } from '../state/document';
import { useRuns } from '../state/runs';
import { useScreen } from '../state/screen';
import { useShapes } from '../state/shapes';

function runText(state: ReturnType<typeof useRuns.getState>): string {
  if (state.state === 'running') return 'Running';
  if (state.refused) return sentence(state.refused);
  if (!state.done) return '';
  const { done } = state;
  if (done.cancelled || done.reason === 'cancelled') return 'Stopped';
  if (done.reason === 'time') return 'Stopped: the time budget is used up';
  if (done.reason === 'memory') return 'Stopped: the memory budget is used up';
  if (done.reason === 'crash') return 'The run ended unexpectedly; the page is unharmed';
  const engines = enginesOf(state.nodes.values());
  const by = engines.length ? `, by ${engines.join(' and ')}` : '';
  return `Ran in ${secondsText(done.seconds)}, ${bytesText(done.peak_bytes)}${by}`;
}

export function StatusBar() {
  const message = useScreen((state) => state.message);
  const runs = useRuns();
  const problems = useShapes((state) => state.errors.size + state.general.length);
  const nodes = useDocument((state) => state.history.present.nodes.length);
  const stale = useDocument((state) => {
    const page = runs.page;
    const now = state.history.present;
    return runs.state === 'done' && page !== null && (page.nodes !== now.nodes || page.edges !== now.edges);
  });
  const engine = useScreen((state) => state.engine);
  const otherEngine = runs.state === 'done' && runs.page !== null && runs.engine !== engine;
  return (
    <footer className="status">
      <button
        type="button"
        aria-live="polite"
        className={`status-problems ${problems ? 'some' : ''}`}
        onClick={() => useScreen.setState({ drawer: 'problems' })}
      >
        {problems ? `\u26a0 ${problems} to mend` : nodes ? '\u2713 all shapes fit' : 'empty page'}
      </button>
      <span role="status" className={message?.bad ? 'bad' : ''}>
        {message?.text}
      </span>
      <span className="spring" />
      {stale && <span className="stale">results are of an earlier edit</span>}
      {otherEngine && <span className="stale">results are of another choice of engine</span>}
      <span data-run={runs.state}>{runText(runs)}</span>
    </footer>
  );
}
