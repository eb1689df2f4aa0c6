using System.Globalization;
using Rookery.Documents.Commands;
using Rookery.Documents.Parsing;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Patching;

/// <summary>
/// Applies the operations of a JSON Patch (RFC 6902) to a document's bytes. Each operation that changes the document
/// copies it once. Deterministic: the same program and document give the same bytes or the same failure on every node.
/// </summary>
internal sealed class JsonPatchMachine
{
    private const int MaxShownBytes = 128;

    private readonly PooledBytes _name = new();
    private readonly PooledBytes _moved = new(); // the value that a move or copy adds
    private PooledBytes _current = new(); // the document before the current operation
    private PooledBytes _patched = new(); // the document after it

    /// <summary>The document after <see cref="TryRun"/>, including braces.</summary>
    public ReadOnlySpan<byte> Result => _current.Written;

    /// <summary>Bytes that the operations read and copied.</summary>
    public long CopiedBytes { get; private set; }

    /// <summary>Why the patch failed; null if it did not.</summary>
    public string? Failure { get; private set; }

    /// <summary>Applies operations to an object's members.</summary>
    /// <param name="operations">The encoded operations; see <see cref="ProgramKind.JsonPatch"/>.</param>
    /// <param name="members">The members without braces.</param>
    /// <param name="maxCopiedBytes">Bytes that the operations may read and copy.</param>
    public bool TryRun(ReadOnlySpan<byte> operations, ReadOnlySpan<byte> members, long maxCopiedBytes)
    {
        _current.Clear();
        _current.Append((byte)'{');
        _current.Append(members);
        _current.Append((byte)'}');
        Failure = null;
        CopiedBytes = 0;
        int number = 0;
        for (int at = 0; at < operations.Length; number++)
        {
            var operation = (JsonPatchOperation)operations[at++];
            if (
                !Varint.TryReadBytes(operations, ref at, out ReadOnlySpan<byte> path)
                || !Varint.TryReadBytes(operations, ref at, out ReadOnlySpan<byte> operand)
            )
            {
                throw new CommandFormatException(
                    "A JSON Patch in a command does not decode although its checksum is right: keep the data "
                        + "directory and report it."
                );
            }

            CopiedBytes += _current.Length + operand.Length;
            bool isDone =
                CopiedBytes <= maxCopiedBytes
                    ? TryExecute(operation, path, operand) && IsWithinLimits()
                    : Fail("the patch has too many operations for a document of this size");
            if (!isDone)
            {
                string name = JsonPatchOperations.NameOf(operation);
                Failure = string.Create(
                    CultureInfo.InvariantCulture,
                    $"Operations[{number}] ({name} {Show(path)}): {Failure}"
                );
                return false;
            }
        }

        return true;
    }

    /// <summary>Releases large buffers.</summary>
    public void Clear()
    {
        _name.Clear();
        _moved.Clear();
        _current.Clear();
        _patched.Clear();
    }

    private bool TryExecute(JsonPatchOperation operation, ReadOnlySpan<byte> path, ReadOnlySpan<byte> operand) =>
        operation switch
        {
            JsonPatchOperation.Add => TryAdd(path, operand),
            JsonPatchOperation.Remove => TryFindValue(path, out var place) && Remove(place.Part),
            JsonPatchOperation.Replace => TryFindValue(path, out var place) && Replace(place.Value, operand),
            JsonPatchOperation.Move => TryMove(path, operand),
            JsonPatchOperation.Copy => TryTake(operand, out _) && TryAdd(path, _moved.Written),
            JsonPatchOperation.Test => TryFindValue(path, out var place) && IsEqual(place.Value, operand),
            _ => throw new CommandFormatException(
                $"A JSON Patch holds operation {(byte)operation}, which this program does not know: start the newer "
                    + "program that wrote it."
            ),
        };

    private bool TryMove(ReadOnlySpan<byte> path, ReadOnlySpan<byte> from)
    {
        if (!TryTake(from, out var place))
        {
            return false;
        }

        if (path.SequenceEqual(from))
        {
            return true;
        }

        Remove(place.Part);
        return TryAdd(path, _moved.Written);
    }

    /// <summary>Copies the value of a pointer into <see cref="_moved"/>.</summary>
    private bool TryTake(ReadOnlySpan<byte> pointer, out Place place)
    {
        if (!TryFindValue(pointer, out place))
        {
            return false;
        }

        _moved.Clear();
        _moved.Append(_current.Written[place.Value]);
        return true;
    }

    private bool TryAdd(ReadOnlySpan<byte> path, ReadOnlySpan<byte> value)
    {
        if (!TryFind(path, out var place))
        {
            return false;
        }

        if (path.IsEmpty && (value[0] != (byte)'{' || JsonPatchRequest.HasMetadata(value)))
        {
            return Fail("a document must stay an object, and a JSON Patch cannot write its @metadata");
        }

        if (!place.IsInArray)
        {
            return place.Exists ? Replace(place.Value, value) : InsertMember(place, path, value);
        }

        return place.Index <= place.Count ? InsertElement(place, value) : FailOutOfBounds(place);
    }

    private bool IsEqual(Range value, ReadOnlySpan<byte> expected)
    {
        var actual = _current.WrittenMemory[value];
        bool areEqual = JsonEquality.AreEqual(actual, expected, out long cost);
        CopiedBytes += cost;
        return areEqual
            || Fail($"the current value {Show(actual.Span)} is not equal to the test value {Show(expected)}");
    }

    /// <summary>Finds a value that must exist.</summary>
    private bool TryFindValue(ReadOnlySpan<byte> pointer, out Place place)
    {
        if (!TryFind(pointer, out place))
        {
            return false;
        }

        if (place.Exists)
        {
            return true;
        }

        return place.IsInArray ? FailOutOfBounds(place) : Fail("there is no such member");
    }

    /// <summary>
    /// Finds the place of a pointer. Its parent must exist, the value itself need not.
    /// </summary>
    private bool TryFind(ReadOnlySpan<byte> text, out Place place)
    {
        place = new Place { Value = .._current.Length, Exists = true };
        var pointer = new JsonPointer(text);
        while (pointer.HasNext)
        {
            if (!place.Exists)
            {
                return place.IsInArray ? FailOutOfBounds(place) : Fail($"there is no value at {Show(pointer.Passed)}");
            }

            var json = _current.Written;
            int container = place.Value.Start.Value;
            CopiedBytes += json.Length - container;
            var parent = pointer.Passed;
            pointer.Next();
            switch (json[container])
            {
                case (byte)'{':
                    place = FindMember(json, container, pointer);
                    break;
                case (byte)'[' when pointer.Segment.SequenceEqual("-"u8):
                    StoredJson.TryFindElement(json, container, index: -1, out _, out int length);
                    place = new Place
                    {
                        Container = container,
                        IsInArray = true,
                        Index = length,
                        Count = length,
                    };
                    break;
                case (byte)'[' when pointer.TryReadIndex(out int index):
                    place = FindElement(json, container, index);
                    break;
                case (byte)'[':
                    return Fail($"expected an index but got '{Show(pointer.Segment)}' for the array at {Show(parent)}");
                default:
                    return Fail($"the value at {Show(parent)} is no object and no array");
            }
        }

        return true;
    }

    private Place FindMember(ReadOnlySpan<byte> json, int container, JsonPointer pointer)
    {
        var name = pointer.Name(_name);
        bool exists = StoredJson.TryFindMember(json, container, name, out var member, out int valueStart);
        return new Place
        {
            Container = container,
            Exists = exists,
            Part = member,
            Value = exists ? valueStart..member.End.Value : default,
        };
    }

    private static Place FindElement(ReadOnlySpan<byte> json, int container, int index)
    {
        bool exists = StoredJson.TryFindElement(json, container, index, out var element, out int count);
        return new Place
        {
            Container = container,
            Exists = exists,
            Part = element,
            Value = element,
            IsInArray = true,
            Index = index,
            Count = count,
        };
    }

    /// <summary>Inserts a member at the end of its object.</summary>
    private bool InsertMember(in Place place, ReadOnlySpan<byte> path, ReadOnlySpan<byte> value)
    {
        int end = BeginAppend(place);
        var name = JsonPointer.LastOf(path).Name(_name);
        _patched.Append((byte)'"');
        _patched.Advance(JsonText.Escape(name, _patched.Reserve(JsonText.EscapedBytes(name))));
        _patched.Append("\":"u8);
        _patched.Append(value);
        _patched.Append(_current.Written[end..]);
        return Swap();
    }

    /// <summary>Inserts an element before the one at its index, or at the end of its array.</summary>
    private bool InsertElement(in Place place, ReadOnlySpan<byte> value)
    {
        var json = _current.Written;
        int tailStart = place.Part.Start.Value;
        if (place.Exists)
        {
            _patched.Clear();
            _patched.Append(json[..tailStart]);
            _patched.Append(value);
            _patched.Append((byte)',');
        }
        else
        {
            tailStart = BeginAppend(place);
            _patched.Append(value);
        }

        _patched.Append(json[tailStart..]);
        return Swap();
    }

    /// <summary>
    /// Copies the document up to the end of a container, with a comma if the container is not empty. Returns the offset
    /// of the container's closing bracket.
    /// </summary>
    private int BeginAppend(in Place place)
    {
        var json = _current.Written;
        int end = StoredJson.SkipValue(json, place.Container) - 1;
        _patched.Clear();
        _patched.Append(json[..end]);
        if (end > place.Container + 1)
        {
            _patched.Append((byte)',');
        }

        return end;
    }

    private bool Replace(Range old, ReadOnlySpan<byte> value)
    {
        var json = _current.Written;
        _patched.Clear();
        _patched.Append(json[..old.Start.Value]);
        _patched.Append(value);
        _patched.Append(json[old.End.Value..]);
        return Swap();
    }

    /// <summary>Removes a member or an element, and one adjacent comma.</summary>
    private bool Remove(Range part)
    {
        var json = _current.Written;
        (int start, int end) = (part.Start.Value, part.End.Value);
        if (json[end] == (byte)',')
        {
            end++;
        }
        else if (json[start - 1] == (byte)',')
        {
            start--;
        }

        _patched.Clear();
        _patched.Append(json[..start]);
        _patched.Append(json[end..]);
        return Swap();
    }

    /// <summary>
    /// Checks the limits after each operation: copies could double the document's length and depth each time.
    /// </summary>
    private bool IsWithinLimits()
    {
        if (_current.Length > DocumentLimits.MaxDocumentBytes)
        {
            return Fail($"the document would be larger than {Amount.Bytes(DocumentLimits.MaxDocumentBytes)}");
        }

        return StoredJson.Depth(_current.Written, at: 0) <= JsonLimits.MaxDepth
            || Fail($"the document would be nested deeper than {JsonLimits.MaxDepth} levels");
    }

    // Makes the patched document the current one. Returns true.
    private bool Swap()
    {
        (_current, _patched) = (_patched, _current);
        return true;
    }

    private bool FailOutOfBounds(in Place place) =>
        Fail(
            string.Create(
                CultureInfo.InvariantCulture,
                $"position {place.Index} is out of array bounds, because the array has {place.Count} elements"
            )
        );

    private bool Fail(string reason)
    {
        Failure = reason;
        return false;
    }

    /// <summary>Returns bytes as text for a message.</summary>
    private static string Show(ReadOnlySpan<byte> text) => ShortText.Of(text, MaxShownBytes);

    /// <summary>A place in the current document, where a value is or could be added.</summary>
    private readonly record struct Place
    {
        /// <summary>Offset of the object or array that contains the place.</summary>
        public int Container { get; init; }

        /// <summary>Whether there is a value.</summary>
        public bool Exists { get; init; }

        /// <summary>The range of the value.</summary>
        public Range Value { get; init; }

        /// <summary>The range of the element, or of the member with its name.</summary>
        public Range Part { get; init; }

        /// <summary>Whether the container is an array.</summary>
        public bool IsInArray { get; init; }

        /// <summary>In an array: the index of the pointer.</summary>
        public int Index { get; init; }

        /// <summary>In an array: the number of elements, or if the element exists the number before it.</summary>
        public int Count { get; init; }
    }
}
