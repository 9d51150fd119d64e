/** The steps as a graph, or as an equivalent list. */
import { useSearchParams } from "wouter";
import { type FlowStep, stepLine, stepMs, stepPercent } from "./logic/flow-steps.ts";
import { duration, percent } from "../../logic/format.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Card } from "../../ui/Card.tsx";
import { Segmented } from "../../ui/Field.tsx";
import { Progress } from "../../ui/chart/Progress.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { useNow } from "../../ui/Values.tsx";
import { Graph } from "./Graph.tsx";

/** A larger graph is unreadable. */
const MOST_DRAWN = 250;

/** Outcomes of completed steps, by name. */
export type Outcomes = ReadonlyMap<string, string>;

export function Steps({
  steps,
  outcomes,
  selected,
  onSelect,
}: {
  steps: readonly FlowStep[];
  outcomes: Outcomes;
  selected: string | null;
  onSelect: (name: string) => void;
}) {
  const [search, setSearch] = useSearchParams();
  const now = useNow();
  const usual = steps.length > MOST_DRAWN ? "list" : "drawing";
  const view = search.get("view") ?? usual;
  const show = (next: string) =>
    setSearch(
      (old) => {
        const params = new URLSearchParams(old);
        if (next === usual) params.delete("view");
        else params.set("view", next);
        return params;
      },
      { replace: true },
    );
  return (
    <div className="stack steps">
      <Segmented
        label="Steps as"
        value={view === "list" ? "list" : "drawing"}
        choices={[
          { value: "drawing", name: "Graph" },
          { value: "list", name: "List" },
        ]}
        onChange={show}
      />
      <Card flush className="steps-card">
        {view === "list" ? (
          <Table
            label="Steps"
            columns={columnsOf(steps, outcomes, now)}
            rows={steps}
            keyOf={({ id }) => id}
            onOpen={({ task_name }) => onSelect(task_name)}
            rowHeight={48}
          />
        ) : (
          <Graph
            label="Steps"
            steps={steps.map((step) => ({
              name: step.task_name,
              kind: step.task_type,
              dependencies: step.dependencies,
              status: step.status,
              line: stepLine(step, now, outcomes.get(step.task_name)),
              percent: stepPercent(step),
            }))}
            selected={selected}
            onSelect={onSelect}
          />
        )}
      </Card>
    </div>
  );
}

function columnsOf(steps: readonly FlowStep[], outcomes: Outcomes, now: number): Column<FlowStep>[] {
  return [
    {
      id: "name",
      name: "Step",
      width: "minmax(120px, 1.2fr)",
      phone: "head",
      cell: ({ task_name, task_type, step_index }) => (
        <span className="flow-cell">
          <span className="truncate flow-cell-name" title={task_name}>
            <span className="soft num">{step_index + 1}. </span>
            {task_name}
          </span>
          <span className="truncate soft flow-cell-note">{task_type}</span>
        </span>
      ),
    },
    { id: "status", name: "Status", width: "112px", cell: ({ status }) => <StatusBadge status={status} /> },
    {
      id: "line",
      name: "Outcome",
      width: "minmax(120px, 1.8fr)",
      phone: "wide",
      cell: (step) => {
        const far = stepPercent(step);
        // The duration has its own column.
        const line = step.status === "completed" ? (outcomes.get(step.task_name) ?? "") : stepLine(step, now);
        return (
          <span className="flow-cell">
            <span className="truncate" title={line}>
              {line === "" ? <span className="soft">–</span> : line}
            </span>
            {far === null || step.status === "completed" ? null : (
              <Progress value={Math.round(far)} label={`Progress of ${step.task_name}, ${percent(far / 100)}`} />
            )}
          </span>
        );
      },
    },
    {
      id: "after",
      name: "Waits for",
      width: "minmax(90px, 1fr)",
      phone: "wide",
      cell: ({ dependencies }) => {
        const names = dependencies.map((index) => steps[index]?.task_name ?? "").join(", ");
        return (
          <span className="truncate" title={names}>
            {names === "" ? <span className="soft">nothing</span> : names}
          </span>
        );
      },
    },
    {
      id: "took",
      name: "Took",
      width: "78px",
      align: "end",
      sort: (step) => stepMs(step, now),
      cell: (step) => {
        const ms = stepMs(step, now);
        return ms === null ? <span className="soft">–</span> : <span className="num">{duration(ms)}</span>;
      },
    },
  ];
}
