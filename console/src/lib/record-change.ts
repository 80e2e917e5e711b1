// The change of a record that a form sends: only the fields that differ from the record as it was opened, so
// that changes that other people make meanwhile stay.

/** An empty string and an absent number clear their field. Lists and metadata are replaced as a whole. */
type FieldChange<Value> = Value extends object
  ? { set: Value }
  : { set: NonNullable<Value> } | { setNull: true };

export type RecordChange<Fields> = { [Field in keyof Fields]?: FieldChange<Fields[Field]> };

export function changedFields<Fields extends object>(before: Fields, after: Fields): RecordChange<Fields> {
  const changed = Object.entries(after).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof Fields]),
  );
  const changes = changed.map(([field, value]) => [field, changeTo(value)]);
  return Object.fromEntries(changes) as RecordChange<Fields>;
}

const changeTo = (value: unknown) =>
  value === "" || value === undefined ? { setNull: true } : { set: value };
