import { Link } from "wouter";
import { useChange } from "../../api/query.ts";
import type { Worker } from "../../api/types.ts";
import { count, duration, plainUrl, rate, sentence, shortNumber } from "../../logic/format.ts";
import { laneName } from "../../logic/lanes.ts";
import { standsBy } from "./workers.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card, KeyValue } from "../../ui/Card.tsx";
import { Meter } from "../../ui/chart/Progress.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { Bytes, Duration, Num, Time } from "../../ui/Values.tsx";

const MOST_TASKS = 6;

export function WorkerCard({ worker }: { worker: Worker }) {
  const { id, machine, pid, command, state } = worker;
  const name = `${machine}, process ${pid}`;
  const gone = state === "lost" || state === "stopped";
  const idle = standsBy(worker);
  const ping = useChange("pingWorker", {
    onSuccess: ({ answered, latency_ms }) =>
      answered
        ? toast(`${name} answered in ${duration(latency_ms)}`)
        : toast(`${name} did not answer within ${duration(latency_ms)}`, "bad"),
    onError: toastError,
  });
  const steered = { invalidates: ["listWorkers"] as const, onError: toastError };
  const drain = useChange("drainWorker", {
    ...steered,
    onSuccess: () => toast(`${name} is draining: it finishes its tasks and accepts no new ones`),
  });
  const resume = useChange("resumeWorker", { ...steered, onSuccess: () => toast(`${name} accepts tasks again`) });
  const params = { params: { id } };
  return (
    <Card
      className={gone ? "worker worker-gone" : "worker"}
      title={
        <span className="worker-title">
          <span className="wrap">{machine}</span>
          <span className="soft num">process {pid}</span>
        </span>
      }
      actions={
        idle ? (
          <StatusBadge status="standby" title="Standby: takes over when the active process ends" />
        ) : (
          <StatusBadge status={state} />
        )
      }
    >
      <div className="stack">
        {state === "lost" ? (
          <p className="worker-lost" role="status">
            No heartbeat since <Time at={worker.heartbeat} />. Other workers take over its tasks. If the machine is up,
            check the log of the worker and restart it.
          </p>
        ) : null}
        {worker.paused === null ? null : <p className="worker-paused wrap">{worker.paused}</p>}
        {idle ? <p className="soft">Standby: takes over when the active process ends.</p> : null}
        {gone || idle ? null : (
          <div className="worker-load">
            <span>
              <b className="num">{shortNumber(worker.in_flight)}</b>{" "}
              <span className="soft">of {shortNumber(worker.max_workers)} slots</span>
            </span>
            <span className="num">{rate(worker.throughput)}</span>
            <Meter
              part={worker.max_workers === 0 ? 0 : worker.in_flight / worker.max_workers}
              label={`Work in flight of ${name}`}
              warnAt={2}
            />
          </div>
        )}
        <KeyValue
          pairs={[
            { name: "Started as", value: `orb ${command}, ${worker.version}` },
            {
              name: "Engine",
              value: `${worker.engine === "bullmq" ? "BullMQ" : sentence(worker.engine)}, ${
                worker.database === "sqlite" ? "SQLite" : "Postgres"
              }`,
            },
            { name: "Heartbeat", value: <Time at={worker.heartbeat} /> },
            { name: "Memory", value: <Bytes value={worker.memory} /> },
            {
              name: "Completed, failed",
              value: (
                <>
                  <Num value={worker.completed} />, <Num value={worker.failed} />
                </>
              ),
            },
            worker.stopped_at === null
              ? { name: "Running for", value: <Duration since={worker.started_at} /> }
              : { name: "Stopped", value: <Time at={worker.stopped_at} /> },
          ]}
        />
        {gone ? null : <RemoteBrowsers browsers={worker.browsers} />}
        {gone ? null : (
          <>
            {idle ? null : <Tasks worker={worker} />}
            <div className="row">
              <Button size="small" needs="pingWorker" busy={ping.isPending} onClick={() => ping.mutate(params)}>
                Ping
              </Button>
              {state === "working" && !worker.drain_asked ? (
                <Button
                  size="small"
                  icon="pause"
                  needs="drainWorker"
                  busy={drain.isPending}
                  title="Draining: finishes its tasks and accepts no new ones"
                  onClick={() => drain.mutate(params)}
                >
                  Drain
                </Button>
              ) : (
                <Button
                  size="small"
                  icon="runs"
                  needs="resumeWorker"
                  busy={resume.isPending}
                  onClick={() => resume.mutate(params)}
                >
                  Resume
                </Button>
              )}
            </div>
          </>
        )}
      </div>
    </Card>
  );
}

/** The browsers of APP_BROWSER_URL. */
function RemoteBrowsers({ browsers }: Pick<Worker, "browsers">) {
  if (browsers.length === 0) return null;
  return (
    <div>
      <h3>Remote browsers</h3>
      <ul className="worker-browsers">
        {browsers.map(({ name, state, pages, max_pages, problem }) => (
          <li key={name}>
            <span className="wrap">{name}</span>
            <StatusBadge status={state} />
            <span className="soft num">
              {pages} of {max_pages} pages
            </span>
            {problem === null ? null : <p className="worker-paused wrap">{problem}</p>}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Tasks({ worker: { active } }: { worker: Worker }) {
  const stop = useChange("stopTask", {
    invalidates: ["listWorkers"],
    onSuccess: () => toast("Stop requested"),
    onError: toastError,
  });
  if (active.length === 0) return <p className="soft">Nothing in flight.</p>;
  return (
    <div>
      <h3>In flight</h3>
      <ul className="worker-tasks">
        {active.slice(0, MOST_TASKS).map(({ task_id, run_id, lane, url, started_at }) => (
          <li key={task_id}>
            <Link href={`/runs/${run_id}`} className="truncate link" title={url ?? lane}>
              {url === null ? laneName({ lane, step: null }).name : plainUrl(url)}
            </Link>
            <Duration since={started_at} />
            <Button
              size="small"
              kind="quiet"
              needs="stopTask"
              aria-label={`Stop ${url ?? lane}`}
              onClick={() => stop.mutate({ params: { run_id, task_id } })}
            >
              Stop
            </Button>
          </li>
        ))}
      </ul>
      {active.length <= MOST_TASKS ? null : (
        <p className="soft">and {count(active.length - MOST_TASKS, "more", "more")}</p>
      )}
    </div>
  );
}
