import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { useChange } from "../../api/query.ts";
import { completeUrl } from "../../logic/overview.ts";
import { Button } from "../../ui/Button.tsx";
import { Input } from "../../ui/Field.tsx";
import { ErrorBox } from "../../ui/States.tsx";

/** The shortest way to a first crawl: a URL and a button. */
export function StartCrawl() {
  const [, go] = useLocation();
  const [url, setUrl] = useState("");
  const [wrong, setWrong] = useState<string | undefined>(undefined);
  const start = useChange("startCrawl", {
    invalidates: ["listRuns", "getOverview"],
    onSuccess: ({ task_id }) => go(`/runs/${task_id}`),
  });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const fullUrl = completeUrl(url);
    if (fullUrl === null) return setWrong("Enter a URL such as https://example.com");
    return start.mutate({ body: { url: fullUrl } });
  };
  const field = start.error?.fields.find(({ path }) => path.startsWith("url"));
  return (
    <form className="start-crawl" onSubmit={onSubmit} noValidate>
      <Input
        label="URL"
        type="url"
        inputMode="url"
        placeholder="https://example.com"
        autoComplete="url"
        spellCheck={false}
        value={url}
        error={wrong ?? field?.message}
        onChange={(event) => {
          setUrl(event.target.value);
          setWrong(undefined);
          start.reset();
        }}
      />
      <Button kind="primary" type="submit" needs="startCrawl" busy={start.isPending}>
        Start crawl
      </Button>
      {start.error === null || field !== undefined ? null : <ErrorBox error={start.error} />}
    </form>
  );
}
