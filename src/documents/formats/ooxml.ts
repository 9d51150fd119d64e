/** What Word, Excel and PowerPoint files have in common: relationships and properties. */
import type { DocumentFacts } from "../html.ts";
import { readXml } from "../xml.ts";
import type { ZipFile } from "../zip.ts";

interface Relationship {
  type: string;
  /** A part of the file, or the address of something outside. */
  target: string;
  isExternal: boolean;
}

/** By id, as the part names them. */
export async function relationshipsOf(zip: ZipFile, part: string): Promise<Map<string, Relationship>> {
  const slash = part.lastIndexOf("/");
  const folder = part.slice(0, slash + 1);
  const found = new Map<string, Relationship>();
  readXml(await zip.textIfAny(`${folder}_rels/${part.slice(slash + 1)}.rels`), {
    open(name, { Id = "", Type = "", Target = "", TargetMode = "" }) {
      if (name !== "Relationship") return;
      const isExternal = TargetMode === "External";
      found.set(Id, {
        type: Type.slice(Type.lastIndexOf("/") + 1),
        target: isExternal ? Target : partName(folder, Target),
        isExternal,
      });
    },
  });
  return found;
}

/** The main part of the file by its relationships, else by its usual name. */
export async function mainPart(zip: ZipFile, usual: string): Promise<string> {
  for (const { type, target } of (await relationshipsOf(zip, "")).values())
    if (type === "officeDocument" && zip.has(target)) return target;
  return usual;
}

/** The part that has this type of relationship, else the usual one. */
export function partOfType(
  zip: ZipFile,
  relations: ReadonlyMap<string, Relationship>,
  wanted: string,
  usual: string,
): string {
  for (const { type, target, isExternal } of relations.values())
    if (type === wanted && !isExternal && zip.has(target)) return target;
  return usual;
}

function partName(folder: string, target: string): string {
  const path = target.startsWith("/") ? target : `/${folder}${target}`;
  return decodeURI(new URL(path, "http://part.invalid/").pathname.slice(1));
}

/** The texts of the elements of a small part, by name. */
export function textsOf(xml: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const texts: string[] = [];
  readXml(xml, {
    open: () => void texts.push(""),
    text: (text) => void (texts[texts.length - 1] += text),
    close(name) {
      const text = texts.pop()?.trim() ?? "";
      if (text === "") return;
      const list = found.get(name);
      if (list === undefined) found.set(name, [text]);
      else if (list.length < 100) list.push(text);
    },
  });
  return found;
}

export async function officeFacts(zip: ZipFile): Promise<DocumentFacts> {
  const core = textsOf(await zip.textIfAny("docProps/core.xml"));
  const app = textsOf(await zip.textIfAny("docProps/app.xml"));
  const first = (name: string) => core.get(name)?.[0] ?? null;
  return {
    title: first("title"),
    authors: (core.get("creator") ?? []).flatMap((names) => names.split(";")).map((name) => name.trim()),
    description: first("description") ?? first("subject"),
    keywords: first("keywords"),
    language: first("language"),
    created: isoDate(first("created")),
    modified: isoDate(first("modified")),
    generator: app.get("Application")?.[0] ?? null,
  };
}

/** Null: it is no date. */
export function isoDate(text: string | null | undefined): string | null {
  return text !== null && text !== undefined && /^\d{4}-\d{2}-\d{2}/.test(text) ? text : null;
}

/** Values that switch a property on: absent, `1`, `true`. */
export function isOn(value: string | undefined): boolean {
  return value === undefined || !/^(?:0|false|off|none)$/i.test(value);
}
