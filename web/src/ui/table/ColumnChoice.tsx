import { useState } from "react";
import { shownColumns } from "../../logic/table.ts";
import { Icon } from "../Icon.tsx";
import { Menu } from "../overlay/Menu.tsx";
import type { Column } from "./Table.tsx";

/** Visible columns of a table, stored in this browser under `name`. */
export function useColumns<Row>(name: string, columns: readonly Column<Row>[]) {
  const key = `orb.columns.${name}`;
  const [chosen, setChosen] = useState<readonly string[] | null>(() => {
    try {
      const stored: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
      return Array.isArray(stored) ? stored.map(String) : null;
    } catch {
      return null;
    }
  });
  const shown = shownColumns(columns, chosen);
  const isShown = (id: string) => shown.some((column) => column.id === id);
  const menu = (
    <Menu
      label="Choose columns"
      trigger={<Icon name="columns" />}
      className="button button-plain button-icon"
      items={columns.map(({ id, name: title }) => ({
        name: title,
        checked: isShown(id),
        onChoose: () => {
          const next = columns.map((column) => column.id).filter((one) => (one === id ? !isShown(id) : isShown(one)));
          if (next.length === 0) return;
          setChosen(next);
          localStorage.setItem(key, JSON.stringify(next));
        },
      }))}
    />
  );
  return { shown, menu };
}
