/** A definition for reading: its params and its steps, as a graph and as a list. */
import { useState } from "react";
import { outlineOf, type ParamOutline, plain, type StepOutline } from "./logic/flow-definition.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Card, KeyValue } from "../../ui/Card.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { Graph } from "./Graph.tsx";

const PARAMS: readonly Column<ParamOutline>[] = [
  {
    id: "name",
    name: "Param",
    width: "minmax(110px, 0.8fr)",
    phone: "head",
    cell: ({ name, required }) => (
      <span className="row">
        <code className="wrap">{name}</code>
        {required ? <Badge tone="info">Required</Badge> : null}
      </span>
    ),
  },
  { id: "type", name: "Type", width: "minmax(100px, 0.7fr)", cell: ({ type }) => <span title={type}>{type}</span> },
  {
    id: "usual",
    name: "Default",
    width: "minmax(90px, 0.7fr)",
    cell: ({ usual }) =>
      usual === null ? (
        <span className="soft">–</span>
      ) : (
        <code className="truncate" title={usual}>
          {usual}
        </code>
      ),
  },
  {
    id: "what",
    name: "Description",
    width: "minmax(160px, 2fr)",
    phone: "wide",
    cell: ({ description }) => <span className="template-what">{description}</span>,
  },
];

export function TemplateOutline({ definition }: { definition: unknown }) {
  const { steps, params, maxRecoveries } = outlineOf(definition);
  const [selected, setSelected] = useState<string | null>(null);
  const show = (name: string) => {
    setSelected(name);
    document.getElementById(idOf(name))?.scrollIntoView({ block: "nearest" });
  };
  return (
    <div className="stack">
      <Card title="Parameters" flush>
        {params.length === 0 ? (
          <p className="soft template-none">No parameters.</p>
        ) : (
          <Table label="Parameters" columns={PARAMS} rows={params} keyOf={({ name }) => name} />
        )}
      </Card>
      <Card title="Steps" flush>
        <Graph
          label="Step graph"
          steps={steps.map(({ name, kind, dependencies, forEach, when }) => ({
            name,
            kind,
            dependencies,
            status: null,
            line: forEach !== null ? "for each list entry" : when !== null ? "conditional" : "",
            percent: null,
          }))}
          selected={selected}
          onSelect={show}
        />
      </Card>
      <ol className="outline" aria-label="Step list">
        {steps.map((step, index) => (
          <Step key={step.name} step={step} index={index} names={steps} isSelected={step.name === selected} />
        ))}
      </ol>
      {maxRecoveries === null ? null : (
        <p className="soft">{`Can be recovered up to ${maxRecoveries} times after a failure.`}</p>
      )}
    </div>
  );
}

const idOf = (name: string) => `step-${encodeURIComponent(name)}`;

function Step({
  step,
  index,
  names,
  isSelected,
}: {
  step: StepOutline;
  index: number;
  names: readonly StepOutline[];
  isSelected: boolean;
}) {
  const { name, kind, dependencies, when, forEach, params, notes } = step;
  return (
    <li id={idOf(name)} className={isSelected ? "outline-step outline-chosen" : "outline-step"}>
      <div className="outline-head">
        <h3 className="wrap">
          <span className="soft num">{index + 1}. </span>
          {name}
        </h3>
        <Badge>{kind}</Badge>
        <span className="soft">{notes.join(" · ")}</span>
      </div>
      <KeyValue
        pairs={[
          dependencies.length === 0
            ? null
            : { name: "After", value: dependencies.map((one) => names[one]?.name ?? "").join(", ") },
          when === null ? null : { name: "Only when", value: <code>{when}</code> },
          forEach === null ? null : { name: "For each of", value: <code>{forEach}</code> },
          ...params.map(([key, value]) => ({ name: key, value: <code>{plain(value)}</code> })),
        ]}
      />
    </li>
  );
}
