/** The graph of steps and dependencies. Each step is a button, in topological order. */
import { type KeyboardEvent, type PointerEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { directionFor, fitting, LEAST_FIT, layOut, NODE, zoomed } from "./logic/flow-graph.ts";
import { lookOf } from "../../logic/states.ts";
import { IconButton } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { usePhone } from "../../ui/table/Table.tsx";
import { useBoxWidth } from "../../ui/useBoxWidth.ts";
import "../../ui/badge.css";
import "./graph.css";

interface DrawnStep {
  name: string;
  kind: string;
  dependencies: readonly number[];
  /** Null: a definition, not a run. */
  status: string | null;
  /** Its most important fact. */
  line: string;
  percent: number | null;
}

/** Reserved, whether it is visible or not. */
const SCROLLBAR = 16;
/** Maximum height before it scrolls in its box, as in graph.css. */
const HIGHEST = { across: 320, down: 540 } as const;

export function Graph({
  label,
  steps,
  selected,
  onSelect,
}: {
  label: string;
  steps: readonly DrawnStep[];
  selected: string | null;
  onSelect: (name: string) => void;
}) {
  const phone = usePhone();
  const box = useRef<HTMLDivElement>(null);
  const width = useBoxWidth(box) - SCROLLBAR;
  // The layout depends on structure only, not on states.
  const structure = JSON.stringify(steps.map(({ name, dependencies }) => ({ name, dependencies })));
  const direction = useMemo(
    () => (phone ? "down" : directionFor(JSON.parse(structure) as DrawnStep[], width)),
    [structure, phone, width],
  );
  const graph = useMemo(() => layOut(JSON.parse(structure) as DrawnStep[], direction), [structure, direction]);
  const fitted = fitting(graph, { width, height: HIGHEST[direction] });
  /** The user's zoom; null: fit to the box, also when it is resized. */
  const [chosen, setZoom] = useState<number | null>(null);
  useLayoutEffect(() => setZoom(null), [graph]);
  const zoom = chosen ?? Math.max(LEAST_FIT, fitted);
  useEffect(() => {
    const node = box.current?.querySelector<HTMLElement>(".node[aria-pressed=true]");
    if (box.current !== null && node !== null && node !== undefined) bringIntoSight(box.current, node);
  }, [selected, width, graph]);
  const drag = useDrag();
  const onKeyDown = (event: KeyboardEvent<HTMLOListElement>) => {
    const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>("button")];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    buttons[Math.min(Math.max(to, 0), buttons.length - 1)]?.focus();
  };
  return (
    <div className="graph">
      <div className="graph-tools" role="group" aria-label="Zoom">
        <IconButton label="Smaller" icon="minus" size="small" onClick={() => setZoom(zoomed(zoom, -1))} />
        <span className="num graph-zoom">{Math.round(zoom * 100)} %</span>
        <IconButton label="Larger" icon="plus" size="small" onClick={() => setZoom(zoomed(zoom, 1))} />
        <IconButton label="Fit to view" icon="fit" size="small" onClick={() => setZoom(fitted)} />
      </div>
      <div className="graph-box" ref={box} {...drag}>
        <div className="graph-paper" style={{ width: graph.width * zoom, height: graph.height * zoom }}>
          <div
            className="graph-scale"
            style={{ width: graph.width, height: graph.height, transform: `scale(${zoom})` }}
          >
            <svg className="graph-lines" width={graph.width} height={graph.height} aria-hidden="true" focusable="false">
              {graph.edges.map(({ from, to, path }) => (
                <path key={`${from} ${to}`} d={path} className={lineClass(steps[from], steps[to], selected)} />
              ))}
            </svg>
            <ol aria-label={label} onKeyDown={onKeyDown}>
              {graph.nodes.map(({ index, x, y }) => {
                const step = steps[index];
                return step === undefined ? null : (
                  <li key={step.name} style={{ left: x, top: y, width: NODE.width, height: NODE.height }}>
                    <Node step={step} isSelected={step.name === selected} onSelect={onSelect} />
                  </li>
                );
              })}
            </ol>
          </div>
        </div>
      </div>
    </div>
  );
}

/** Scrolls only the box, not the page. */
function bringIntoSight(box: HTMLElement, node: HTMLElement): void {
  const [outer, inner] = [box.getBoundingClientRect(), node.getBoundingClientRect()];
  const by = (start: number, end: number) => (start < 0 ? start : end > 0 ? Math.min(end, start) : 0);
  box.scrollBy(
    by(inner.left - outer.left, inner.right - outer.right),
    by(inner.top - outer.top, inner.bottom - outer.bottom),
  );
}

/** Lines whose data has been passed on are solid. */
function lineClass(from: DrawnStep | undefined, to: DrawnStep | undefined, selected: string | null): string {
  const isNear = selected !== null && (from?.name === selected || to?.name === selected);
  const isPassed = from?.status === "completed" || (from?.status === "skipped" && to?.status !== "skipped");
  return `graph-line ${isPassed || from?.status === null ? "" : "graph-line-open"} ${isNear ? "graph-line-near" : ""}`;
}

function Node({
  step: { name, kind, status, line, percent },
  isSelected,
  onSelect,
}: {
  step: DrawnStep;
  isSelected: boolean;
  onSelect: (name: string) => void;
}) {
  const look = status === null ? null : lookOf(status);
  const isSaid = line !== "" && (status === "completed" || status === "running");
  return (
    <button
      type="button"
      className={`node tone-${look?.tone ?? "neutral"} ${status === null ? "" : `node-${status}`}`}
      aria-pressed={isSelected}
      title={line === "" ? name : `${name}: ${line}`}
      onClick={() => onSelect(name)}
    >
      <span className="node-head">
        {look === null ? null : (
          <span className="node-sign">
            <Icon name={look.shape} size={14} spin={look.shape === "spin"} />
          </span>
        )}
        <span className="truncate node-name">{name}</span>
        {kind === name ? null : <span className="node-kind">{kind}</span>}
      </span>
      <span className="truncate node-line">
        {/* Narrow: icon and colour carry the state as well. */}
        {look === null ? null : <span className={isSaid ? "spoken" : "node-word"}>{look.word}</span>}
        {line === "" ? "" : look === null || isSaid ? line : ` · ${line}`}
      </span>
      {percent === null || status === "completed" ? null : (
        <span className="node-bar">
          <span style={{ width: `${percent}%` }} />
        </span>
      )}
    </button>
  );
}

/** Drag the background with a mouse to pan; touch scrolls anyway. */
function useDrag() {
  const from = useRef<{ x: number; y: number; left: number; top: number } | null>(null);
  const end = () => {
    from.current = null;
  };
  return {
    onPointerDown: (event: PointerEvent<HTMLDivElement>) => {
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      if ((event.target as HTMLElement).closest("button") !== null) return;
      const { scrollLeft: left, scrollTop: top } = event.currentTarget;
      from.current = { x: event.clientX, y: event.clientY, left, top };
    },
    onPointerMove: (event: PointerEvent<HTMLDivElement>) => {
      if (from.current === null) return;
      event.currentTarget.scrollTo(
        from.current.left - event.clientX + from.current.x,
        from.current.top - event.clientY + from.current.y,
      );
    },
    onPointerUp: end,
    onPointerLeave: end,
  };
}
