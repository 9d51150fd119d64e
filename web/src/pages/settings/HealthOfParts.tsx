import { useCall } from "../../api/query.ts";
import type { Health, Ready } from "../../api/types.ts";
import { capital, duration, sentence } from "../../logic/format.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Button, LinkButton } from "../../ui/Button.tsx";
import { Card, KeyValue } from "../../ui/Card.tsx";
import { useRefusal } from "../../ui/rights.ts";
import { ErrorBox, Skeleton } from "../../ui/States.tsx";
import { Duration } from "../../ui/Values.tsx";

/** Every component with its response time. */
export function HealthOfParts({ health }: { health: Health | undefined }) {
  const refusal = useRefusal("getReady");
  const ready = useCall("getReady", undefined, { refetchInterval: 10_000, retry: false, enabled: refusal === null });
  return (
    <div className="settings-columns">
      <Card
        title="Dependencies"
        flush
        actions={
          <Button
            size="small"
            icon="retry"
            needs="getReady"
            busy={ready.isFetching}
            onClick={() => void ready.refetch()}
          >
            Check again
          </Button>
        }
      >
        {refusal !== null ? (
          <p className="settings-message soft">{refusal}</p>
        ) : ready.error !== null ? (
          <div className="settings-message">
            <ErrorBox error={ready.error} title="A dependency of the server is not available." />
          </div>
        ) : ready.data === undefined ? (
          <div className="settings-message">
            <Skeleton lines={5} />
          </div>
        ) : (
          <ul className="plain-lines">
            {ready.data.checks.map((check) => (
              <Check key={check.name} check={check} />
            ))}
          </ul>
        )}
      </Card>
      <div className="stack">
        <Card title="This server">
          {health === undefined ? (
            <Skeleton lines={4} />
          ) : (
            <KeyValue
              pairs={[
                { name: "Version", value: health.version },
                { name: "Database", value: health.database === "sqlite" ? "SQLite" : "Postgres" },
                {
                  name: "Engine",
                  value: health.engine === "bullmq" ? "BullMQ (several processes)" : "Embedded (one process)",
                },
                { name: "Running for", value: <Duration ms={health.uptime_seconds * 1000} /> },
              ]}
            />
          )}
        </Card>
        <Card title="API">
          <p className="soft">Everything in this dashboard is also available in the API.</p>
          <div className="row settings-links">
            <LinkButton href="/docs" target="_blank" icon="external">
              API reference
            </LinkButton>
            <LinkButton href="/openapi.json" target="_blank" icon="external">
              OpenAPI
            </LinkButton>
            {health?.engine === "bullmq" ? (
              <LinkButton href="/admin/queues" target="_blank" icon="external">
                Redis queue (BullMQ)
              </LinkButton>
            ) : null}
          </div>
        </Card>
      </div>
    </div>
  );
}

function Check({ check: { name, status, latency_ms, message } }: { check: Ready["checks"][number] }) {
  return (
    <li>
      <div className="plain-line-main">
        <b className="settings-part">{sentence(name)}</b>
        {message === undefined ? null : <span className="soft wrap">{capital(message)}</span>}
      </div>
      <span className="row settings-check">
        <span className="soft num">{duration(latency_ms)}</span>
        <StatusBadge status={status} />
      </span>
    </li>
  );
}
