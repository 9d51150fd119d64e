import { useCall } from "../../api/query.ts";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { Tabs } from "../../ui/Tabs.tsx";
import { Alerts } from "./Alerts.tsx";
import { Browser } from "./Browser.tsx";
import { Configuration } from "./Configuration.tsx";
import { HealthOfParts } from "./HealthOfParts.tsx";
import { Sessions } from "./Sessions.tsx";
import "./settings.css";

/** Configuration and health of the server. */
export default function Settings() {
  const health = useCall("getHealth");
  return (
    <>
      <PageHeader
        title="Settings"
        note={
          health.data === undefined
            ? "Health, configuration, alerts and sessions of this server."
            : `Orbweaver ${health.data.version}`
        }
      />
      <Tabs
        label="Settings"
        tabs={[
          { id: "health", name: "Health", panel: () => <HealthOfParts health={health.data} /> },
          { id: "configuration", name: "Configuration", panel: () => <Configuration /> },
          { id: "alerts", name: "Alerts", panel: () => <Alerts /> },
          { id: "sessions", name: "Sessions", panel: () => <Sessions /> },
          { id: "browser", name: "This browser", panel: () => <Browser /> },
        ]}
      />
    </>
  );
}
