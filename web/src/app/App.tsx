import { QueryClientProvider } from "@tanstack/react-query";
import { Suspense, useEffect, useState } from "react";
import { Route, Switch, useLocation } from "wouter";
import { type Answer, call, loggedIn, whenUnauthorized } from "../api/client.ts";
import { live } from "../api/live.ts";
import { queryClient } from "../api/query.ts";
import { clearDrafts } from "../pages/new/useDraft.ts";
import { ErrorBox, PageSkeleton } from "../ui/States.tsx";
import { Allowed } from "./Allowed.tsx";
import { Boundary } from "./Boundary.tsx";
import { LoginAgain, LoginPage } from "./Login.tsx";
import { NotFound } from "./NotFound.tsx";
import { part } from "./part.ts";
import { Shell } from "./Shell.tsx";
import { WithRights } from "./WithRights.tsx";

/** Every page is a separate chunk, loaded when it is opened. */
const PAGES = [
  ["/", part(() => import("../pages/overview/Overview.tsx"))],
  ["/new", part(() => import("../pages/new/New.tsx"))],
  ["/runs", part(() => import("../pages/runs/list/Runs.tsx"))],
  ["/runs/:id", part(() => import("../pages/runs/Run.tsx"))],
  ["/workflows", part(() => import("../pages/workflows/Workflows.tsx"))],
  ["/workflows/templates/:name", part(() => import("../pages/workflows/Template.tsx"))],
  ["/workflows/:id", part(() => import("../pages/workflows/Workflow.tsx"))],
  ["/sites", part(() => import("../pages/sites/Sites.tsx"))],
  ["/sites/:site", part(() => import("../pages/sites/Site.tsx"))],
  ["/proxies", part(() => import("../pages/proxies/Proxies.tsx"))],
  ["/workers", part(() => import("../pages/workers/Workers.tsx"))],
  ["/queue", part(() => import("../pages/queue/Queue.tsx"))],
  ["/schedules", part(() => import("../pages/schedules/Schedules.tsx"))],
  ["/jobs", part(() => import("../pages/jobs/Jobs.tsx"))],
  ["/jobs/:id/quality", part(() => import("../pages/quality/Quality.tsx"))],
  ["/jobs/:id/changes", part(() => import("../pages/changes/Changes.tsx"))],
  ["/jobs/:id/versions", part(() => import("../pages/versions/Versions.tsx"))],
  ["/notifications", part(() => import("../pages/notifications/Notifications.tsx"))],
  ["/live-views/:id", part(() => import("../pages/live-view/LiveView.tsx"))],
  ["/settings", part(() => import("../pages/settings/Settings.tsx"))],
] as const;

/** `expired`: the login ended; the page stays on the screen until the user logs in again. */
type Access = "asking" | "open" | "logged_in" | "expired" | "refused" | { error: unknown };

const isInside = (access: Access) => access === "open" || access === "logged_in" || access === "expired";

export function App() {
  const [access, setAccess] = useState<Access>("asking");
  const [login, setLogin] = useState<Answer<"getLogin"> | null>(null);
  const [path, go] = useLocation();
  const ask = async () => {
    try {
      const found = await call("getLogin");
      setLogin(found);
      setAccess(found.logged_in ? (found.can_log_out ? "logged_in" : "open") : "refused");
    } catch (error) {
      setAccess({ error });
    }
  };
  useEffect(() => {
    const refuse = () => setAccess((old) => (isInside(old) ? "expired" : "refused"));
    whenUnauthorized(refuse);
    live.onRefused = refuse;
    live.onReconnect = () => void queryClient.invalidateQueries();
    void ask();
  }, []);
  const inside = isInside(access);
  useEffect(() => {
    if (inside && path === "/login") go("/", { replace: true });
  }, [inside, path, go]);

  if (access === "asking") return null;
  const onLoggedIn = () => {
    setAccess("logged_in");
    loggedIn();
    // Perhaps by another key.
    void queryClient.invalidateQueries();
    // Who it is now is only shown.
    call("getLogin").then(setLogin, () => {});
  };
  if (access === "refused")
    return (
      <LoginPage
        login={login}
        onDone={() => {
          queryClient.clear();
          onLoggedIn();
        }}
      />
    );
  if (typeof access === "object")
    return (
      <main className="page">
        <ErrorBox error={access.error} onRetry={() => void ask()} />
      </main>
    );
  const logOut = async () => {
    await call("logOut").catch(() => {});
    clearDrafts();
    queryClient.clear();
    setLogin((old) => old && { ...old, sign_in_error: null });
    await ask();
  };
  return (
    <QueryClientProvider client={queryClient}>
      <WithRights hears={access !== "expired"}>
        <Shell onLogOut={login?.can_log_out === false ? null : () => void logOut()}>
          <Boundary key={path}>
            <Suspense fallback={<PageSkeleton />}>
              <Allowed>
                <Switch>
                  {PAGES.map(([at, Page]) => (
                    <Route key={at} path={at} component={Page} />
                  ))}
                  <Route component={NotFound} />
                </Switch>
              </Allowed>
            </Suspense>
          </Boundary>
        </Shell>
      </WithRights>
      {access === "expired" ? <LoginAgain login={login} onDone={onLoggedIn} /> : null}
    </QueryClientProvider>
  );
}
