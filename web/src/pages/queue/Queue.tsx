import { useState } from "react";
import { useCall } from "../../api/query.ts";
import { shortNumber } from "../../logic/format.ts";
import { queueWords } from "../../logic/overview.ts";
import { Button } from "../../ui/Button.tsx";
import { Stat, StatRow } from "../../ui/Card.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { ErrorBox, PageSkeleton } from "../../ui/States.tsx";
import { Tabs } from "../../ui/Tabs.tsx";
import { useNow } from "../../ui/Values.tsx";
import { AddItems } from "./AddItems.tsx";
import { Items } from "./Items.tsx";
import { Lanes, useLanes } from "./Lanes.tsx";
import { ConcurrencyKeys } from "./ConcurrencyKeys.tsx";
import "./queue.css";

/** Where work waits and why, and the items of the download queue. */
export default function Queue() {
  const [adding, setAdding] = useState(false);
  const overview = useCall("getOverview", undefined, { refetchInterval: 5000 });
  const stats = useCall("getQueueStats", undefined, { refetchInterval: 5000 });
  const lanes = useLanes();
  const now = useNow();
  const error = stats.error ?? overview.error;
  const add = () => setAdding(true);
  return (
    <>
      <PageHeader
        title="Queue"
        note="All open work. Each site, site group and workflow step has its own lane with its own limits, so sites do not wait for each other."
        actions={
          <Button icon="plus" needs="addQueueItems" onClick={add}>
            Add items
          </Button>
        }
      />
      {error !== null && stats.data === undefined ? (
        <ErrorBox
          error={error}
          onRetry={() => {
            void stats.refetch();
            void overview.refetch();
          }}
        />
      ) : stats.data === undefined || overview.data === undefined ? (
        <PageSkeleton />
      ) : (
        <div className="stack">
          <StatRow>
            <Stat
              name="Queued"
              value={shortNumber(overview.data.queued)}
              note={queueWords({ ...overview.data, retrying: 0 }, now)[0]}
            />
            <Stat name="Retrying" value={shortNumber(overview.data.retrying)} note="failed, will be retried" />
            <Stat name="In flight" value={shortNumber(overview.data.in_flight)} note="right now" />
            <Stat name="Items" value={shortNumber(stats.data.total)} note={`${shortNumber(stats.data.done)} done`} />
            <Stat
              name="Failed items"
              value={shortNumber(stats.data.error)}
              note={stats.data.error === 0 ? "none" : "can be retried"}
              {...(stats.data.error > 0 ? { tone: "bad" as const } : {})}
            />
          </StatRow>
          <Tabs
            label="Queue"
            tabs={[
              { id: "lanes", name: "Lanes", panel: () => <Lanes lanes={lanes} /> },
              {
                id: "items",
                name: "Items",
                count: shortNumber(stats.data.total),
                panel: () => <Items failed={stats.data?.error ?? 0} onAdd={add} />,
              },
              {
                id: "concurrency-keys",
                alias: "resolvers",
                name: "Concurrency keys",
                panel: () => <ConcurrencyKeys />,
              },
            ]}
          />
        </div>
      )}
      <AddItems open={adding} onClose={() => setAdding(false)} />
    </>
  );
}
