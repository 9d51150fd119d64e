import type { OperationName } from "../../api/client.ts";
import { useCall } from "../../api/query.ts";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { type Tab, Tabs } from "../../ui/Tabs.tsx";
import { useRefusals } from "../../ui/rights.ts";
import { AccessKeys } from "./access/AccessKeys.tsx";
import { AuditLog } from "./access/AuditLog.tsx";
import { Alerts } from "./Alerts.tsx";
import { Browser } from "./Browser.tsx";
import { Configuration } from "./Configuration.tsx";
import { HealthOfParts } from "./HealthOfParts.tsx";
import { Sessions } from "./Sessions.tsx";
import "./settings.css";

/** Configuration and health of the server. */
export default function Settings() {
  const health = useCall("getHealth");
  const refusalOf = useRefusals();
  const tabs: readonly (Tab & { needs?: OperationName })[] = [
    { id: "health", name: "Health", panel: () => <HealthOfParts health={health.data} /> },
    { id: "configuration", name: "Configuration", needs: "getConfig", panel: () => <Configuration /> },
    { id: "alerts", name: "Alerts", needs: "listAlerts", panel: () => <Alerts /> },
    { id: "sessions", name: "Sessions", needs: "listSessions", panel: () => <Sessions /> },
    { id: "keys", name: "Access keys", needs: "listKeys", panel: () => <AccessKeys /> },
    { id: "audit", name: "Audit log", needs: "listAuditLog", panel: () => <AuditLog /> },
    { id: "browser", name: "This browser", panel: () => <Browser /> },
  ];
  return (
    <>
      <PageHeader
        title="Settings"
        note={
          health.data === undefined
            ? "Health, configuration, sessions and access of this server."
            : `Orbweaver ${health.data.version}`
        }
      />
      <Tabs label="Settings" tabs={tabs.filter(({ needs }) => refusalOf(needs) === null)} />
    </>
  );
}
