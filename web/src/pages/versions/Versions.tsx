import { useState } from "react";
import { useParams } from "wouter";
import { useCall, useChange, usePages } from "../../api/query.ts";
import type { Job, Operations } from "../../api/types.ts";
import { actorText } from "../../logic/actor.ts";
import { capital, count, shorten } from "../../logic/format.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button, LinkButton } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Confirm } from "../../ui/overlay/Dialog.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { ErrorBox, PageSkeleton, Skeleton } from "../../ui/States.tsx";
import { Time } from "../../ui/Values.tsx";
import { nameOf } from "../jobs/job-names.ts";
import "./versions.css";

type Version = Operations["listJobVersions"]["answer"][number];
type Change = Operations["getJobVersion"]["answer"]["changes"][number];

const PROGRAMS: Readonly<Record<Version["author"], string>> = {
  api: "API call",
  cli: "command line",
  dashboard: "dashboard",
  mcp: "agent (MCP)",
  library: "library",
  repair: "repair",
  upgrade: "upgrade of Orbweaver",
};

/** What a job was before, and what changed: every version can be restored. */
export default function Versions() {
  const { id = "" } = useParams<{ id: string }>();
  const params = { job_id: id };
  const job = useCall("getJob", { params });
  const versions = usePages("listJobVersions", { params, query: { limit: 100 } });
  const back = { href: "/jobs", name: "Jobs" };
  const error = job.error ?? versions.error;
  if (job.data === undefined || versions.data === undefined) {
    if (error === null) return <PageSkeleton />;
    return (
      <>
        <PageHeader title="Versions" back={back} />
        <ErrorBox error={error} onRetry={() => void Promise.all([job.refetch(), versions.refetch()])} />
      </>
    );
  }
  const name = nameOf(job.data);
  const [newest] = versions.rows;
  return (
    <div className="stack">
      <PageHeader
        title="Versions"
        documentTitle={`Versions of ${name}`}
        back={back}
        badge={<Badge>{name}</Badge>}
        note="Every change of the job is a version. The newest 100 are kept."
        actions={
          <LinkButton href={`/new?job=${id}`} icon="edit">
            Edit job
          </LinkButton>
        }
      />
      <Card flush>
        <ol className="versions">
          {versions.rows.map((version) => (
            <Row
              key={version.version}
              job={job.data}
              version={version}
              isNewest={version.version === newest?.version}
            />
          ))}
        </ol>
      </Card>
      <p className="soft">{count(versions.rows.length, "version")}</p>
    </div>
  );
}

function Row({ job, version, isNewest }: { job: Job; version: Version; isNewest: boolean }) {
  const [isOpen, setOpen] = useState(isNewest);
  const panel = `version-${version.version}`;
  return (
    <li className="version">
      <div className="version-head">
        <button
          type="button"
          className="version-toggle"
          aria-expanded={isOpen}
          aria-controls={panel}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? "chevron" : "right"} size={14} />
          <strong className="num">Version {version.version}</strong>
          <span className="soft">
            {madeBy(version)}, <Time at={version.made_at} />
            {version.restored_version === null ? "" : `, restored from version ${version.restored_version}`}
          </span>
        </button>
        {isNewest ? <Badge tone="good">Current</Badge> : <Restore job={job} version={version} />}
      </div>
      <div id={panel} hidden={!isOpen}>
        {isOpen ? <Changes job={job.id} version={version} /> : null}
      </div>
    </li>
  );
}

/** Who made it, and with which program. */
function madeBy({ made_by: by, author }: Version): string {
  if (by === null) return capital(PROGRAMS[author]);
  return by.kind === "repair" ? actorText(by) : `${actorText(by)}, ${PROGRAMS[author]}`;
}

function Restore({ job, version }: { job: Job; version: Version }) {
  const [isAsking, ask] = useState(false);
  const restore = useChange("restoreJobVersion", {
    invalidates: ["listJobVersions", "getJobVersion", "getJob", "listJobs", "getJobRepair"],
    onSuccess: ({ version: now }) => toast(`Version ${version.version} is restored, as version ${now}.`),
    onError: toastError,
    onSettled: () => ask(false),
  });
  return (
    <>
      <Button size="small" icon="retry" needs="restoreJobVersion" onClick={() => ask(true)}>
        Restore
      </Button>
      <Confirm
        open={isAsking}
        onClose={() => ask(false)}
        title={`Restore version ${version.version}?`}
        verb="Restore"
        busy={restore.isPending}
        onConfirm={() => restore.mutate({ params: { job_id: job.id, version: version.version } })}
      >
        The job gets the rules and settings of this version, as a new version. Nothing is lost: the current version
        stays in the list.
      </Confirm>
    </>
  );
}

function Changes({ job, version }: { job: string; version: Version }) {
  const { data, error, refetch } = useCall("getJobVersion", {
    params: { job_id: job, version: version.version },
  });
  if (data === undefined)
    return error === null ? <Skeleton lines={3} /> : <ErrorBox error={error} onRetry={() => void refetch()} />;
  if (data.compared_with === null)
    return (
      <p className="soft">
        {version.version === 1 ? "The first version." : "The version before it is no longer kept."}
      </p>
    );
  if (data.changes.length === 0) return <p className="soft">Nothing differs from version {data.compared_with}.</p>;
  return (
    <div className="version-scroll">
      <table className="version-changes">
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {data.changes.map((change) => (
            <ChangeRow key={change.path} change={change} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ChangeRow({ change: { path, before, after } }: { change: Change }) {
  return (
    <tr>
      <th scope="row">
        <code className="wrap">{path}</code>
      </th>
      <td className="wrap">{shown(before)}</td>
      <td className="wrap">{shown(after)}</td>
    </tr>
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return shorten(typeof value === "string" ? value : JSON.stringify(value), 300);
}
