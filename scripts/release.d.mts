export function obstacles(seen: { changelog: string; version: string; lockVersion: string; changes: string }): string[];
