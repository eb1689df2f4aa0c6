export function randomOf(seed: number): () => number

type EventRow = [string, number, number, number]

interface Asked {
  count?: number
  seed?: number
  end?: number
}

export function eventsOf(asked?: Asked): EventRow[]

export function fileOf(asked?: Asked & { tag?: string; name?: string }): {
  Form: string
  Version: number
  Exported: string
  Nodes: {
    Node: string
    NodeName: string
    Devices: { Journal: string; Data: string }
    Covered: [number, number][]
    Events: { Columns: string[]; Rows: EventRow[] }
    SlowEvents: { Columns: string[]; Rows: EventRow[] }
    RollUps: { SpanSeconds: number; Known: [number, number][]; Columns: string[]; Rows: (string | number)[][] }[]
    History: { Columns: string[]; Rows: (number | null)[][] }
  }[]
}
