/** Writes models in the format of `src/extract/main-content/trees.ts`. */
import { OWN_COLUMNS } from "../../src/extract/main-content/columns.ts";
import type { BoostedModel, TreeNode } from "./boosting.ts";

export function writeModel(content: BoostedModel, types: readonly BoostedModel[]): string {
  const all = [content, ...types];
  const used = [...new Set(all.flatMap(({ trees }) => trees.flatMap(columnsOf)))].filter(
    (column) => column < OWN_COLUMNS.length,
  );
  // The columns of the page types follow those that are used.
  const places = new Map(used.map((column, index) => [column, index]));
  const placeOf = (column: number) => places.get(column) ?? column - OWN_COLUMNS.length + used.length;
  const number = (value: number) => String(Number(value.toPrecision(4)));
  const write = (node: TreeNode): string =>
    "value" in node
      ? `=${number(node.value)}`
      : `${placeOf(node.column)}<${number(node.limit)} ${write(node.left)} ${write(node.right)}`;
  const parts = ({ base, trees }: BoostedModel) => [number(base), ...trees.map(write)];
  return `/** Made by \`npm run bench -- content FOLDER … --train\`; not written by hand. */
export const COLUMN_NAMES =
  "${used.map((column) => OWN_COLUMNS[column]!).join(" ")}";
export const CONTENT = \`
${parts(content).join("\n")}
\`;
/** In the order of PAGE_TYPES. */
export const TYPES = [
${types.map((model) => `  \`${parts(model).join(";")}\`,`).join("\n")}
];
`;
}

function columnsOf(node: TreeNode): number[] {
  return "value" in node ? [] : [node.column, ...columnsOf(node.left), ...columnsOf(node.right)];
}
