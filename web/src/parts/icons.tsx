import type { ReactNode } from "react";

function icon(path: ReactNode) {
  return function Icon({ size = 16 }: { size?: number }) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 16 16"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
        className="shrink-0"
      >
        {path}
      </svg>
    );
  };
}

export const PlusIcon = icon(<path d="M8 3v10M3 8h10" />);
export const SearchIcon = icon(<path d="M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5 14 14" />);
export const CopyIcon = icon(<path d="M6 6h7v7H6zM3 10V3h7" />);
export const CheckIcon = icon(<path d="m3 8.5 3.2 3.2L13 4.8" />);
export const CloseIcon = icon(<path d="m4 4 8 8M12 4l-8 8" />);
export const MenuIcon = icon(<path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />);
export const DotsIcon = icon(<path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.2" />);
export const ChevronIcon = icon(<path d="m6 4 4 4-4 4" />);
export const DownIcon = icon(<path d="m4 6 4 4 4-4" />);
export const SendIcon = icon(<path d="M8 13V3.5M4 7l4-4 4 4" />);
export const StopIcon = icon(<rect x="4.5" y="4.5" width="7" height="7" rx="1" fill="currentColor" stroke="none" />);
export const FolderIcon = icon(<path d="M2 4.5V12a1 1 0 0 0 1 1h10a1 1 0 0 0 1-1V6a1 1 0 0 0-1-1H8L6.5 3.5H3a1 1 0 0 0-1 1z" />);
export const FileIcon = icon(<path d="M4 2.5h5l3 3v8H4zM9 2.5v3h3" />);
export const ChangesIcon = icon(<path d="M8 3v6M5 6h6M5 12.5h6" />);
export const UsageIcon = icon(<path d="M3 13V9M6.3 13V5M9.7 13V7.5M13 13V3" />);
export const ImageIcon = icon(<path d="M2.5 3.5h11v9h-11zM2.5 11l3.2-3.2 2.6 2.4 2-1.7 3.2 3M10.5 6.3h.01" />);
export const SunIcon = icon(<path d="M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9" />);
export const MoonIcon = icon(<path d="M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z" />);
export const ScreenIcon = icon(<path d="M2 3.5h12v7.5H2zM6 13.5h4" />);
