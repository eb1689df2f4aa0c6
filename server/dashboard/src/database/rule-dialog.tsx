import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { NumberInput } from "../shell/number-input"
import { Choice, Field, WorkDialog } from "../shell/parts"
import { type AgeUnit, AgeUnits, ageOf, ageText, type RevisionRule, wholeNumber } from "./record"

interface RuleDialogProps {
  /** The collection of the rule; null for the default, undefined for a new rule. */
  collection: string | null | undefined
  rule: RevisionRule | null
  /** The collections that have rules; null for the default. */
  taken: readonly (string | null)[]
  /** Names of collections to suggest. */
  known: readonly string[]
  store: (collection: string | null, rule: RevisionRule) => Promise<unknown>
  onClose: () => void
}

/** Edits a rule of revisions, or makes a new one. */
export function RuleDialog({ collection, rule, taken, known, store, onClose }: RuleDialogProps) {
  const list = useId()
  const isNew = collection === undefined
  const mayBeDefault = isNew && !taken.includes(null)
  const of = useSignal<"all" | "one">(mayBeDefault ? "all" : "one")
  const name = useSignal("")
  const isOn = useSignal(!(rule?.Disabled ?? false))
  const age = rule?.MinimumRevisionAgeToKeep ? ageOf(rule.MinimumRevisionAgeToKeep) : null
  // An age of fractions of a second, which the fields cannot show, stays unless another one is typed.
  const odd = age === null ? (rule?.MinimumRevisionAgeToKeep ?? null) : null
  const count = useSignal(rule ? `${rule.MinimumRevisionsToKeep ?? ""}` : "50")
  const old = useSignal(age ? `${age.count}` : "")
  const unit = useSignal<AgeUnit>(age?.unit ?? "days")
  const most = useSignal(`${rule?.MaximumRevisionsToDeleteUponDocumentUpdate ?? ""}`)
  const isPurged = useSignal(rule?.PurgeOnDelete ?? false)
  const wanted = name.value.trim()
  const isTaken = isNew && of.value === "one" && taken.some((one) => one?.toLowerCase() === wanted.toLowerCase())
  const [counted, aged, deleted] = [wholeNumber(count.value), wholeNumber(old.value, 36_500), wholeNumber(most.value)]
  const wrong = (value: number | null | undefined) => (value === undefined ? "A whole number, or nothing." : null)
  const isNamed = !isNew || of.value === "all" || (wanted !== "" && !isTaken)
  const work = async () => {
    await store(isNew ? (of.value === "all" ? null : wanted) : collection, {
      Disabled: !isOn.value,
      MinimumRevisionsToKeep: counted ?? null,
      MinimumRevisionAgeToKeep: aged == null ? odd : ageText(aged, unit.value),
      PurgeOnDelete: isPurged.value,
      MaximumRevisionsToDeleteUponDocumentUpdate: deleted ?? null,
    })
    onClose()
  }
  return (
    <WorkDialog
      title={isNew ? "New rule of revisions" : `Revisions of ${collection ?? "all other collections"}`}
      verb="Save"
      isReady={isNamed && counted !== undefined && aged !== undefined && deleted !== undefined}
      work={work}
      onClose={onClose}
    >
      {mayBeDefault && (
        <Choice
          label="Collections"
          options={[
            { value: "all", title: "All collections" },
            { value: "one", title: "One collection" },
          ]}
          chosen={of.value}
          onChoose={(value) => {
            of.value = value
          }}
        />
      )}
      {isNew && of.value === "one" && (
        <Field label="Collection" wrong={isTaken ? "This collection has a rule already." : null}>
          <input
            class="input"
            list={list}
            autocomplete="off"
            spellcheck={false}
            value={name.value}
            onInput={(event) => {
              name.value = event.currentTarget.value
            }}
          />
        </Field>
      )}
      <datalist id={list}>
        {known.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <label class="tick">
        <input
          type="checkbox"
          checked={isOn.value}
          onChange={(event) => {
            isOn.value = event.currentTarget.checked
          }}
        />
        Keep revisions
      </label>
      {isOn.value && (
        <>
          <div class="pair">
            <Field label="The newest" hint="Empty: no limit by number." wrong={wrong(counted)}>
              <NumberInput text={count} />
            </Field>
            <Field label="All of the last" hint={odd === null ? "Empty: no limit by age." : `Empty: ${odd}, as now.`} wrong={wrong(aged)}>
              <NumberInput text={old} />
            </Field>
            <Field label="Unit">
              <select
                class="input"
                value={unit.value}
                onChange={(event) => {
                  unit.value = event.currentTarget.value as AgeUnit
                }}
              >
                {AgeUnits.map((one) => (
                  <option key={one.name} value={one.name}>
                    {one.name}
                  </option>
                ))}
              </select>
            </Field>
          </div>
          <p class="quiet">With both limits, a revision is removed only if neither keeps it; without one, all stay.</p>
          <Field label="Removed at most at one change" hint="Empty: as many as are beyond the limits." wrong={wrong(deleted)}>
            <NumberInput text={most} />
          </Field>
          <label class="tick">
            <input
              type="checkbox"
              checked={isPurged.value}
              onChange={(event) => {
                isPurged.value = event.currentTarget.checked
              }}
            />
            Remove all revisions when the document is deleted; it cannot be restored then
          </label>
        </>
      )}
    </WorkDialog>
  )
}
