import { useSearchParams } from "wouter";
import { useLive } from "../../api/live.ts";
import { keyOf, queryClient, useCall } from "../../api/query.ts";
import type { Worker } from "../../api/types.ts";
import { count, rate, shortNumber } from "../../logic/format.ts";
import { type LiveWorker, mergeWorkers, orderWorkers, totalsOf } from "./workers.ts";
import { Card, Stat, StatRow } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { Switch } from "../../ui/Field.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { EmptyState, ErrorBox, PageSkeleton } from "../../ui/States.tsx";
import { Bytes } from "../../ui/Values.tsx";
import { WorkerCard } from "./WorkerCard.tsx";
import "./workers.css";

/** The workers: their active tasks and their heartbeats. */
export default function Workers() {
  const [search, setSearch] = useSearchParams();
  const all = search.get("all") === "true";
  const input = all ? { query: { all } } : {};
  // Active tasks are not part of the stream.
  const list = useCall("listWorkers", input, { refetchInterval: 4000 });
  useLive<{ workers: LiveWorker[] }>("workers", ({ workers }) => {
    queryClient.setQueryData<Worker[]>(keyOf("listWorkers", input), (old) =>
      old === undefined ? old : mergeWorkers(old, workers),
    );
  });
  const { data } = list;
  const totals = totalsOf(data ?? []);
  return (
    <>
      <PageHeader
        title="Workers"
        note="Processes that fetch pages and run workflow steps, on this and other machines."
        actions={
          <Switch
            label="Show stopped workers"
            checked={all}
            onChange={(event) => setSearch(event.target.checked ? { all: "true" } : {}, { replace: true })}
          />
        }
      />
      {list.error !== null && data === undefined ? (
        <ErrorBox error={list.error} onRetry={() => void list.refetch()} />
      ) : data === undefined ? (
        <PageSkeleton />
      ) : data.length === 0 ? (
        <Card>
          <EmptyState icon="workers" title="No workers">
            <p>Queued work waits for a worker. Start one on any machine that can connect to the same database:</p>
            <Code text="orb worker" label="Copy command" />
          </EmptyState>
        </Card>
      ) : (
        <div className="stack">
          <StatRow>
            <Stat
              name="Working"
              value={shortNumber(totals.working)}
              note={
                totals.lost > 0
                  ? `${totals.lost} lost`
                  : `of ${count(data.length, "process", "processes")}${totals.standby === 0 ? "" : `, ${totals.standby} standing by`}`
              }
              {...(totals.lost > 0 ? { tone: "warn" as const } : {})}
            />
            <Stat
              name="In flight"
              value={shortNumber(totals.inFlight)}
              note={`of ${shortNumber(totals.capacity)} slots`}
            />
            <Stat name="Throughput" value={rate(totals.throughput)} note="finished tasks" />
            <Stat name="Memory" value={<Bytes value={totals.memory} />} note="including browsers" />
          </StatRow>
          <div className="worker-grid">
            {orderWorkers(data).map((worker) => (
              <WorkerCard key={worker.id} worker={worker} />
            ))}
          </div>
        </div>
      )}
    </>
  );
}
