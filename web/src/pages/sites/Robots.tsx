import { type FormEvent, useState } from "react";
import { useCall } from "../../api/query.ts";
import type { SiteRobots } from "../../api/types.ts";
import { count, duration } from "../../logic/format.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card, KeyValue } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { Input } from "../../ui/Field.tsx";
import { ErrorBox, Skeleton } from "../../ui/States.tsx";
import { Time } from "../../ui/Values.tsx";

/** The site's robots.txt, and what it means for a URL. */
export function Robots({ site }: { site: string }) {
  const [text, setText] = useState("");
  const [path, setPath] = useState("");
  const query = useCall("getSiteRobots", { params: { site } });
  // A separate query, so that the text stays whatever the answer.
  const asked = useCall("getSiteRobots", { params: { site }, query: { path } }, { enabled: path !== "" });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const wanted = text.trim();
    setPath(wanted === "" || wanted.startsWith("/") ? wanted : `/${wanted}`);
  };
  const { data } = query;
  return (
    <Card title="Robots.txt">
      {data === undefined ? (
        query.error === null ? (
          <Skeleton lines={4} />
        ) : (
          <ErrorBox error={query.error} onRetry={() => void query.refetch()} />
        )
      ) : data.origins.length === 0 ? (
        <p className="soft">Not fetched yet. It is fetched before the first page of a run that obeys it.</p>
      ) : (
        <div className="site-robots">
          <form className="site-ask" onSubmit={onSubmit}>
            <Input
              label="May this path be fetched?"
              placeholder="/some/page"
              maxLength={2000}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
            <Button type="submit" busy={asked.isFetching}>
              Check
            </Button>
          </form>
          {asked.error === null ? null : <ErrorBox error={asked.error} onRetry={() => void asked.refetch()} />}
          {data.origins.map((origin) => (
            <Origin
              key={origin.origin}
              origin={origin}
              agent={data.user_agent}
              path={path}
              allowed={asked.data?.origins.find((one) => one.origin === origin.origin)?.allowed ?? null}
            />
          ))}
        </div>
      )}
    </Card>
  );
}

function Origin({
  origin,
  agent,
  path,
  allowed,
}: {
  origin: SiteRobots["origins"][number];
  agent: string;
  path: string;
  /** Null: no path requested. */
  allowed: boolean | null;
}) {
  return (
    <>
      {allowed === null ? null : (
        <p role="status" className="row">
          <Badge tone={allowed ? "good" : "bad"}>{allowed ? "Allowed" : "Not allowed"}</Badge>
          <code className="wrap">{path}</code>
        </p>
      )}
      <KeyValue
        pairs={[
          { name: "Origin", value: origin.origin },
          { name: "Fetched", value: <Time at={origin.fetched_at} /> },
          {
            name: `Rules for ${agent}`,
            value: origin.rules.length === 0 ? "none: everything is allowed" : count(origin.rules.length, "rule"),
          },
          origin.crawl_delay_seconds === null
            ? null
            : { name: "Crawl delay", value: duration(origin.crawl_delay_seconds * 1000) },
          origin.sitemaps.length === 0
            ? null
            : { name: "Sitemaps", value: <span className="wrap">{origin.sitemaps.join(", ")}</span> },
        ]}
      />
      {origin.text.trim() === "" ? null : <Code text={origin.text} label="Copy robots.txt" />}
    </>
  );
}
