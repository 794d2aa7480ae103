// The icon of the tab, with how many asks wait; the count of the installed app, where the system shows one.

const ICON = "/icon.svg";

export function showCount(count: number): void {
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]")!;
  link.href = count ? `data:image/svg+xml,${encodeURIComponent(counted(count))}` : ICON;
  if ("setAppBadge" in navigator) void (count ? navigator.setAppBadge(count) : navigator.clearAppBadge()).catch(() => undefined);
}

function counted(count: number): string {
  const text = count > 9 ? "9+" : String(count);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3d5a9e"/>`,
    `<path d="M7 11l5 5-5 5" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/>`,
    `<circle cx="21.5" cy="12" r="10.5" fill="#c2410c"/>`,
    `<text x="21.5" y="17.2" font-family="sans-serif" font-size="${text.length > 1 ? 12 : 15}" font-weight="700" text-anchor="middle" fill="#fff">${text}</text></svg>`,
  ].join("");
}
