import { useQueries } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { call } from "../../api/client.ts";
import { keyOf, useCall, useChange } from "../../api/query.ts";
import type { ConcurrencyKey } from "../../api/types.ts";
import { CONCURRENCY_KEY_LIMIT } from "../../logic/limits.ts";
import { concurrencyKeys } from "../../logic/lanes.ts";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { EditableNumber } from "../../ui/table/EditableNumber.tsx";
import { Input } from "../../ui/Field.tsx";
import { EmptyState } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";

/** Limits shared by items of several sites, such as an API quota. */
export function ConcurrencyKeys() {
  const [asked, setAsked] = useState<readonly string[]>([]);
  const [text, setText] = useState("");
  const config = useCall("getConfig");
  const items = useCall("listQueueItems", { query: { limit: 1000 } });
  const configured = config.data?.find(({ name }) => name === "APP_MAX_PER_CONCURRENCY_KEY")?.value ?? null;
  const names = [...new Set([...concurrencyKeys(configured, items.data ?? []), ...asked])];
  const keys = useQueries({
    queries: names.map((name) => ({
      queryKey: keyOf("getConcurrencyKey", { params: { name } }),
      queryFn: () => call("getConcurrencyKey", { params: { name } }),
    })),
  });
  const set = useChange("setConcurrencyKey", { invalidates: ["getConcurrencyKey"], onError: toastError });
  const save = (name: string, limit: number | null, before: number | null) =>
    set.mutate(
      { params: { name }, body: { limit } },
      {
        onSuccess: () =>
          toast(`${name}: ${limit === null ? "server default" : `at most ${limit} at a time`}`, "good", {
            name: "Undo",
            run: () => set.mutate({ params: { name }, body: { limit: before } }),
          }),
      },
    );
  const columns: readonly Column<ConcurrencyKey>[] = [
    { id: "name", name: "Concurrency key", width: "minmax(0, 1fr)", phone: "head", cell: (row) => row.concurrency_key },
    {
      id: "limit",
      name: "Limit",
      width: "120px",
      cell: ({ concurrency_key: key, limit, configured: usual }) => (
        <EditableNumber
          label={`Limit of ${key}`}
          value={limit === usual ? null : limit}
          inherited={usual === null ? "no limit" : String(usual)}
          rule={CONCURRENCY_KEY_LIMIT}
          needs="setConcurrencyKey"
          onSave={(value) => save(key, value, limit === usual ? null : limit)}
        />
      ),
    },
    {
      id: "configured",
      name: "Configured",
      width: "120px",
      align: "end",
      cell: ({ configured: usual }) => <span className="num">{usual ?? "no limit"}</span>,
    },
  ];
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const name = text.trim();
    if (name !== "") setAsked((old) => [...old, name]);
    setText("");
  };
  return (
    <div className="stack">
      <form className="queue-ask" onSubmit={onSubmit}>
        <Input
          label="Concurrency key"
          bare
          placeholder="Concurrency key"
          pattern="[A-Za-z0-9_.:\-]+"
          maxLength={128}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit">Show</Button>
      </form>
      <Card flush>
        <Table
          label="Concurrency keys"
          columns={columns}
          rows={keys.flatMap(({ data }) => (data === undefined ? [] : [data]))}
          keyOf={(row) => row.concurrency_key}
          empty={
            <EmptyState icon="queue" title="No item has a concurrency key">
              Items with the same concurrency key share one limit across all sites: the quota of an API, for example.
              Give items a <code>concurrency_key</code>; <code>APP_MAX_PER_CONCURRENCY_KEY</code> sets the limits.
            </EmptyState>
          }
        />
      </Card>
    </div>
  );
}
