import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { useOwnRights } from "../api/rights.ts";
import { refusalOf, roleOf } from "../logic/rights.ts";
import { PageHeader } from "../ui/PageHeader.tsx";
import { EmptyState, PageSkeleton } from "../ui/States.tsx";
import { pageOf } from "./nav.ts";

/** The page, or why the caller may not see it: an address may come from somebody with other rights. */
export function Allowed({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  const { data, isPending } = useOwnRights();
  const { name = "", needs } = pageOf(path) ?? {};
  if (needs === undefined) return children;
  // Otherwise its calls would be refused first.
  if (isPending && roleOf(needs) !== "viewer") return <PageSkeleton />;
  const refusal = refusalOf(data ?? null, needs);
  if (refusal === null) return children;
  // A limited key is led to the runs.
  if (path === "/") return <PageSkeleton />;
  return (
    <>
      <PageHeader title={name} />
      <EmptyState icon="person" title="You may not see this page">
        {refusal}
      </EmptyState>
    </>
  );
}
