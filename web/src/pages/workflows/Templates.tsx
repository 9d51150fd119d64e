import { Link } from "wouter";
import { useCall } from "../../api/query.ts";
import type { Template } from "../../api/types.ts";
import { outlineOf } from "./logic/flow-definition.ts";
import { count } from "../../logic/format.ts";
import { Badge } from "../../ui/Badge.tsx";
import { LinkButton } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { ErrorBox, Skeleton } from "../../ui/States.tsx";
import { Time } from "../../ui/Values.tsx";

const templateHref = (name: string) => `/workflows/templates/${encodeURIComponent(name)}`;
export const startHref = (name: string) => `/new?kind=workflow&template=${encodeURIComponent(name)}`;

export function Templates() {
  const templates = useCall("listTemplates");
  if (templates.data === undefined)
    return templates.error === null ? (
      <Skeleton lines={3} height={110} />
    ) : (
      <ErrorBox error={templates.error} onRetry={() => void templates.refetch()} />
    );
  return (
    <div className="stack">
      <div className="templates">
        {templates.data.map((template) => (
          <TemplateCard key={template.name} template={template} />
        ))}
      </div>
      <div className="templates-own">
        <p className="soft">Save your own template from a definition file:</p>
        <Code text="orb workflows templates put my-template flow.yaml" label="Copy the command" />
      </div>
    </div>
  );
}

function TemplateCard({
  template: { name, version, built_in, description, definition, created_at },
}: {
  template: Template;
}) {
  const { steps, params } = outlineOf(definition);
  return (
    <Card className="template-card">
      <div className="template-head">
        <h2>
          <Link href={templateHref(name)} className="wrap">
            {name}
          </Link>
        </h2>
        <Badge tone={built_in ? "neutral" : "info"}>{built_in ? "Built in" : `Version ${version}`}</Badge>
      </div>
      <p className="template-text wrap">{description ?? "No description."}</p>
      <p className="soft template-facts">
        <span>{count(steps.length, "step")}</span>
        <span>{params.length === 0 ? "no parameters" : count(params.length, "parameter")}</span>
        {created_at === null ? null : (
          <span>
            saved <Time at={created_at} />
          </span>
        )}
      </p>
      <div className="row">
        <LinkButton href={startHref(name)} size="small" icon="runs" needs="createWorkflow" aria-label={`Use ${name}`}>
          Use
        </LinkButton>
        <LinkButton href={templateHref(name)} size="small" aria-label={`Open ${name}`}>
          Open
        </LinkButton>
      </div>
    </Card>
  );
}
