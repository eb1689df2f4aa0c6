using System.Runtime.CompilerServices;
using Rookery.Json;

namespace Rookery.Scripting.Running;

/// <content>Arrays and objects. An array has a slot for each element, an object two for each member: its name and its
/// value.</content>
internal sealed partial class ScriptHeap
{
    /// <summary>Makes an empty array.</summary>
    public ScriptValue NewArray() => NewContainer(ValueKind.Array, new Container { RawStart = -1, Document = -1 });

    /// <summary>Makes an empty object.</summary>
    public ScriptValue NewObject() => NewContainer(ValueKind.Object, new Container { RawStart = -1, Document = -1 });

    /// <summary>Returns the number of the document that a value is; -1 if it is none.</summary>
    public int DocumentOf(ScriptValue value) =>
        value.Kind == ValueKind.Object ? _containers.Span[value.Start].Document : -1;

    /// <summary>Returns whether a container is still unread JSON, and the range of that JSON.</summary>
    public bool IsRaw(ScriptValue container, out int start, out int end)
    {
        ref var entry = ref _containers.Span[container.Start];
        (start, end) = (entry.RawStart, entry.RawEnd);
        return start >= 0;
    }

    /// <summary>Makes a container read-only.</summary>
    public void Freeze(ScriptValue container) => _containers.Span[container.Start].IsFrozen = true;

    /// <summary>Returns the number of elements of an array, or of members of an object.</summary>
    public int Count(ScriptValue container)
    {
        ref var entry = ref Expanded(container);
        return container.Kind == ValueKind.Array ? entry.Count : entry.Count / 2;
    }

    /// <summary>Returns an element of an array.</summary>
    public ScriptValue Element(ScriptValue array, int index)
    {
        ref var entry = ref Expanded(array);
        return _slots.Span[entry.First + index];
    }

    /// <summary>Returns the name of a member, possibly with escapes.</summary>
    public ScriptValue Name(ScriptValue container, int index) => _slots.Span[Expanded(container).First + (2 * index)];

    /// <summary>Returns the value of a member.</summary>
    public ScriptValue Member(ScriptValue container, int index) =>
        _slots.Span[Expanded(container).First + (2 * index) + 1];

    /// <summary>Returns the position of a member; -1 if there is none.</summary>
    public int Find(ScriptValue container, ReadOnlySpan<byte> name)
    {
        ref var entry = ref Expanded(container);
        Spend(1 + (entry.Count / 8));
        var json = _bytes.Written;
        var members = _slots.Span.Slice(entry.First, entry.Count);
        for (int at = 0; at < members.Length; at += 2)
        {
            var known = members[at];
            if (CanBe(known, name.Length))
            {
                // Names with a common prefix are compared up to their first difference: the steps for that are charged
                // first.
                Spend(known.Length / BytesPerStep);
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
    /// Returns whether a name may equal a text of a given length, judged by its own length: an escape is two to six
    /// times as long as the character it stands for.
    /// </summary>
    private static bool CanBe(ScriptValue name, int length) =>
        name.Kind == ValueKind.Text ? name.Length == length : name.Length > length && name.Length <= 6L * length;

    /// <summary>Sets a member.</summary>
    /// <param name="container">The object.</param>
    /// <param name="name">The name, as a text without escapes.</param>
    /// <param name="value">The value.</param>
    public void Set(ScriptValue container, ScriptValue name, ScriptValue value)
    {
        RequireChangeable(container);
        int index = Find(container, Span(name));
        if (index >= 0)
        {
            _slots.Span[_containers.Span[container.Start].First + (2 * index) + 1] = value;
            return;
        }

        int at = Grow(ref _containers.Span[container.Start], 2);
        _slots.Span[at] = name;
        _slots.Span[at + 1] = value;
    }

    /// <summary>Removes a member.</summary>
    public void Remove(ScriptValue container, int index) => RemoveSlots(container, 2 * index, 2);

    /// <summary>Appends an element.</summary>
    public void Append(ScriptValue array, ScriptValue value)
    {
        RequireChangeable(array);
        Expanded(array);
        int at = Grow(ref _containers.Span[array.Start], 1);
        _slots.Span[at] = value;
    }

    /// <summary>Replaces an element.</summary>
    public void SetElement(ScriptValue array, int index, ScriptValue value)
    {
        RequireChangeable(array);
        _slots.Span[Expanded(array).First + index] = value;
    }

    /// <summary>Removes elements.</summary>
    public void RemoveElements(ScriptValue array, int index, int count) => RemoveSlots(array, index, count);

    /// <summary>Makes room for elements, whose values the caller must set.</summary>
    public void InsertElements(ScriptValue array, int index, int count)
    {
        RequireChangeable(array);
        int before = Expanded(array).Count;
        ref var entry = ref _containers.Span[array.Start];
        Grow(ref entry, count);
        Spend(1 + ((before - index) / 4));
        _slots.Span.Slice(entry.First + index, before - index).CopyTo(_slots.Span[(entry.First + index + count)..]);
    }

    /// <summary>Returns the elements of an array, to be reordered in place.</summary>
    public Span<ScriptValue> Elements(ScriptValue array)
    {
        ref var entry = ref Expanded(array);
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
        ref var entry = ref Expanded(container);
        Spend(1 + ((entry.Count - index) / 4));
        _slots
            .Span.Slice(entry.First + index + count, entry.Count - index - count)
            .CopyTo(_slots.Span[(entry.First + index)..]);
        entry.Count -= count;
    }

    private ScriptValue NewContainer(ValueKind kind, Container container)
    {
        Require(BytesPerContainer);
        _containers.Reserve(_containerCount, _containerCount + 1);
        _containers.Span[_containerCount] = container;
        return ScriptValue.Container(kind, _containerCount++);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ref Container Expanded(ScriptValue container)
    {
        if (_containers.Span[container.Start].RawStart >= 0)
        {
            Expand(container);
        }

        return ref _containers.Span[container.Start];
    }

    /// <summary>Reads one level of a container's JSON into slots; nested containers stay JSON.</summary>
    private void Expand(ScriptValue container)
    {
        var (start, end) = (_containers.Span[container.Start].RawStart, _containers.Span[container.Start].RawEnd);
        SpendOnBytes(end - start);
        int first = _slotCount;
        for (int at = start + 1; _bytes.Written[at] is not ((byte)'}' or (byte)']'); )
        {
            Spend(1);
            var json = _bytes.Written;
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
        ReserveSlots(1);
        _slots.Span[_slotCount++] = value;
    }

    /// <summary>Extends a container by slots, in place or by moving it, and returns the first of them.</summary>
    private int Grow(ref Container entry, int more)
    {
        int needed = entry.Count + more;
        if (needed > entry.Capacity)
        {
            if (entry.First + entry.Capacity == _slotCount)
            {
                ReserveSlots(needed - entry.Capacity);
                _slotCount += needed - entry.Capacity;
                entry.Capacity = needed;
            }
            else
            {
                int capacity = Math.Max(needed, Math.Max(4, 2 * entry.Capacity));
                ReserveSlots(capacity);
                _slots.Span.Slice(entry.First, entry.Count).CopyTo(_slots.Span[_slotCount..]);
                entry.First = _slotCount;
                entry.Capacity = capacity;
                _slotCount += capacity;
            }
        }

        entry.Count = needed;
        return entry.First + needed - more;
    }

    private void ReserveSlots(int count)
    {
        Require((long)count * BytesPerSlot);
        _slots.Reserve(_slotCount, _slotCount + count);
    }

    private struct Container
    {
        /// <summary>The offset of the container's JSON while unread; -1 afterwards.</summary>
        public int RawStart;
        public int RawEnd;
        public int First;
        public int Count;
        public int Capacity;

        /// <summary>The number of the document that the container is, or -1.</summary>
        public int Document;
        public bool IsFrozen;
    }
}
