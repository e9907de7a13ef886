import { useEffect, useState } from 'react';
import { change, currentPage } from '../state/document';
import { select } from '../state/screen';

/** A block's name in the graph. It changes when the field is left: wires and windows go by it. */
export function NameField({ id }: { id: string }) {
  const [text, setText] = useState(id);
  useEffect(() => setText(id), [id]);
  const taken = text !== id && currentPage().nodes.some((node) => node.id === text);
  const commit = (): void => {
    if (text === id) return;
    if (!text || taken) return setText(id);
    change([{ do: 'rename', id, to: text }]);
    select([text]);
  };
  return (
    <input
      className="field name nodrag"
      aria-label={`Name of block ${id}`}
      aria-invalid={taken ? true : undefined}
      title={taken ? 'Another block has this name' : 'Name of the block'}
      value={text}
      spellCheck={false}
      onChange={(event) => setText(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur();
        if (event.key === 'Escape') setText(id);
      }}
    />
  );
}
