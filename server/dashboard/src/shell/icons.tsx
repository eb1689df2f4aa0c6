/** Icons of the navigation, each shown with a label, and of the themes. */
const paths = {
  overview: "M4 13a8 8 0 1 1 16 0M12 13l4-5M4 18h16",
  io: "M4 7h7M14 7h3M4 12h3M10 12h10M4 17h10M17 17h3",
  documents: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
  query: "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M15.5 15.5 20 20",
  indexes: "M4 6h16M4 12h10M4 18h6M18 12v7M15 16l3 3 3-3",
  cluster:
    "M12 4.5a2 2 0 1 1 0 4 2 2 0 0 1 0-4M5.5 15.5a2 2 0 1 1 0 4 2 2 0 0 1 0-4M18.5 15.5a2 2 0 1 1 0 4 2 2 0 0 1 0-4M11 8.3l-4.5 7.4M13 8.3l4.5 7.4M7.5 17.5h9",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  alerts: "M6 17V11a6 6 0 1 1 12 0v6l1.5 2h-15zM10.5 21h3",
  help: "M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17M9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M12 16.8h.01",
  logs: "M4 6h16M4 10h12M4 14h16M4 18h9",
  system: "M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16M12 4v16M12 8h5.5M12 12h8M12 16h5.5",
  light:
    "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  dark: "M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z",
  settings: "M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4",
}

export type IconName = keyof typeof paths

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      <path
        d={paths[name]}
        fill="none"
        stroke="currentColor"
        stroke-width={name === "more" ? 3 : 1.8}
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  )
}

export function Rook() {
  return (
    <svg class="rook" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <path fill="currentColor" d="M7 4h4v4h3V4h4v4h3V4h4v8l-3 3v8l3 3v3H7v-3l3-3v-8l-3-3z" />
    </svg>
  )
}
