import { QueryClientProvider } from "@tanstack/react-query";
import { Component, lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { Route, Switch, useLocation } from "wouter";
import { call, whenUnauthorized } from "../api/client.ts";
import { live } from "../api/live.ts";
import { queryClient } from "../api/query.ts";
import { ErrorBox, PageSkeleton } from "../ui/States.tsx";
import { Login } from "./Login.tsx";
import { NotFound } from "./NotFound.tsx";
import { Shell } from "./Shell.tsx";

/** Every page is a file of its own, loaded when it is opened. */
const PAGES = [
  ["/", lazy(() => import("../pages/overview/Overview.tsx"))],
  ["/new", lazy(() => import("../pages/new/New.tsx"))],
  ["/runs", lazy(() => import("../pages/runs/Runs.tsx"))],
  ["/runs/:id", lazy(() => import("../pages/runs/Run.tsx"))],
  ["/workflows", lazy(() => import("../pages/workflows/Workflows.tsx"))],
  ["/workflows/templates/:name", lazy(() => import("../pages/workflows/Template.tsx"))],
  ["/workflows/:id", lazy(() => import("../pages/workflows/Workflow.tsx"))],
  ["/sites", lazy(() => import("../pages/sites/Sites.tsx"))],
  ["/sites/:site", lazy(() => import("../pages/sites/Site.tsx"))],
  ["/proxies", lazy(() => import("../pages/proxies/Proxies.tsx"))],
  ["/workers", lazy(() => import("../pages/workers/Workers.tsx"))],
  ["/queue", lazy(() => import("../pages/queue/Queue.tsx"))],
  ["/schedules", lazy(() => import("../pages/schedules/Schedules.tsx"))],
  ["/jobs", lazy(() => import("../pages/jobs/Jobs.tsx"))],
  ["/settings", lazy(() => import("../pages/settings/Settings.tsx"))],
] as const;

type Access = "asking" | "open" | "logged_in" | "refused" | { error: unknown };

export function App() {
  const [access, setAccess] = useState<Access>("asking");
  const [path, go] = useLocation();
  const ask = async () => {
    try {
      const { token_needed, logged_in } = await call("getLogin");
      setAccess(logged_in ? (token_needed ? "logged_in" : "open") : "refused");
    } catch (error) {
      setAccess({ error });
    }
  };
  useEffect(() => {
    const refuse = () => setAccess("refused");
    whenUnauthorized(refuse);
    live.onRefused = refuse;
    live.onReconnect = () => void queryClient.invalidateQueries();
    void ask();
  }, []);
  const inside = access === "open" || access === "logged_in";
  useEffect(() => (inside ? live.open() : undefined), [inside]);
  useEffect(() => {
    if (inside && path === "/login") go("/", { replace: true });
  }, [inside, path, go]);

  if (access === "asking") return null;
  if (access === "refused")
    return (
      <Login
        onDone={() => {
          queryClient.clear();
          setAccess("logged_in");
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
    queryClient.clear();
    setAccess("refused");
  };
  return (
    <QueryClientProvider client={queryClient}>
      <Shell onLogOut={access === "logged_in" ? () => void logOut() : null}>
        <Boundary key={path}>
          <Suspense fallback={<PageSkeleton />}>
            <Switch>
              {PAGES.map(([at, Page]) => (
                <Route key={at} path={at} component={Page} />
              ))}
              <Route component={NotFound} />
            </Switch>
          </Suspense>
        </Boundary>
      </Shell>
    </QueryClientProvider>
  );
}

/** A page that breaks says so, and leaves the rest in place. */
class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return <ErrorBox title="This page could not be shown." error={error} onRetry={() => location.reload()} />;
  }
}
