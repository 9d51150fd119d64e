export function ensureWeb(options?: { folder?: string; tell?: (text: string) => void }): Promise<boolean>;
