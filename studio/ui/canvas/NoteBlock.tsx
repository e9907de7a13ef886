import type { NodeProps } from '@xyflow/react';
import { memo } from 'react';
import { change, useDocument } from '../state/document';

export const NoteBlock = memo(function NoteBlock({ id }: NodeProps) {
  const note = useDocument((state) => state.history.present.view.notes.find((each) => each.id === id));
  if (!note) return null;
  const lines = note.text.split('\n').length;
  return (
    <div className="note">
      <span className="note-grip" aria-hidden="true" />
      <textarea
        className="nodrag nowheel"
        aria-label="Comment"
        placeholder="Write a comment"
        rows={Math.max(2, lines)}
        value={note.text}
        onChange={(event) => change([{ do: 'note', note: { ...note, text: event.target.value } }], `note:${id}`)}
      />
    </div>
  );
});
