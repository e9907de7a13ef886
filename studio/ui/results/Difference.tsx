import { useEffect, useState } from 'react';
import { type Pin, samePin } from '../../core/page';
import { api } from '../api';
import { useRuns } from '../state/runs';

type Answer = Awaited<ReturnType<typeof api.difference>>;

export function Difference({ pin, pins }: { pin: Pin; pins: readonly Pin[] }) {
  const run = useRuns((state) => state.run);
  const [other, setOther] = useState('');
  const [answer, setAnswer] = useState<Answer | string>();
  const [node, name] = pin;
  useEffect(() => {
    const against = pins.find((each) => each.join('.') === other);
    if (!run || !against) return setAnswer(undefined);
    api.difference(run, [node, name], against).then(setAnswer, (error: Error) => setAnswer(error.message));
  }, [run, node, name, other, pins]);
  return (
    <div className="difference">
      <label className="stacked">
        <span>Difference against</span>
        <select className="field" value={other} onChange={(event) => setOther(event.target.value)}>
          <option value="">nothing</option>
          {pins
            .filter((each) => !samePin(each, pin))
            .map((each) => (
              <option key={each.join('.')}>{each.join('.')}</option>
            ))}
        </select>
      </label>
      {typeof answer === 'string' && <p className="pin-error">{answer}</p>}
      {typeof answer === 'object' && (
        <dl className="facts">
          <dt>largest</dt>
          <dd>
            {answer.max} {answer.at && `at [${answer.at.join(', ')}]`}
          </dd>
          <dt>mean</dt>
          <dd>{answer.mean}</dd>
          <dt>same bits</dt>
          <dd>{answer.equal_bits ? '\u2713 yes' : 'no'}</dd>
        </dl>
      )}
    </div>
  );
}
