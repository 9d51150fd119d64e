/** Layout of a workflow's graph: positions of steps, and the lines between them. */
import dagre from "@dagrejs/dagre";

export interface GraphStep {
  name: string;
  /** Indices of earlier steps. */
  dependencies: readonly number[];
}

interface GraphNode {
  index: number;
  /** Upper left corner. */
  x: number;
  y: number;
}

interface GraphEdge {
  from: number;
  to: number;
  /** For the `d` of an SVG path. */
  path: string;
}

interface FlowGraph {
  width: number;
  height: number;
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
}

/** Across if it fits, down on phones. */
export type Direction = "across" | "down";

export const NODE = { width: 208, height: 68 } as const;
const MARGIN = 16;

export function layOut(steps: readonly GraphStep[], direction: Direction): FlowGraph {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({
    rankdir: direction === "across" ? "LR" : "TB",
    nodesep: direction === "across" ? 18 : 22,
    ranksep: direction === "across" ? 52 : 36,
    marginx: MARGIN,
    marginy: MARGIN,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const index of steps.keys()) graph.setNode(String(index), { ...NODE });
  for (const [index, { dependencies }] of steps.entries())
    for (const from of dependencies) if (steps[from] !== undefined) graph.setEdge(String(from), String(index));
  dagre.layout(graph);
  const nodes = [...steps.keys()].map((index): GraphNode => {
    const { x = 0, y = 0 } = graph.node(String(index)) as { x?: number; y?: number };
    return { index, x: x - NODE.width / 2, y: y - NODE.height / 2 };
  });
  const edges = graph.edges().map(({ v, w }: { v: string; w: string }): GraphEdge => {
    const { points = [] } = graph.edge(v, w) as { points?: Point[] };
    const [from, to] = [Number(v), Number(w)];
    return { from, to, path: pathOf(joined(points, nodes[from], nodes[to], direction), direction) };
  });
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { width: Math.max(0, width), height: Math.max(0, height), nodes, edges };
}

interface Point {
  x: number;
  y: number;
}

/** Lines leave and arrive in the middle of a side, wherever the layout would let them touch. */
function joined(
  points: readonly Point[],
  from: GraphNode | undefined,
  to: GraphNode | undefined,
  direction: Direction,
): Point[] {
  if (from === undefined || to === undefined) return [...points];
  const inner = points.slice(1, -1);
  return direction === "across"
    ? [
        { x: from.x + NODE.width, y: from.y + NODE.height / 2 },
        // The layout adds a bend half-way even if it is not needed.
        ...(inner.length > 1 ? inner : []),
        { x: to.x, y: to.y + NODE.height / 2 },
      ]
    : [
        { x: from.x + NODE.width / 2, y: from.y + NODE.height },
        ...(inner.length > 1 ? inner : []),
        { x: to.x + NODE.width / 2, y: to.y },
      ];
}

/** Smooth curves through all points, level where they meet a step. */
function pathOf(points: readonly Point[], direction: Direction): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  let path = `M${round(first.x)} ${round(first.y)}`;
  let before = first;
  for (const point of rest) {
    const [middleX, middleY] = [(before.x + point.x) / 2, (before.y + point.y) / 2];
    const bends =
      direction === "across"
        ? [middleX, before.y, middleX, point.y, point.x, point.y]
        : [before.x, middleY, point.x, middleY, point.x, point.y];
    path += `C${bends.map(round).join(" ")}`;
    before = point;
  }
  return path;
}

const round = (value: number) => Math.round(value * 10) / 10;

const ZOOMS = [0.25, 0.4, 0.55, 0.7, 0.85, 1, 1.25, 1.5, 2] as const;

export function zoomed(zoom: number, step: 1 | -1): number {
  const next = step === 1 ? ZOOMS.find((one) => one > zoom + 0.001) : ZOOMS.findLast((one) => one < zoom - 0.001);
  return next ?? zoom;
}

/** Smaller would be unreadable; it scrolls instead. */
export const LEAST_FIT = 0.55;

/** Lower limit for fitting a horizontal layout: its text has 12 px. */
const LEAST_ACROSS = 0.75;

/** Across while it is readable in this width; else down, if that is narrower. */
export function directionFor(steps: readonly GraphStep[], width: number): Direction {
  const across = layOut(steps, "across").width;
  return across * LEAST_ACROSS > width && layOut(steps, "down").width < across ? "down" : "across";
}

/** The largest zoom that fits; at most 1. */
export function fitting(graph: { width: number; height: number }, box: { width: number; height: number }): number {
  if (graph.width === 0 || graph.height === 0 || box.width === 0) return 1;
  return Math.max(0.25, Math.min(1, box.width / graph.width, box.height / graph.height));
}
