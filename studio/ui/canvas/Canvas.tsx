import {
  applyEdgeChanges,
  applyNodeChanges,
  Background,
  BackgroundVariant,
  type Connection,
  type EdgeChange,
  type FinalConnectionState,
  type Node as FlowNode,
  MiniMap,
  type NodeChange,
  ReactFlow,
  ViewportPortal,
} from '@xyflow/react';
import { type DragEvent, useCallback, useEffect, useMemo, useState } from 'react';
import { freshId, sessionId } from '../../core/commands';
import { fit, sourceOf } from '../../core/fits';
import { grid } from '../../core/layout';
import { findOp, inputPin } from '../../core/ops';
import type { Page, Pin, Point } from '../../core/page';
import { api } from '../api';
import { connectPins, moveWire, placeBlock } from '../edits';
import { openText } from '../files';
import { change, currentPage, usePage } from '../state/document';
import { openDialog, say, select, useScreen } from '../state/screen';
import { knownTypes } from '../state/shapes';
import { Block } from './Block';
import { flowEdges, flowNodes, mergeNodes, type WireEdge } from './flow';
import { GroupFrames } from './GroupFrames';
import { NoteBlock } from './NoteBlock';
import { SessionBlock } from './SessionBlock';
import { setStage, toCanvas } from './stage';
import { WireLine } from './WireLine';

const nodeTypes = { block: Block, note: NoteBlock, session: SessionBlock };
const edgeTypes = { wire: WireLine };
const snapGrid: [number, number] = [grid, grid];

function removed(page: Page, nodes: readonly FlowNode[], wires: readonly WireEdge[]): void {
  const ids = nodes.map((node) => node.id);
  const edges = wires.flatMap((wire) => wire.data?.wire?.edges ?? []);
  const unfetched = wires.filter((wire) => wire.target === sessionId && !wire.data?.wire);
  change([
    ...unfetched.map((wire) => ({ do: 'fetch' as const, pin: [wire.source, wire.sourceHandle ?? ''] as const, on: false })),
    { do: 'remove', ids, edges },
  ]);
  select(useScreen.getState().selected.filter((id) => !ids.includes(id) && page.nodes.some((node) => node.id === id)));
}

function isValid(connection: {
  source: string;
  target: string;
  sourceHandle?: string | null;
  targetHandle?: string | null;
}): boolean {
  const { table } = useScreen.getState();
  const page = currentPage();
  if (connection.target === sessionId) return true;
  const source = sourceOf(page, table, knownTypes(), [connection.source, connection.sourceHandle ?? '']);
  const op = findOp(table, page.nodes.find((node) => node.id === connection.target)?.op ?? '');
  const pin = op && inputPin(op, connection.targetHandle ?? '');
  return Boolean(source && op && pin && fit(source.types, source.variable, op, pin));
}

/** A wire dropped on the empty canvas asks which block it should lead to. */
function droppedWire(event: MouseEvent | TouchEvent, state: FinalConnectionState): void {
  if (state.isValid || !state.fromNode || !state.fromHandle?.id || state.toNode) return;
  const end = 'changedTouches' in event ? event.changedTouches[0] : event;
  if (!end) return;
  const pin: Pin = [state.fromNode.id, state.fromHandle.id];
  if (pin[0] === sessionId) return;
  openDialog({ kind: 'search', at: toCanvas([end.clientX, end.clientY]), wire: { pin, end: state.fromHandle.type } });
}

/** A page file opens; a .npy becomes a constant. */
async function droppedFile(file: File, at: Point): Promise<void> {
  if (!file.name.endsWith('.npy')) return openText(await file.text());
  const { dtype, shape, data } = await api.npy(await file.arrayBuffer());
  const id = freshId(currentPage(), file.name.replace(/\.npy$/, '').replace(/[^A-Za-z0-9_]/g, '_') || 'Const');
  change([{ do: 'add', node: { id, op: 'Const', attrs: { value: { dtype, shape, data } } }, at }]);
}

function onDrop(event: DragEvent): void {
  const [file] = event.dataTransfer.files;
  if (file) {
    event.preventDefault();
    droppedFile(file, toCanvas([event.clientX, event.clientY])).catch((error: Error) => say(error.message, true));
    return;
  }
  const op = event.dataTransfer.getData('application/x-convgrad-op');
  if (!op) return;
  event.preventDefault();
  const [x, y] = toCanvas([event.clientX, event.clientY]);
  placeBlock(op, [x - 120, y - 24]);
}

function commitMoves(changes: readonly NodeChange[]): void {
  const moves: Record<string, Point> = {};
  for (const each of changes) {
    if (each.type === 'position' && each.position && !each.dragging) moves[each.id] = [each.position.x, each.position.y];
  }
  if (Object.keys(moves).length) change([{ do: 'move', to: moves }], `move:${Object.keys(moves).join(',')}`);
}

export function Canvas() {
  const page = usePage();
  const table = useScreen((state) => state.table);
  const selected = useScreen((state) => state.selected);
  const [nodes, setNodes] = useState<FlowNode[]>([]);
  const [edges, setEdges] = useState<WireEdge[]>([]);
  const drawn = useMemo(() => flowNodes(page, table), [page, table]);

  useEffect(() => setNodes((before) => mergeNodes(drawn, before, selected)), [drawn, selected]);
  useEffect(() => {
    setEdges((before) => {
      const chosen = new Set(before.filter((edge) => edge.selected).map((edge) => edge.id));
      return flowEdges(page, table).map((edge) => ({ ...edge, selected: chosen.has(edge.id) }));
    });
  }, [page, table]);

  const onNodesChange = useCallback((changes: NodeChange[]) => {
    setNodes((before) =>
      applyNodeChanges(
        changes.filter((each) => each.type !== 'remove'),
        before,
      ),
    );
    const picks = changes.filter((each) => each.type === 'select');
    if (picks.length) {
      const now = new Set(useScreen.getState().selected);
      for (const pick of picks) pick.selected ? now.add(pick.id) : now.delete(pick.id);
      select([...now]);
    }
    commitMoves(changes);
  }, []);

  const onEdgesChange = useCallback((changes: EdgeChange<WireEdge>[]) => {
    setEdges((before) =>
      applyEdgeChanges(
        changes.filter((each) => each.type !== 'remove'),
        before,
      ),
    );
  }, []);

  const onConnect = useCallback(({ source, sourceHandle, target, targetHandle }: Connection) => {
    connectPins([source, sourceHandle ?? ''], [target, targetHandle ?? '']);
  }, []);

  const onReconnect = useCallback((old: WireEdge, { source, sourceHandle, target, targetHandle }: Connection) => {
    moveWire(old.data?.wire?.edges ?? [], [source, sourceHandle ?? ''], [target, targetHandle ?? '']);
  }, []);

  return (
    <section className="canvas" aria-label="Canvas" onDrop={onDrop} onDragOver={(event) => event.preventDefault()}>
      <h2 className="hidden-text">Canvas</h2>
      <ReactFlow<FlowNode, WireEdge>
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onConnect={onConnect}
        onReconnect={onReconnect}
        onConnectEnd={droppedWire}
        isValidConnection={isValid}
        onDelete={(gone) => removed(page, gone.nodes, gone.edges)}
        onInit={(flow) => setStage(flow as never)}
        deleteKeyCode={['Delete', 'Backspace']}
        multiSelectionKeyCode={['Shift', 'Meta', 'Control']}
        selectionKeyCode="Shift"
        snapToGrid
        snapGrid={snapGrid}
        connectionRadius={26}
        minZoom={0.1}
        maxZoom={2.5}
        zoomOnDoubleClick={false}
        proOptions={{ hideAttribution: true }}
      >
        <Background variant={BackgroundVariant.Dots} gap={24} size={1.2} />
        <ViewportPortal>
          <GroupFrames nodes={nodes} />
        </ViewportPortal>
        {nodes.length > 0 && (
          <MiniMap pannable zoomable style={{ width: 160, height: 110 }} ariaLabel="Map of the page" nodeBorderRadius={8} />
        )}
      </ReactFlow>
      {page.nodes.length === 0 && page.view.notes.length === 0 && <EmptyHint />}
    </section>
  );
}

function EmptyHint() {
  return (
    <div className="empty-hint">
      <p className="empty-title">An empty page</p>
      <p>
        Press <kbd>Ctrl</kbd> <kbd>K</kbd> to place a block, drag one from the left, or start from a ready page.
      </p>
      <button type="button" className="button strong" onClick={() => openDialog({ kind: 'gallery' })}>
        Open the gallery
      </button>
    </div>
  );
}
