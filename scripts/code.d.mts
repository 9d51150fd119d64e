export function ensureCode(options?: {
  folder?: string;
  tell?: (text: string) => void;
  keepMs?: number;
}): Promise<boolean>;
