/** Outputs of a workflow's steps: files and items. */
import { useMemo } from "react";
import { addressOf } from "../../api/client.ts";
import { usePages } from "../../api/query.ts";
import type { WorkflowProgress } from "../../api/types.ts";
import type { StepDetail } from "./logic/flow-steps.ts";
import { count, sentence } from "../../logic/format.ts";
import { Card } from "../../ui/Card.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { Bytes, Time } from "../../ui/Values.tsx";
import { fileName, ItemsLink } from "./StepWork.tsx";

type File = StepDetail["artifacts"][number] & { step: string };

export function FlowFiles({ flow, onSelect }: { flow: WorkflowProgress; onSelect: (name: string) => void }) {
  const tasks = usePages("listWorkflowTasks", {
    params: { workflow_id: flow.workflow_id },
    query: { limit: 200 },
  });
  const columns = useMemo(() => columnsOf(onSelect), [onSelect]);
  if (tasks.isPending)
    return (
      <Card>
        <Skeleton lines={5} />
      </Card>
    );
  if (tasks.error !== null && tasks.rows.length === 0)
    return <ErrorBox error={tasks.error} onRetry={() => void tasks.refetch()} />;
  const files: File[] = tasks.rows.flatMap(({ task_name, artifacts }) =>
    artifacts.filter(({ role }) => role !== "items").map((one) => ({ ...one, step: task_name })),
  );
  // Exports come last, and are what users look for first.
  files.reverse();
  const withItems = tasks.rows.filter(({ items_count }) => (items_count ?? 0) > 0);
  if (files.length === 0 && withItems.length === 0)
    return (
      <Card>
        <EmptyState icon="download" title="No files yet">
          Files that steps write and records that they output are listed here: exports, downloads, datasets.
        </EmptyState>
      </Card>
    );
  return (
    <div className="stack">
      {files.length === 0 ? null : (
        <Card title="Files" flush>
          <Table
            label="Files"
            columns={columns}
            rows={files}
            keyOf={({ id, step }) => `${step} ${id}`}
            next={tasks.next}
            footer={count(files.length, "file")}
          />
        </Card>
      )}
      {withItems.length === 0 ? null : (
        <Card title="Step outputs" flush>
          <ul className="handed">
            {withItems.map((detail) => (
              <li key={detail.task_name}>
                <button type="button" className="step-link" onClick={() => onSelect(detail.task_name)}>
                  {detail.task_name}
                </button>
                <span className="soft num">{count(detail.items_count ?? 0, "record")}</span>
                <ItemsLink flowId={flow.workflow_id} task={detail.task_name} detail={detail} />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}

const columnsOf = (onSelect: (name: string) => void): Column<File>[] => [
  {
    id: "file",
    name: "File",
    width: "minmax(160px, 2fr)",
    phone: "head",
    sort: ({ url }) => url,
    cell: ({ id, url, role }) => (
      <a
        href={addressOf("getArtifact", { params: { artifact_id: id } })}
        target="_blank"
        rel="noopener noreferrer"
        className="link truncate"
        title={url}
      >
        {fileName(url, role)}
      </a>
    ),
  },
  {
    id: "step",
    name: "Step",
    width: "minmax(90px, 1fr)",
    sort: ({ step }) => step,
    cell: ({ step }) => (
      <button type="button" className="step-link truncate" onClick={() => onSelect(step)}>
        {step}
      </button>
    ),
  },
  {
    id: "type",
    name: "Type",
    width: "minmax(90px, 1fr)",
    sort: ({ content_type }) => content_type,
    cell: ({ content_type, role }) => (
      <span className="truncate" title={content_type ?? ""}>
        {content_type ?? sentence(role)}
      </span>
    ),
  },
  {
    id: "size",
    name: "Size",
    width: "82px",
    align: "end",
    sort: ({ size }) => size,
    cell: ({ size }) => <Bytes value={size} />,
  },
  {
    id: "made",
    name: "Created",
    width: "96px",
    align: "end",
    sort: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];
