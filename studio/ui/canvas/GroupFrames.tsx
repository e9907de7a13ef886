import type { Node as FlowNode } from '@xyflow/react';
import type { Group } from '../../core/page';
import { change, usePage } from '../state/document';
import { select } from '../state/screen';
import { TextField } from './TextField';

const margin = 20;
const titleHeight = 34;

function frameOf(group: Group, nodes: readonly FlowNode[]) {
  const boxes = nodes.filter((node) => group.members.includes(node.id) && node.measured?.width);
  if (boxes.length === 0) return undefined;
  const left = Math.min(...boxes.map((node) => node.position.x)) - margin;
  const top = Math.min(...boxes.map((node) => node.position.y)) - margin - titleHeight;
  const right = Math.max(...boxes.map((node) => node.position.x + (node.measured?.width ?? 0))) + margin;
  const bottom = Math.max(...boxes.map((node) => node.position.y + (node.measured?.height ?? 0))) + margin;
  return { transform: `translate(${left}px, ${top}px)`, width: right - left, height: bottom - top };
}

/** A frame behind the blocks of each group; its handle chooses them, so that they move together. */
export function GroupFrames({ nodes }: { nodes: readonly FlowNode[] }) {
  const groups = usePage().view.groups;
  return groups.map((group) => {
    const style = frameOf(group, nodes);
    if (!style) return null;
    return (
      <div key={group.id} className="group-frame" style={style}>
        <div className="group-title">
          <button type="button" title="Choose the blocks of this group" onClick={() => select(group.members)}>
            <span aria-hidden="true">{'\u25a3'}</span>
            <span className="hidden-text">Choose the blocks of group {group.title}</span>
          </button>
          <TextField
            label="Name of the group"
            value={group.title}
            onChange={(title) => change([{ do: 'group', group: { ...group, title } }], `group:${group.id}`)}
          />
          <button type="button" title="Ungroup" onClick={() => change([{ do: 'remove', ids: [group.id] }])}>
            <span aria-hidden="true">{'\u2715'}</span>
            <span className="hidden-text">Ungroup {group.title}</span>
          </button>
        </div>
      </div>
    );
  });
}
