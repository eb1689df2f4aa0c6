using System.Runtime.CompilerServices;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Scripting.Running;

/// <summary>
/// The arrays and objects of one run. Each is parsed from its JSON on first access, one level at a time. An array has a
/// slot for each element. An object has two slots for each member: its name and its value.
/// </summary>
/// <param name="bytes">The texts and documents of the run.</param>
/// <param name="budget">The steps and memory of the run.</param>
internal sealed class ScriptContainers(PooledBytes bytes, ScriptBudget budget)
{
    private const int BytesPerSlot = 16;
    private const int BytesPerContainer = 32;

    // Slots that a search reads, or that a move copies, in one step.
    private const int SlotsPerSearchStep = 8;
    private const int SlotsPerMoveStep = 4;

    private PooledItems<ScriptValue> _slots;
    private PooledItems<Container> _containers;
    private int _slotCount;
    private int _containerCount;

    /// <summary>Memory of the slots or of the containers, whichever is more, in bytes.</summary>
    public long HeldBytes => Math.Max(_slots.Bytes, _containers.Bytes);

    /// <summary>Removes all arrays and objects.</summary>
    public void Clear()
    {
        _slotCount = _containerCount = 0;
        budget.ContainerBytes = 0;
    }

    /// <summary>Releases the memory.</summary>
    public void Release()
    {
        Clear();
        _slots.Return();
        _containers.Return();
    }

    /// <summary>Creates a value from the JSON in a range of bytes. An array or object is not parsed yet.</summary>
    /// <param name="start">The offset of its first byte.</param>
    /// <param name="end">The offset after its last byte.</param>
    /// <param name="document">If the value is a document, its number; otherwise -1.</param>
    public ScriptValue FromJson(int start, int end, int document = -1)
    {
        var json = bytes.Written;
        switch (json[start])
        {
            case (byte)'"':
                int length = end - start - 2;
                bool isEscaped = json.Slice(start + 1, length).Contains((byte)'\\');
                var kind = isEscaped ? ValueKind.EscapedText : ValueKind.Text;
                return ScriptValue.InHeap(kind, start + 1, length).With(ValueTrait.Stored);
            case (byte)'{':
                return NewContainer(
                    ValueKind.Object,
                    new Container
                    {
                        RawStart = start,
                        RawEnd = end,
                        Document = document,
                    }
                );
            case (byte)'[':
                return NewContainer(
                    ValueKind.Array,
                    new Container
                    {
                        RawStart = start,
                        RawEnd = end,
                        Document = -1,
                    }
                );
            case (byte)'t':
                return ScriptValue.Of(true);
            case (byte)'f':
                return ScriptValue.Of(false);
            case (byte)'n':
                return ScriptValue.Null;
            default:
                return ScriptValue.InHeap(ValueKind.StoredNumber, start, end - start);
        }
    }

    /// <summary>Creates an empty array.</summary>
    public ScriptValue NewArray() => NewContainer(ValueKind.Array, new Container { RawStart = -1, Document = -1 });

    /// <summary>Creates an empty array that holds what a regular expression found.</summary>
    /// <param name="match">The number of the match in <see cref="RunPatterns"/>.</param>
    public ScriptValue NewMatch(int match) =>
        NewContainer(ValueKind.Array, new Container { RawStart = -1, Document = match });

    /// <summary>Returns the number of the match that an array holds; -1 if it is another array.</summary>
    public int MatchOf(ScriptValue array) => _containers.Span[array.Start].Document;

    /// <summary>Creates an empty object.</summary>
    public ScriptValue NewObject() => NewContainer(ValueKind.Object, new Container { RawStart = -1, Document = -1 });

    /// <summary>Returns the document's number if a value is a document; otherwise -1.</summary>
    public int DocumentOf(ScriptValue value) =>
        value.Kind == ValueKind.Object ? _containers.Span[value.Start].Document : -1;

    /// <summary>Returns whether a container is not parsed yet, and the range of its JSON.</summary>
    public bool IsRaw(ScriptValue container, out int start, out int end)
    {
        ref var entry = ref _containers.Span[container.Start];
        (start, end) = (entry.RawStart, entry.RawEnd);
        return start >= 0;
    }

    /// <summary>Makes a container read-only, or changeable again.</summary>
    public void Freeze(ScriptValue container, bool isFrozen) => _containers.Span[container.Start].IsFrozen = isFrozen;

    /// <summary>Returns the number of elements of an array, or of members of an object.</summary>
    public int Count(ScriptValue container)
    {
        ref var entry = ref ParsedEntryOf(container);
        return container.Kind == ValueKind.Array ? entry.Count : entry.Count / 2;
    }

    /// <summary>Returns an element of an array.</summary>
    public ScriptValue Element(ScriptValue array, int index)
    {
        ref var entry = ref ParsedEntryOf(array);
        return _slots.Span[entry.First + index];
    }

    /// <summary>Returns the name of a member, possibly with escapes.</summary>
    public ScriptValue Name(ScriptValue container, int index) =>
        _slots.Span[ParsedEntryOf(container).First + (2 * index)];

    /// <summary>Returns the value of a member.</summary>
    public ScriptValue Member(ScriptValue container, int index) =>
        _slots.Span[ParsedEntryOf(container).First + (2 * index) + 1];

    /// <summary>Returns the position of a member; -1 if there is none.</summary>
    public int Find(ScriptValue container, ReadOnlySpan<byte> name)
    {
        ref var entry = ref ParsedEntryOf(container);
        budget.Spend(1 + (entry.Count / SlotsPerSearchStep));
        var json = bytes.Written;
        var members = _slots.Span.Slice(entry.First, entry.Count);
        for (int at = 0; at < members.Length; at += 2)
        {
            var known = members[at];
            if (MayEqual(known, name.Length))
            {
                // Names with a common prefix are compared up to their first difference. The steps for this are counted
                // first.
                budget.Spend(known.Length / ScriptBudget.BytesPerStep);
                var text = json.Slice(known.Start, known.Length);
                if (known.Kind == ValueKind.Text ? text.SequenceEqual(name) : JsonText.IsText(text, name))
                {
                    return at / 2;
                }
            }
        }

        return -1;
    }

    /// <summary>
    /// Returns whether a name may equal a text of a given length. An escape is two to six times as long as its
    /// character, so the length of the name decides.
    /// </summary>
    private static bool MayEqual(ScriptValue name, int length) =>
        name.Kind == ValueKind.Text ? name.Length == length : name.Length > length && name.Length <= 6L * length;

    /// <summary>Sets a member.</summary>
    /// <param name="container">The object.</param>
    /// <param name="name">The name, as a text without escapes.</param>
    /// <param name="value">The value.</param>
    public void Set(ScriptValue container, ScriptValue name, ScriptValue value)
    {
        RequireChangeable(container);
        int index = Find(container, bytes.Written.Slice(name.Start, name.Length));
        if (index >= 0)
        {
            _slots.Span[_containers.Span[container.Start].First + (2 * index) + 1] = value;
            return;
        }

        int at = Grow(ref _containers.Span[container.Start], more: 2);
        _slots.Span[at] = name;
        _slots.Span[at + 1] = value;
    }

    /// <summary>
    /// Keeps the last value of each name of an object at the name's first place. Only objects of <c>JSON.parse</c> have
    /// a name twice; the other methods do not expect it.
    /// </summary>
    /// <param name="container">The object.</param>
    /// <param name="keys">Finds the names. Its content is lost.</param>
    public void MergeDuplicates(ScriptValue container, ObjectKeys keys)
    {
        ref var entry = ref ParsedEntryOf(container);
        var json = bytes.Written;
        var members = _slots.Span.Slice(entry.First, entry.Count);
        int kept = 0;
        keys.Reset();
        keys.Open();
        for (int at = 0; at < members.Length; at += 2)
        {
            var (name, value) = (members[at], members[at + 1]);
            budget.SpendOnBytes(name.Length);
            var key = new JsonSlice(name.Start, name.Length, Escaped: name.Kind == ValueKind.EscapedText);
            int known = keys.Find(json, json, key);
            if (known >= 0)
            {
                members[(2 * known) + 1] = value;
                continue;
            }

            keys.TryAdd(json, key);
            (members[kept], members[kept + 1]) = (name, value);
            kept += 2;
        }

        keys.Close();
        entry.Count = kept;
    }

    /// <summary>Removes a member.</summary>
    public void Remove(ScriptValue container, int index) => RemoveSlots(container, 2 * index, count: 2);

    /// <summary>Appends an element.</summary>
    public void Append(ScriptValue array, ScriptValue value)
    {
        RequireChangeable(array);
        ParsedEntryOf(array);
        int at = Grow(ref _containers.Span[array.Start], more: 1);
        _slots.Span[at] = value;
    }

    /// <summary>Replaces an element.</summary>
    public void SetElement(ScriptValue array, int index, ScriptValue value)
    {
        RequireChangeable(array);
        _slots.Span[ParsedEntryOf(array).First + index] = value;
    }

    /// <summary>Removes elements.</summary>
    public void RemoveElements(ScriptValue array, int index, int count) => RemoveSlots(array, index, count);

    /// <summary>Inserts elements, whose values the caller must set.</summary>
    public void InsertElements(ScriptValue array, int index, int count)
    {
        RequireChangeable(array);
        int before = ParsedEntryOf(array).Count;
        ref var entry = ref _containers.Span[array.Start];
        Grow(ref entry, count);
        budget.Spend(1 + ((before - index) / SlotsPerMoveStep));
        _slots.Span.Slice(entry.First + index, before - index).CopyTo(_slots.Span[(entry.First + index + count)..]);
    }

    /// <summary>Returns the elements of an array, to be reordered in place.</summary>
    public Span<ScriptValue> Elements(ScriptValue array)
    {
        ref var entry = ref ParsedEntryOf(array);
        return _slots.Span.Slice(entry.First, entry.Count);
    }

    /// <summary>Fails if a container is read-only.</summary>
    public void RequireChangeable(ScriptValue container)
    {
        if (_containers.Span[container.Start].IsFrozen)
        {
            throw new ScriptFailure("the metadata cannot be changed by a script");
        }
    }

    private void RemoveSlots(ScriptValue container, int index, int count)
    {
        RequireChangeable(container);
        ref var entry = ref ParsedEntryOf(container);
        budget.Spend(1 + ((entry.Count - index) / SlotsPerMoveStep));
        _slots
            .Span.Slice(entry.First + index + count, entry.Count - index - count)
            .CopyTo(_slots.Span[(entry.First + index)..]);
        entry.Count -= count;
    }

    private ScriptValue NewContainer(ValueKind kind, Container container)
    {
        budget.Require(BytesPerContainer);
        _containers.Reserve(_containerCount, _containerCount + 1);
        _containers.Span[_containerCount] = container;
        budget.ContainerBytes += BytesPerContainer;
        return ScriptValue.Container(kind, _containerCount++);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ref Container ParsedEntryOf(ScriptValue container)
    {
        if (_containers.Span[container.Start].RawStart >= 0)
        {
            ParseLevel(container);
        }

        return ref _containers.Span[container.Start];
    }

    /// <summary>Parses one level of a container's JSON into slots. Nested containers are not parsed yet.</summary>
    private void ParseLevel(ScriptValue container)
    {
        var (start, end) = (_containers.Span[container.Start].RawStart, _containers.Span[container.Start].RawEnd);
        budget.SpendOnBytes(end - start);
        int first = _slotCount;
        for (int at = start + 1; bytes.Written[at] is not ((byte)'}' or (byte)']'); )
        {
            budget.Spend(1);
            var json = bytes.Written;
            at = json[at] == (byte)',' ? at + 1 : at;
            if (container.Kind == ValueKind.Object)
            {
                int nameEnd = JsonText.SkipString(json, at);
                Push(FromJson(at, nameEnd));
                at = nameEnd + 1;
            }

            int valueEnd = StoredJson.SkipValue(json, at);
            Push(FromJson(at, valueEnd));
            at = valueEnd;
        }

        ref var entry = ref _containers.Span[container.Start];
        entry.RawStart = -1;
        entry.First = first;
        entry.Count = entry.Capacity = _slotCount - first;
    }

    private void Push(ScriptValue value)
    {
        int at = AllocateSlots(1);
        _slots.Span[at] = value;
    }

    /// <summary>Adds slots to a container, which may move it. Returns the first of them.</summary>
    private int Grow(ref Container entry, int more)
    {
        int needed = entry.Count + more;
        if (needed > entry.Capacity)
        {
            if (entry.First + entry.Capacity == _slotCount)
            {
                AllocateSlots(needed - entry.Capacity);
                entry.Capacity = needed;
            }
            else
            {
                int capacity = Math.Max(needed, Math.Max(4, 2 * entry.Capacity));
                int first = AllocateSlots(capacity);
                _slots.Span.Slice(entry.First, entry.Count).CopyTo(_slots.Span[first..]);
                entry.First = first;
                entry.Capacity = capacity;
            }
        }

        entry.Count = needed;
        return entry.First + needed - more;
    }

    private int AllocateSlots(int count)
    {
        long newBytes = (long)count * BytesPerSlot;
        budget.Require(newBytes);
        int first = _slotCount;
        _slots.Reserve(first, first + count);
        _slotCount += count;
        budget.ContainerBytes += newBytes;
        return first;
    }

    private struct Container
    {
        /// <summary>The offset of the container's JSON until it is parsed; -1 afterwards.</summary>
        public int RawStart;

        /// <summary>The offset after the container's JSON.</summary>
        public int RawEnd;

        /// <summary>Its first slot, after it is parsed.</summary>
        public int First;

        /// <summary>Number of its slots in use.</summary>
        public int Count;

        /// <summary>Number of its slots.</summary>
        public int Capacity;

        /// <summary>If the container is a document or a match, its number; otherwise -1.</summary>
        public int Document;

        /// <summary>Whether the container is read-only.</summary>
        public bool IsFrozen;
    }
}
