import { BaseEdge, type EdgeProps, getSmoothStepPath, type InternalNode, useStoreApi } from '@xyflow/react';
import { memo } from 'react';
import { pinKey } from '../../core/fits';
import type { Pin } from '../../core/page';
import { type Box, turnOf } from '../../core/route';
import { shapeText } from '../../core/tensor';
import { useShapes } from '../state/shapes';
import type { WireEdge } from './flow';

function* boxes(nodes: Iterable<InternalNode>): Generator<Box> {
  for (const { internals, measured } of nodes) {
    const { x, y } = internals.positionAbsolute;
    yield { x, y, width: measured.width ?? 0, height: measured.height ?? 0 };
  }
}

function labelOf(dtype: string, shape: readonly number[] | null): string {
  return `${dtype} ${shapeText(shape)}`;
}

/** A right-angled wire with what flows in it written before its end, and a mark where it carries sizes only. */
export const WireLine = memo(function WireLine(props: EdgeProps<WireEdge>) {
  const { sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, data, source, sourceHandleId, selected } = props;
  const from: Pin = [source, sourceHandleId ?? ''];
  const output = useShapes((state) => state.outputs.get(pinKey(from)));
  const flow = useStoreApi();
  const centerX = turnOf([sourceX, sourceY], [targetX, targetY], boxes(flow.getState().nodeLookup.values()));
  const [path] = getSmoothStepPath({
    sourceX,
    sourceY,
    targetX,
    targetY,
    sourcePosition,
    targetPosition,
    borderRadius: 5,
    offset: 14,
    ...(centerX === undefined ? {} : { centerX }),
  });
  const like = data?.wire?.like;
  const text = output ? labelOf(output.dtype, output.shape) : '';
  return (
    <g className={`wire ${selected ? 'selected' : ''} ${like ? 'like' : ''}`}>
      <BaseEdge path={path} interactionWidth={18} />
      <path className="wire-arrow" d={`M ${targetX - 3} ${targetY} l -9 -4.5 l 2.5 4.5 l -2.5 4.5 z`} />
      {like ? (
        <g className="like-mark" transform={`translate(${targetX - 36}, ${targetY})`}>
          <title>Only the sizes of this tensor are used: in the file, the Shape node {like}.</title>
          <rect x={-19} y={-9} width={38} height={18} rx={9} />
          <text y={4}>like</text>
        </g>
      ) : null}
      {text && (
        <text className="wire-label" x={targetX - (like ? 60 : 15)} y={targetY - 5}>
          {like ? shapeText(output?.shape) : text}
        </text>
      )}
    </g>
  );
});
