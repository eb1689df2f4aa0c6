import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import type { StoredDocument } from "../documents/document-text"
import { bytes } from "../shell/format"
import { toast } from "../shell/parts"
import { isAbort, Refusal } from "../shell/request"
import { useHeldPage } from "../shell/unsaved"
import { isSameName, MostBytes, uploadAttachment } from "./upload"

/** An upload in progress. */
export interface Upload {
  name: string
  sent: number
  total: number
}

export interface Uploads {
  upload: Signal<Upload | null>
  trouble: Signal<unknown>
  /** The file whose name is taken; the user is asked whether to replace the attachment. */
  taken: Signal<File | null>
  /** Sends files one after the other. */
  start: (files: readonly File[], replaces?: boolean) => Promise<void>
  stop: () => void
}

/** The uploads to a document. Leaving the document stops them. */
export function useUploads(database: string, stored: StoredDocument | null, onChanged: () => Promise<unknown>): Uploads {
  const upload = useSignal<Upload | null>(null)
  const trouble = useSignal<unknown>(null)
  const taken = useSignal<File | null>(null)
  const control = useRef<AbortController | null>(null)
  const latest = useRef({ stored, onChanged })
  latest.current = { stored, onChanged }
  useHeldPage(upload.value !== null)
  useEffect(
    () => () => {
      if (control.current && upload.peek()) toast(`The upload of ${upload.peek()?.name} was stopped.`, { tone: "bad" })
      control.current?.abort()
    },
    [],
  )

  const start = async (files: readonly File[], replaces = false) => {
    const id = stored?.id
    if (id === undefined || control.current) return
    const running = new AbortController()
    control.current = running
    trouble.value = null
    let [last, many] = ["", 0]
    try {
      for (const file of files) {
        if (file.size > MostBytes) throw new Error(`${file.name} has ${bytes(file.size)}. An attachment has 1 GiB at most.`)
        if (!replaces && latest.current.stored?.attachments.some(({ Name }) => isSameName(Name, file.name))) {
          taken.value = file
          break
        }

        upload.value = { name: file.name, sent: 0, total: file.size }
        const sent = (count: number) => {
          upload.value = { name: file.name, sent: Math.min(count, file.size), total: file.size }
        }
        try {
          await uploadAttachment(database, id, file, !replaces, sent, running.signal)
        } catch (failure) {
          if (!(failure instanceof Refusal && failure.status === 409)) throw failure
          taken.value = file
          break
        }

        ;[last, many] = [file.name, many + 1]
      }
    } catch (failure) {
      if (!isAbort(failure)) trouble.value = failure
    } finally {
      upload.value = null
      control.current = null
    }

    if (many > 0) toast(many === 1 ? `${last} is attached.` : `${many} files are attached.`, { tone: "good" })
    if (!running.signal.aborted || many > 0) await latest.current.onChanged()
  }
  return { upload, trouble, taken, start, stop: () => control.current?.abort() }
}
