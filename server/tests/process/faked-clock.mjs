// The wall clock of a process, set by a file that libfaketime reads once a second.
import { existsSync, writeFileSync } from "node:fs"

const library = ["x86_64", "aarch64"].map(machine => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`).find(existsSync)

/** Why clocks cannot be set here, for `skip` of a test; false if they can. */
export const whyNoClocks = () => library ? false : "needs libfaketime (Debian: libfaketime)"

export class FakedClock {
  #path

  constructor(path) {
    this.#path = path
    this.set("+0")
  }

  /** Sets the offset in the notation of libfaketime, such as `+400d`; `+0` is the true time. */
  set(offset) {
    writeFileSync(this.#path, offset)
  }

  /** The variables with which a process must be started; none where libfaketime is missing. */
  get environment() {
    return library ? {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: this.#path,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      FAKETIME_FORCE_MONOTONIC_FIX: "0", // The fix would make each timed wait of the runtime last for its full limit.
      NO_FAKE_STAT: "1",
    } : {}
  }
}
