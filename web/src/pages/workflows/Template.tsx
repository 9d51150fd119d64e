import { useState } from "react";
import { useLocation, useParams, useSearchParams } from "wouter";
import { useCall, useChange } from "../../api/query.ts";
import type { Template as TemplateView } from "../../api/types.ts";
import { pretty } from "./logic/flow-definition.ts";
import { Badge } from "../../ui/Badge.tsx";
import { LinkButton } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { Confirm } from "../../ui/overlay/Dialog.tsx";
import { Select } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/overlay/Menu.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { ErrorBox, PageSkeleton } from "../../ui/States.tsx";
import { Tabs } from "../../ui/Tabs.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { TemplateEdit } from "./TemplateEdit.tsx";
import { TemplateOutline } from "./TemplateOutline.tsx";
import { TemplateVersions } from "./TemplateVersions.tsx";
import { startHref } from "./Templates.tsx";
import "./workflows.css";
import "./template.css";

const BACK = { href: "/workflows?tab=templates", name: "Templates" };

export default function Template() {
  const { name = "" } = useParams<{ name: string }>();
  const versions = useCall("listTemplateVersions", { params: { name } });
  if (versions.data === undefined || versions.data.length === 0) {
    if (versions.error === null && versions.data === undefined) return <PageSkeleton />;
    return (
      <>
        <PageHeader title={name} back={BACK} />
        <ErrorBox
          error={versions.error ?? new Error(`There is no template ${name}. It may have been deleted.`)}
          onRetry={() => void versions.refetch()}
        />
      </>
    );
  }
  // Newest first, whatever order they come in.
  return <Shown name={name} versions={versions.data.toSorted((a, b) => b.version - a.version)} />;
}

function Shown({ name, versions }: { name: string; versions: readonly TemplateView[] }) {
  const [search, setSearch] = useSearchParams();
  const newest = versions[0] as TemplateView;
  const shown = versions.find(({ version }) => String(version) === search.get("version")) ?? newest;
  const choose = (version: string, toRead = false) =>
    setSearch(
      (old) => {
        const next = new URLSearchParams(old);
        if (version === String(newest.version)) next.delete("version");
        else next.set("version", version);
        if (toRead) next.delete("tab");
        return next;
      },
      { replace: true },
    );
  return (
    <div className="stack template-page">
      <PageHeader
        title={name}
        back={BACK}
        badge={
          <Badge tone={shown.built_in ? "neutral" : "info"}>
            {shown.built_in ? "Built in" : `Version ${shown.version}`}
          </Badge>
        }
        note={shown.description ?? undefined}
        actions={
          <>
            {versions.length > 1 ? (
              <Select
                label="Version shown"
                bare
                value={String(shown.version)}
                choices={versions.map(({ version, built_in }) => ({
                  value: String(version),
                  name: `Version ${version}${version === newest.version ? ", newest" : ""}${built_in ? ", built in" : ""}`,
                }))}
                onChange={({ target }) => choose(target.value)}
              />
            ) : null}
            <LinkButton href={startHref(name)} kind="primary" icon="runs" needs="createWorkflow">
              Use
            </LinkButton>
            <Remove name={name} versions={versions} />
          </>
        }
      />
      <Tabs
        label="Template"
        tabs={[
          { id: "structure", name: "Structure", panel: () => <TemplateOutline definition={shown.definition} /> },
          {
            id: "json",
            name: "JSON",
            panel: () => (
              <Card>
                <Code text={pretty(shown.definition)} label="Copy the definition" />
              </Card>
            ),
          },
          {
            id: "versions",
            name: "Versions",
            count: versions.length,
            panel: () => <TemplateVersions versions={versions} onShow={(version) => choose(version, true)} />,
          },
          {
            id: "edit",
            name: "Edit",
            panel: () => <TemplateEdit key={shown.version} name={name} from={shown} newest={newest} />,
          },
        ]}
      />
    </div>
  );
}

/** Only saved versions can be deleted; a built-in template is restored then. */
function Remove({ name, versions }: { name: string; versions: readonly TemplateView[] }) {
  const [, go] = useLocation();
  const [asks, setAsks] = useState(false);
  const isBuiltIn = versions.some(({ built_in }) => built_in);
  const remove = useChange("deleteTemplate", {
    invalidates: ["listTemplates", "listTemplateVersions"],
    onSuccess: () => {
      toast(isBuiltIn ? "The built-in template is restored." : "The template is deleted.");
      if (!isBuiltIn) go("/workflows?tab=templates");
    },
    onError: toastError,
  });
  if (versions.every(({ built_in }) => built_in)) return null;
  const verb = isBuiltIn ? "Delete saved versions" : "Delete template";
  return (
    <>
      <Menu
        label="More"
        trigger={<Icon name="more" />}
        items={[{ name: verb, icon: "trash", danger: true, needs: "deleteTemplate", onChoose: () => setAsks(true) }]}
      />
      <Confirm
        open={asks}
        onClose={() => setAsks(false)}
        onConfirm={() => {
          setAsks(false);
          remove.mutate({ params: { name } });
        }}
        title={isBuiltIn ? `Delete the saved versions of ${name}?` : `Delete ${name}?`}
        verb={verb}
        danger
      >
        {isBuiltIn
          ? "The built-in template is used again. Runs keep the version they started with."
          : "All versions are deleted. Runs keep the version they started with; jobs that use it can no longer start."}
      </Confirm>
    </>
  );
}
