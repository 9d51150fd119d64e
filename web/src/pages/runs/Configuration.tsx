import { Link } from "wouter";
import { useCall } from "../../api/query.ts";
import type { Run } from "../../api/types.ts";
import { actorText } from "../../logic/actor.ts";
import { configurationOf, hasOwnKey } from "./logic/run-configuration.ts";
import { LinkButton } from "../../ui/Button.tsx";
import { Card, KeyValue } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";

/** The request of the run, as of its start. */
export function Configuration({ run }: { run: Run }) {
  const { data, error, refetch } = useCall("getRunRecipe", { params: { run_id: run.id } }, { staleTime: 60_000 });
  if (error?.status === 404)
    return (
      <Card>
        <EmptyState title="No configuration">The server creates runs of this kind itself.</EmptyState>
      </Card>
    );
  if (error !== null) return <ErrorBox error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton lines={6} />;
  const { plain, rules } = configurationOf(data.recipe);
  return (
    <div className="stack">
      <Card
        title="Settings of this run"
        actions={
          <>
            {run.job_id === null ? null : (
              <Link className="link" href={`/new?job=${run.job_id}`}>
                Edit the job
              </Link>
            )}
            <LinkButton href={`/new?from=${run.id}`} size="small" icon="copy" needs="startCrawl">
              Clone with changes
            </LinkButton>
          </>
        }
      >
        <KeyValue
          pairs={[
            ...plain.map((one) => ({ name: one.name, ...(hasOwnKey(one) ? { key: one.key } : {}), value: one.value })),
            run.started_by === null ? null : { name: "Started by", value: actorText(run.started_by) },
            data.header_names.length === 0 ? null : { name: "Headers", value: data.header_names.join(", ") },
            data.cookie_names.length === 0 ? null : { name: "Cookies", value: data.cookie_names.join(", ") },
          ]}
        />
      </Card>
      {rules.map(({ name, key, value }) => (
        <Card key={key} title={name}>
          <Code text={value} label={`Copy ${key}`} />
        </Card>
      ))}
    </div>
  );
}
