/** The numbers and charts at the top. */
import { Suspense } from "react";
import { part } from "../../app/part.ts";
import { percent, rate, shortNumber } from "../../logic/format.ts";
import { type LiveOverview, queueWords, type Series, successFigure, successOf, timesOf } from "../../logic/overview.ts";
import { Card, Stat } from "../../ui/Card.tsx";
import { Skeleton } from "../../ui/States.tsx";
import { useNow } from "../../ui/Values.tsx";

// Rendered after the numbers, which users look for first.
const Chart = part(async () => ({ default: (await import("../../ui/chart/Chart.tsx")).Chart }));

export function Figures({ overview }: { overview: LiveOverview }) {
  const { pages_per_second: pace, in_flight, workers, queued } = overview;
  const now = useNow();
  const active = Object.values(overview.runs).reduce((sum, value) => sum + value, 0);
  return (
    <div className="figures">
      <Card>
        <Stat
          name="Throughput"
          value={rate(pace.good + pace.bad)}
          note={pace.bad === 0 ? "pages, last 10 s" : rate(pace.bad).replace("/", " failed/")}
        />
      </Card>
      <Card>
        <Stat name="In flight" value={shortNumber(in_flight)} note={`of ${shortNumber(workers.capacity)} slots`} />
      </Card>
      <Card>
        <Stat
          name="Queued"
          value={shortNumber(queued)}
          note={queueWords(overview, now).map((words, n) => (
            <span key={words} className="figure-words">
              {n === 0 ? "" : "· "}
              {words}
            </span>
          ))}
        />
      </Card>
      <Card>
        <Stat name="Success" {...successFigure(overview)} />
      </Card>
      <Card>
        <Stat name="Active runs" value={shortNumber(active)} note={stateWords(overview.runs, active)} />
      </Card>
    </div>
  );
}

function stateWords(runs: LiveOverview["runs"], active: number): string {
  const words = {
    running: "running",
    queued: "queued",
    paused: "paused",
    waiting_for_human: "need you",
    recovering: "recovering",
  };
  const parts = Object.entries(words).flatMap(([state, word]) => {
    const value = runs[state as keyof typeof runs];
    return value === 0 ? [] : [`${shortNumber(value)} ${word}`];
  });
  return active === 0 ? "none right now" : parts.slice(0, 3).join(", ");
}

export function Charts({ series }: { series: Series }) {
  const times = timesOf(series);
  const height = 170;
  const draw = (chart: React.ReactNode) => (
    <Suspense fallback={<Skeleton lines={1} height={height} />}>{chart}</Suspense>
  );
  return (
    <div className="charts">
      <Card title="Pages per second" className="chart-wide">
        {draw(
          <Chart
            label="Pages per second in the last hour"
            times={times}
            height={height}
            series={[
              { name: "Good", colour: 1, values: series.good, area: true },
              { name: "Failed", colour: 2, values: series.bad },
            ]}
          />,
        )}
      </Card>
      <Card title="Queue">
        {draw(
          <Chart
            label="Pages queued and in flight in the last hour"
            times={times}
            height={height}
            series={[
              { name: "Queued", colour: 3, values: series.queued, area: true },
              { name: "In flight", colour: 1, values: series.in_flight },
            ]}
          />,
        )}
      </Card>
      <Card title="Success rate">
        {draw(
          <Chart
            label="Share of successful pages in the last hour"
            times={times}
            height={height}
            max={1}
            say={percent}
            series={[{ name: "Good pages", colour: 3, values: successOf(series), area: true }]}
          />,
        )}
      </Card>
    </div>
  );
}
