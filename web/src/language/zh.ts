export const CHINESE: Record<string, string> = {};
