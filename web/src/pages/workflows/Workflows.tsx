import { useCall } from "../../api/query.ts";
import { NewButton } from "../../ui/NewButton.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { Tabs } from "../../ui/Tabs.tsx";
import { FlowRuns } from "./FlowRuns.tsx";
import { Templates } from "./Templates.tsx";
import "./workflows.css";

/** Workflow runs and templates. */
export default function Workflows() {
  const templates = useCall("listTemplates");
  return (
    <>
      <PageHeader
        title="Workflows"
        note="Steps that depend on each other: crawl, download, validate, export, notify."
        actions={
          <NewButton href="/new?kind=workflow" kind="primary">
            New workflow
          </NewButton>
        }
      />
      <Tabs
        label="Workflows"
        tabs={[
          { id: "runs", name: "Runs", panel: () => <FlowRuns /> },
          {
            id: "templates",
            name: "Templates",
            ...(templates.data === undefined ? {} : { count: templates.data.length }),
            panel: () => <Templates />,
          },
        ]}
      />
    </>
  );
}
