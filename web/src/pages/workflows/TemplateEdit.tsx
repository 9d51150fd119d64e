/** Edits a definition with live validation, and saves it as a new version. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { type Answer, call, type Problem } from "../../api/client.ts";
import { queryClient, useChange } from "../../api/query.ts";
import type { Template } from "../../api/types.ts";
import { pretty, readJson, same } from "./logic/flow-definition.ts";
import { count } from "../../logic/format.ts";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Textarea } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { ErrorBox } from "../../ui/States.tsx";
import { toast } from "../../ui/overlay/Toast.tsx";
import { Changes } from "./TemplateVersions.tsx";

const WAIT_MS = 400;

export function TemplateEdit({ name, from, newest }: { name: string; from: Template; newest: Template }) {
  const [, go] = useLocation();
  const [text, setText] = useState(() => pretty(from.definition));
  // A version saved meanwhile is not overwritten.
  const [base, setBase] = useState(newest.version);
  const settled = useSettled(text);
  const read = readJson(text);
  const isSame = "value" in read && same(read.value, newest.definition);
  const verdict = useVerdict(settled);
  const isChecked = settled === text && verdict.data !== undefined;
  const save = useChange("putTemplate", {
    invalidates: ["listTemplates", "listTemplateVersions", "getTemplate"],
    // Shows the other user's version beside the text.
    onError: ({ code }) => {
      if (code === "version_conflict") void queryClient.invalidateQueries({ queryKey: ["listTemplateVersions"] });
    },
    onSuccess: ({ version }) => {
      toast(`Saved as version ${version}.`);
      go(`/workflows/templates/${encodeURIComponent(name)}?tab=versions`);
    },
  });
  return (
    <div className="template-edit">
      <Card
        title={from.version === newest.version ? "Definition" : `Definition, from version ${from.version}`}
        actions={
          <>
            <Button size="small" onClick={() => setText(pretty(from.definition))}>
              Discard changes
            </Button>
            <Button
              size="small"
              kind="primary"
              needs="putTemplate"
              busy={save.isPending}
              disabled={!("value" in read) || isSame || !isChecked || verdict.data?.valid !== true}
              onClick={() => {
                if ("value" in read) save.mutate({ params: { name }, body: { definition: read.value, version: base } });
              }}
            >
              Save as a new version
            </Button>
          </>
        }
      >
        <Textarea
          label="Definition as JSON"
          bare
          rows={26}
          className="control control-area mono template-text-area"
          spellCheck={false}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            save.reset();
          }}
        />
      </Card>
      <div className="stack">
        <Card title="Check">
          <div role="status">
            {"error" in read ? (
              <CheckResult icon="warning" tone="bad" text={read.error} />
            ) : verdict.error !== null && settled === text ? (
              <ErrorBox error={verdict.error} onRetry={() => void verdict.refetch()} />
            ) : !isChecked ? (
              <CheckResult icon="spin" tone="neutral" text="Checking" />
            ) : verdict.data?.valid === true ? (
              <CheckResult icon="check" tone="good" text="The definition is valid." />
            ) : (
              <CheckResult icon="warning" tone="bad" text={`${count(verdict.data?.errors.length ?? 0, "error")}:`} />
            )}
          </div>
          {isChecked && "value" in read ? (
            <ul className="faults">
              {verdict.data?.errors.map(({ path, message }) => (
                <li key={`${path} ${message}`}>
                  <code className="wrap">{path.replace(/^definition\.?/, "")}</code>
                  <span className="wrap">{message}</span>
                </li>
              ))}
            </ul>
          ) : null}
        </Card>
        <Card title={`Compared with version ${newest.version}`} flush>
          {"value" in read ? (
            <Changes before={newest.definition} after={read.value} />
          ) : (
            <p className="soft diff-none">The differences appear when the text is valid JSON.</p>
          )}
        </Card>
        {save.error === null ? null : save.error.code === "version_conflict" ? (
          <Card title="Not saved">
            <div className="stack" role="alert">
              <p>
                Someone else saved version {newest.version} while you edited version {base}. The differences to your
                text are shown above.
              </p>
              <div className="row">
                <Button
                  size="small"
                  kind="primary"
                  onClick={() => {
                    setBase(newest.version);
                    save.reset();
                  }}
                >
                  Keep my text
                </Button>
                <Button
                  size="small"
                  onClick={() => {
                    setBase(newest.version);
                    setText(pretty(newest.definition));
                    save.reset();
                  }}
                >
                  Use version {newest.version}
                </Button>
              </div>
            </div>
          </Card>
        ) : (
          <ErrorBox error={save.error} title="Not saved." />
        )}
      </div>
    </div>
  );
}

/** The server's validation; skipped while the text is not JSON. */
function useVerdict(text: string) {
  const read = readJson(text);
  return useQuery<Answer<"validateWorkflow">, Problem>({
    queryKey: ["validateWorkflow", text],
    queryFn: ({ signal }) =>
      call("validateWorkflow", { body: { definition: "value" in read ? read.value : {} } }, { signal }),
    enabled: "value" in read,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

/** The debounced value. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), WAIT_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

function CheckResult({ icon, tone, text }: { icon: "check" | "warning" | "spin"; tone: string; text: string }) {
  return (
    <p className={`told tone-${tone}`}>
      <Icon name={icon} spin={icon === "spin"} />
      <span className="wrap">{text}</span>
    </p>
  );
}
