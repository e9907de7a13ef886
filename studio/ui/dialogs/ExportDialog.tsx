import { useEffect, useState } from 'react';
import { meaning } from '../../core/page';
import { api } from '../api';
import { download } from '../files';
import { usePage } from '../state/document';
import { say } from '../state/screen';
import { Dialog } from './Dialog';

const styles = [
  ['cpp_graph', 'C++, graph'],
  ['cpp_eager', 'C++, eager'],
  ['python_convgrad', 'Python, convgrad'],
  ['python_tensorflow', 'Python, TensorFlow'],
  ['test_case', 'Test case'],
  ['graphviz', 'Graphviz'],
  ['enuspace', 'enuSpace'],
] as const;

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

/** enuSpace's file is UTF-16 with a mark and comes as base64; all others are plain text. */
function shownText(style: string, text: string): string {
  return style === 'enuspace' ? new TextDecoder('utf-16le').decode(bytesOf(text)) : text;
}

export function ExportDialog() {
  const page = usePage();
  const [style, setStyle] = useState<string>('cpp_graph');
  const [last, setLast] = useState<{ style: string; name: string; text: string; problem?: string }>();
  useEffect(() => {
    let current = true;
    api.exportText(meaning(page), style).then(
      (value) => current && setLast({ style, ...value }),
      (error: Error) => current && setLast({ style, name: '', text: '', problem: error.message }),
    );
    return () => {
      current = false;
    };
  }, [page, style]);
  // Until the new answer is there, the last one is of another form and must not be read as this one.
  const answer = last?.style === style ? last : undefined;
  const text = answer && !answer.problem ? shownText(style, answer.text) : '';
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    say('The text is in the clipboard.');
  };
  const store = (): void => {
    if (answer) download(answer.name, new Blob([style === 'enuspace' ? bytesOf(answer.text) : answer.text]));
  };
  return (
    <Dialog title="Export" wide>
      <div className="styles" role="radiogroup" aria-label="Form">
        {styles.map(([id, title]) => (
          <label key={id} className="style-choice">
            <input type="radio" name="style" checked={style === id} onChange={() => setStyle(id)} />
            <span>{title}</span>
          </label>
        ))}
      </div>
      {answer?.problem ? (
        <p className="pin-error">{answer.problem}</p>
      ) : (
        <textarea className="code" aria-label="Exported text" readOnly value={text} spellCheck={false} />
      )}
      <div className="dialog-foot">
        <span className="quiet">{answer?.name}</span>
        <button type="button" className="button" disabled={!text} onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" className="button strong" disabled={!text} onClick={store}>
          Save to a file
        </button>
      </div>
    </Dialog>
  );
}
