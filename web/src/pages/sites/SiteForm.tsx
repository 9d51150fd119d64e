import { type FormEvent, useState } from "react";
import type { Input as CallInput } from "../../api/client.ts";
import { queryClient } from "../../api/query.ts";
import type { Site } from "../../api/types.ts";
import { capital, sentence } from "../../logic/format.ts";
import { readNumber, showNumber, SITE_LIMITS, type SiteLimit } from "../../logic/limits.ts";
import { readSites } from "../../logic/sites.ts";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Input, Select } from "../../ui/Field.tsx";
import { ErrorBox } from "../../ui/States.tsx";
import { toast } from "../../ui/overlay/Toast.tsx";
import { perSecond } from "./columns.tsx";
import type { SiteActions } from "./useSites.ts";

type Change = NonNullable<CallInput<"changeSite">["body"]>;
type Draft = Record<SiteLimit | "group" | "depends_on" | "strategy" | "respect_robots", string>;

const draftOf = (site: Site): Draft => ({
  max_concurrency: showNumber(site.max_concurrency),
  requests_per_second: showNumber(site.requests_per_second),
  burst: showNumber(site.burst),
  min_delay_ms: showNumber(site.min_delay_ms),
  max_memory_mb: showNumber(site.max_memory_mb),
  shards: String(site.shards),
  group: site.group ?? "",
  depends_on: site.depends_on.join(", "),
  strategy: site.strategy ?? "",
  respect_robots: site.respect_robots === null ? "" : String(site.respect_robots),
});

const STRATEGIES = [
  { value: "", name: "Server default" },
  { value: "auto", name: "Automatic" },
  { value: "http", name: "Plain requests" },
  { value: "browser", name: "Browser" },
  { value: "api_replay", name: "API replay" },
];

const ROBOTS = [
  { value: "", name: "As set in each run" },
  { value: "true", name: "Always obey it" },
  { value: "false", name: "Ignore it" },
];

/** All settings of a site, saved together. */
export function SiteForm({ site, actions }: { site: Site; actions: SiteActions }) {
  const [draft, setDraft] = useState<Partial<Draft>>({});
  const [wrong, setWrong] = useState<Partial<Record<keyof Draft, string>>>({});
  /** The version when the first field was changed, so that later changes of others are not overwritten. */
  const [begun, setBegun] = useState<Site | null>(null);
  const saved = draftOf(site);
  const { effective } = site;
  const { change } = actions;
  const changed = (Object.keys(draft) as (keyof Draft)[]).filter((key) => draft[key] !== saved[key]);
  const field = (key: keyof Draft) => ({
    value: draft[key] ?? saved[key],
    error: wrong[key] ?? change.error?.fields.find(({ path }) => path.startsWith(key))?.message,
    onChange: (event: { target: { value: string } }) => {
      setDraft((old) => ({ ...old, [key]: event.target.value }));
      setBegun((old) => old ?? site);
      setWrong((old) => ({ ...old, [key]: undefined }));
    },
  });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const body: Change = {};
    const mistakes: Partial<Record<keyof Draft, string>> = {};
    for (const key of changed) {
      const text = draft[key] ?? "";
      if (key === "group") body.group = text.trim() === "" ? null : text.trim();
      else if (key === "depends_on") body.depends_on = readSites(text);
      else if (key === "strategy") body.strategy = text === "" ? null : (text as NonNullable<Change["strategy"]>);
      else if (key === "respect_robots") body.respect_robots = text === "" ? null : text === "true";
      else {
        const read = readNumber(text, SITE_LIMITS[key]);
        if ("error" in read) mistakes[key] = capital(read.error);
        else body[key] = read.value;
      }
    }
    setWrong(mistakes);
    if (Object.keys(mistakes).length > 0) return;
    change.mutate(
      { params: { site: site.site }, body: { ...body, ...(begun === null ? {} : { version: begun.version }) } },
      {
        onSuccess: () => {
          setDraft({});
          setBegun(null);
          toast(`Saved. Applies to ${site.site} within a second.`);
        },
        onError: ({ code }) => {
          if (code === "version_conflict") void queryClient.invalidateQueries({ queryKey: ["getSite"] });
        },
      },
    );
  };
  const isStale = change.error?.code === "version_conflict";
  const before = begun === null ? saved : draftOf(begun);
  const theirs = (Object.keys(saved) as (keyof Draft)[]).filter((key) => saved[key] !== before[key]);
  const named = change.error?.fields.some(({ path }) => (path.split(/[.[]/)[0] as keyof Draft) in saved) ?? false;
  return (
    <Card title="Settings">
      <form className="site-form" onSubmit={onSubmit} noValidate>
        <Input
          label="Concurrency"
          inputMode="numeric"
          placeholder={String(effective.max_concurrency)}
          help="Maximum requests in flight"
          {...field("max_concurrency")}
        />
        <Input
          label="Rate"
          inputMode="decimal"
          placeholder={perSecond(effective.requests_per_second)}
          help="Requests per second"
          {...field("requests_per_second")}
        />
        <Input
          label="Delay"
          inputMode="numeric"
          placeholder={String(effective.min_delay_ms)}
          help={
            site.crawl_delay_ms === null
              ? "Milliseconds between two requests"
              : `Milliseconds between two requests; robots.txt asks for ${site.crawl_delay_ms}`
          }
          {...field("min_delay_ms")}
        />
        <Input
          label="Burst"
          inputMode="numeric"
          placeholder={String(effective.burst ?? 1)}
          help="Requests that may be sent at once before the rate applies"
          {...field("burst")}
        />
        <Input
          label="Memory"
          inputMode="numeric"
          placeholder="any"
          help="Megabytes for its open browser pages"
          {...field("max_memory_mb")}
        />
        <Input
          label="Shards"
          inputMode="numeric"
          help="Parts of the site that different workers can fetch at the same time. 1 suits most sites."
          {...field("shards")}
        />
        <Select
          label="Strategy"
          choices={STRATEGIES}
          help="How pages of this site are fetched"
          {...field("strategy")}
        />
        <Select label="Robots.txt" choices={ROBOTS} help="Whether its rules are obeyed" {...field("respect_robots")} />
        <Input label="Group" placeholder="none" help="Sites in one group share their limits" {...field("group")} />
        <Input
          label="Waits for"
          placeholder="no other site"
          help="Sites that must finish first"
          {...field("depends_on")}
        />
        {!isStale ? null : (
          <div className="site-form-wide site-conflict" role="alert">
            <p className="wrap">
              These settings were changed by someone else while you were editing. Nothing was saved.{" "}
              {theirs
                .map(
                  (key) => `${sentence(key)}: ${before[key] || "server default"} → ${saved[key] || "server default"}`,
                )
                .join("; ")}
            </p>
            <div className="row">
              <Button
                size="small"
                onClick={() => {
                  setBegun(site);
                  change.reset();
                }}
              >
                Apply my changes on top
              </Button>
            </div>
          </div>
        )}
        {change.error === null || named || isStale ? null : (
          <div className="site-form-wide">
            <ErrorBox error={change.error} />
          </div>
        )}
        <div className="site-form-wide row">
          <Button
            kind="primary"
            type="submit"
            needs="changeSite"
            disabled={changed.length === 0}
            busy={change.isPending}
          >
            Save
          </Button>
          {changed.length === 0 ? null : (
            <Button
              kind="quiet"
              onClick={() => {
                setDraft({});
                setBegun(null);
                setWrong({});
                change.reset();
              }}
            >
              Discard
            </Button>
          )}
          <span className="soft">Empty fields use the defaults for all sites.</span>
        </div>
      </form>
    </Card>
  );
}
