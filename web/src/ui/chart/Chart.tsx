import { useEffect, useId, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { shortNumber } from "../../logic/format.ts";
import { summaryOf } from "../logic/series.ts";
import { useTheme } from "../../app/theme.ts";
import "./chart.css";

interface ChartSeries {
  name: string;
  /** Index of the chart colours. */
  colour: 1 | 2 | 3 | 4;
  values: readonly (number | null)[];
  /** Filled down to the axis. */
  area?: boolean;
}

/** Lines over time, with the values under the pointer below it. `times` in milliseconds. */
export function Chart({
  times,
  series,
  label,
  height = 170,
  say = shortNumber,
  max,
}: {
  times: readonly number[];
  series: readonly ChartSeries[];
  label: string;
  height?: number;
  say?: (value: number) => string;
  /** A fixed upper end of the scale, such as 1 for fractions. */
  max?: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = useTheme();
  const summaryId = useId();
  const names = series.map(({ name, colour, area }) => `${name} ${colour} ${area === true}`).join("|");
  const latest = useRef({ series, say });
  latest.current = { series, say };

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const chart = new uPlot(
      optionsOf(element, latest.current.series, { height, max, say: (value) => latest.current.say(value) }),
      [[]],
      element,
    );
    plot.current = chart;
    const resize = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      chart.destroy();
      plot.current = null;
    };
  }, [names, height, max, theme]);

  useEffect(() => {
    const rows = [times.map((time) => time / 1000), ...series.map(({ values }) => [...values])];
    plot.current?.setData(rows as uPlot.AlignedData);
  }, [times, series, names, height, max, theme]);

  return (
    <figure className="chart" role="img" aria-label={label} aria-describedby={summaryId}>
      <div ref={box} className="chart-box" style={{ minHeight: height }} aria-hidden="true" />
      <figcaption className="chart-legend" aria-hidden="true">
        {series.map(({ name, colour, values }) => (
          <span key={name} className="chart-key">
            <i className={`chart-sign chart-sign-${colour}`} />
            {name} <b className="num">{lastOf(values, say)}</b>
          </span>
        ))}
      </figcaption>
      <p className="spoken" id={summaryId}>
        {series.map(({ name, values }) => summaryOf(name, values, say)).join(" ")}
      </p>
    </figure>
  );
}

function lastOf(values: readonly (number | null)[], say: (value: number) => string): string {
  const known = values.findLast((value) => value !== null);
  return known === undefined || known === null ? "–" : say(known);
}

/** Canvas has no CSS variables: the computed colour of this theme. */
function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const faded = (colour: string, part: number) => colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${part})`);

function optionsOf(
  element: HTMLElement,
  series: readonly ChartSeries[],
  { height, max, say }: { height: number; max: number | undefined; say: (value: number) => string },
): uPlot.Options {
  const ink = colourOf(element, "--ink-3");
  const line = colourOf(element, "--line");
  const font = `11px ${getComputedStyle(document.documentElement).getPropertyValue("--font")}`;
  const axis = { stroke: ink, font, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    padding: [8, 28, 6, 0],
    cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
    scales: { y: { range: (_plot, _low, high) => [0, max ?? (high > 0 ? high * 1.12 : 1)] } },
    axes: [
      { ...axis, grid: { show: false }, space: 90, size: 26, values: (_plot, times) => times.map(clockOf(times)) },
      {
        ...axis,
        grid: { stroke: line, width: 1 },
        size: 46,
        space: 36,
        values: (_plot, values) => values.map(say),
      },
    ],
    series: [
      {},
      ...series.map(({ name, colour, area }) => {
        const stroke = colourOf(element, `--chart-${colour}`);
        return {
          label: name,
          stroke,
          width: 1.6,
          spanGaps: false,
          points: { show: false },
          ...(area === true ? { fill: faded(stroke, 0.12) } : {}),
        };
      }),
    ],
    plugins: [tip(say)],
  };
}

function clockTime(seconds: number, exact = true): string {
  const second = exact ? ({ second: "2-digit" } as const) : {};
  return new Date(seconds * 1000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", ...second });
}

/** Marks less than a minute apart would all read the same. */
function clockOf(times: readonly number[]): (seconds: number) => string {
  const exact = (times[1] ?? 0) - (times[0] ?? 0) < 60;
  return (seconds) => clockTime(seconds, exact);
}

/** The values under the pointer, beside it. */
function tip(say: (value: number) => string): uPlot.Plugin {
  const box = document.createElement("div");
  box.className = "chart-tip";
  box.hidden = true;
  return {
    hooks: {
      init: (plot) => void plot.over.append(box),
      setCursor: (plot) => {
        const { idx, left = -1 } = plot.cursor;
        const time = idx === null || idx === undefined ? undefined : plot.data[0][idx];
        box.hidden = left < 0 || time === undefined;
        if (idx === null || idx === undefined || time === undefined) return;
        const lines = plot.series.slice(1).map((one, at) => {
          const value = plot.data[at + 1]?.[idx];
          return `${String(one.label)} ${value === null || value === undefined ? "–" : say(value)}`;
        });
        box.replaceChildren(
          ...[clockTime(time), ...lines].map((text) => {
            const row = document.createElement("div");
            row.textContent = text;
            return row;
          }),
        );
        const right = left > plot.over.clientWidth / 2;
        box.style.left = right ? "" : `${left + 12}px`;
        box.style.right = right ? `${plot.over.clientWidth - left + 12}px` : "";
      },
    },
  };
}
